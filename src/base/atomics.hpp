// SPDX-License-Identifier: BSD-3-Clause
// The machine under the protocols: cache lines, the pause instruction, futex, and the fence between
// a store and a later load. Used by every folder; owns nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace sennit {

// Two adjacent lines are fetched together on current x86 processors, so words that different ranks
// write keep this distance.
inline constexpr std::size_t kLineBytes = 128;

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint64_t>) == 8 && sizeof(std::atomic<std::uint32_t>) == 4);

// The unsigned word that is as large as T.
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

inline void cpu_pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield" ::: "memory");
#endif
}

// A fraction of cpu_pause(), for the first looks at a word that is expected within some ten
// nanoseconds, where a whole pause would overshoot it.
inline void cpu_pause_briefly() {
#if defined(__x86_64__)
    // No look runs ahead of the one before, which a store by another core would have to undo.
    __builtin_ia32_lfence();
    __builtin_ia32_lfence();
    __builtin_ia32_lfence();
#else
    cpu_pause();
#endif
}

// Orders this thread's earlier stores before its later loads, which neither release nor acquire
// does. Needed where two sides each store a word and then look at the other's (Dekker).
inline void store_load_fence() {
    // seq_cst: exactly the store-then-load order; both sides of the pair call this function.
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Asks for the line, which is about to be written and may be with another core.
inline void prefetch_to_write(const void *place) {
#if defined(__x86_64__)
    // The builtin makes another instruction of it, which asks for the line to read.
    __asm__ __volatile__("prefetchw %0" : : "m"(*static_cast<const char *>(place)));
#else
    __builtin_prefetch(place, 1);
#endif
}

// Adds to the word, as a release, and orders that before this thread's later loads. Returns what
// the word held.
inline std::uint64_t add_at_once(std::atomic<std::uint64_t> &word, std::uint64_t value) {
    // seq_cst: a locked add is the full fence too; elsewhere a fence follows that is one.
    const std::uint64_t before = word.fetch_add(value, std::memory_order_seq_cst);
#if !defined(__x86_64__)
    store_load_fence();
#endif
    return before;
}

// Keeps the compiler from moving an earlier store behind a later load, and the processor free to:
// for the side of a Dekker pair whose other side calls barrier_everywhere().
inline void store_load_in_program_order() {
    // seq_cst: among this thread's own instructions; no fence is made.
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

// A full fence on every processor that runs a thread of a process that has joined: whatever such a
// thread stored before is visible, and what it loads after is loaded then. Costs the caller
// microseconds and the others nothing between calls. join_barriers() is called once for a process,
// at any time, by each that is to be reached or is to call; false: this kernel has none of it.
bool join_barriers();
void barrier_everywhere();

// Copies a word in one load and one store, so that a flag that somebody polls is never seen in
// halves. False, and nothing copied, where the machine can not do that at these addresses.
template <class Word>
inline bool copy_word(void *destination, const void *source) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    // One mov whatever the alignment; across a cache line it is not atomic, and nobody polls there.
    struct [[gnu::packed, gnu::may_alias]] Unaligned {
        Word value;
    };
    static_cast<Unaligned *>(destination)->value = static_cast<const Unaligned *>(source)->value;
    return true;
#else
    const auto both =
        reinterpret_cast<std::uintptr_t>(destination) | reinterpret_cast<std::uintptr_t>(source);
    if (both % sizeof(Word) != 0) return false;
#if defined(__SANITIZE_THREAD__)
    // The sanitizer does not see the fences of order_stores() and order_loads(), so in its build
    // the words themselves carry the order. SYNC fence: pairs with the release below, in the rank
    // that stored the word.
    const Word value = __atomic_load_n(static_cast<const Word *>(source), __ATOMIC_ACQUIRE);
    // SYNC fence: pairs with the acquire above, in the rank that loads the word.
    __atomic_store_n(static_cast<Word *>(destination), value, __ATOMIC_RELEASE);
#else
    // All relaxed: the word must only be whole; the program's synchronisation orders it.
    const Word value = __atomic_load_n(static_cast<const Word *>(source), __ATOMIC_RELAXED);
    __atomic_store_n(static_cast<Word *>(destination), value, __ATOMIC_RELAXED);
#endif
    return true;
#endif
}

// Whole 32-bit words of a record that others copy while it changes and then throw away: the copies
// may mix old and new words, and no access is a race. `bytes` is a multiple of 4.
inline void store_words(void *shared, const void *from, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 4) {
        std::uint32_t word;
        std::memcpy(&word, static_cast<const char *>(from) + at, sizeof word);
        // relaxed: the word that makes the record live comes after, with release.
        __atomic_store_n(reinterpret_cast<std::uint32_t *>(static_cast<char *>(shared) + at), word,
                         __ATOMIC_RELAXED);
    }
}

inline void load_words(void *to, const void *shared, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 4) {
        const auto *place =
            reinterpret_cast<const std::uint32_t *>(static_cast<const char *>(shared) + at);
        // relaxed: the caller looks at the words of life before and after.
        const std::uint32_t word = __atomic_load_n(place, __ATOMIC_RELAXED);
        std::memcpy(static_cast<char *>(to) + at, &word, sizeof word);
    }
}

// Orders this thread's earlier stores before its later ones.
inline void order_stores() {
    // SYNC fence: pairs with the acquire in order_loads(), or with the program's own; stores that
    // came before a word are seen by whoever saw the word.
    std::atomic_thread_fence(std::memory_order_release);
}

// Orders this thread's earlier loads before its later ones.
inline void order_loads() {
    // SYNC fence: pairs with the release in order_stores().
    std::atomic_thread_fence(std::memory_order_acquire);
}

// Sleeps while *word == expected, at most timeout_ns. Returns on a wake, a change, a signal or the
// end of the time; the caller looks again in every case. The word may be shared between processes.
void futex_wait(const std::atomic<std::uint32_t> *word, std::uint32_t expected,
                std::int64_t timeout_ns);
void futex_wake_all(const std::atomic<std::uint32_t> *word);

}  // namespace sennit
