// SPDX-License-Identifier: BSD-3-Clause
// Low-level primitives: cache lines, pauses for polling, fences, copies of whole words, and futex.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace sennit {

// Current x86 processors fetch two adjacent lines together, so words that different ranks write
// often are this far apart.
inline constexpr std::size_t kLineBytes = 128;

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(sizeof(std::atomic<std::uint64_t>) == 8 && sizeof(std::atomic<std::uint32_t>) == 4);

// The unsigned word of the size of T.
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

// A shorter pause than cpu_pause(), for the first polls of a word that should change within tens of
// nanoseconds. On processors other than x86-64 it is cpu_pause().
inline void cpu_pause_briefly() {
#if defined(__x86_64__)
    // Without the fences the processor loads the word early for the next polls. If another core
    // then stores to it, the processor must undo these loads, which takes longer.
    __builtin_ia32_lfence();
    __builtin_ia32_lfence();
    __builtin_ia32_lfence();
#else
    cpu_pause();
#endif
}

// Orders this thread's earlier stores before its later loads, which neither release nor acquire
// does. Needed if two sides each store a word and then load the other's word (Dekker).
inline void store_load_fence() {
    // seq_cst: the store-then-load order; the other side calls this function or add_at_once().
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Fetches a line for a store: another core may own it.
inline void prefetch_to_write(const void *place) {
#if defined(__x86_64__)
    // __builtin_prefetch() compiles to an instruction that fetches the line for a load.
    __asm__ __volatile__("prefetchw %0" : : "m"(*static_cast<const char *>(place)));
#else
    __builtin_prefetch(place, 1);
#endif
}

// Adds to the word with release order, and orders the addition before this thread's later loads.
// Returns the old value.
inline std::uint64_t add_at_once(std::atomic<std::uint64_t> &word, std::uint64_t value) {
    // seq_cst: on x86 the locked add is also a full fence; on other machines a fence follows.
    const std::uint64_t before = word.fetch_add(value, std::memory_order_seq_cst);
#if !defined(__x86_64__)
    store_load_fence();
#endif
    return before;
}

// Compiler barrier only: the compiler keeps an earlier store before a later load; the CPU may still
// reorder them. For one side of a Dekker pair; the other side calls barrier_everywhere().
inline void store_load_in_program_order() {
    // seq_cst: orders only this thread's own instructions; the compiler emits no fence.
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

// From now on barrier_everywhere() of any process also acts on the threads of this process. False:
// this kernel has no such barrier (membarrier).
bool join_barriers();
// A full fence on every processor that runs a thread of a process that has called join_barriers().
// Earlier stores of these threads are visible afterwards, and their later loads come after it. A
// call takes microseconds; between calls the other threads pay nothing.
void barrier_everywhere();

// Copies a word with one load and one store, so that a poller never sees half of it. On x86-64 this
// holds only for a word within one cache line. Returns false, and copies nothing, if the machine
// cannot copy in this way at these addresses.
template <class Word>
inline bool copy_word(void *destination, const void *source) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    // The compiler makes one mov, which works at any alignment.
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
    // The thread sanitizer does not see the fences of order_stores() and order_loads(), so in its
    // build the words carry the order. SYNC fence: pairs with the release below, in the rank that
    // stored the word.
    const Word value = __atomic_load_n(static_cast<const Word *>(source), __ATOMIC_ACQUIRE);
    // SYNC fence: pairs with the acquire above, in the rank that loads the word.
    __atomic_store_n(static_cast<Word *>(destination), value, __ATOMIC_RELEASE);
#else
    // All relaxed: this only keeps the word whole; the program's synchronisation orders it.
    const Word value = __atomic_load_n(static_cast<const Word *>(source), __ATOMIC_RELAXED);
    __atomic_store_n(static_cast<Word *>(destination), value, __ATOMIC_RELAXED);
#endif
    return true;
#endif
}

// store_words() and load_words() copy a record by 32-bit words while another thread accesses it. A
// copy may mix old and new words; its reader detects and drops such a copy. No access is a data
// race. `bytes` is a multiple of 4.
inline void store_words(void *shared, const void *from, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 4) {
        std::uint32_t word;
        std::memcpy(&word, static_cast<const char *>(from) + at, sizeof word);
        // relaxed: the caller then stores, with release, the word that makes the record valid.
        __atomic_store_n(reinterpret_cast<std::uint32_t *>(static_cast<char *>(shared) + at), word,
                         __ATOMIC_RELAXED);
    }
}

inline void load_words(void *to, const void *shared, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 4) {
        const auto *place =
            reinterpret_cast<const std::uint32_t *>(static_cast<const char *>(shared) + at);
        // relaxed: the caller checks before and after the copy whether the record is valid.
        const std::uint32_t word = __atomic_load_n(place, __ATOMIC_RELAXED);
        std::memcpy(static_cast<char *>(to) + at, &word, sizeof word);
    }
}

// Orders this thread's earlier stores before its later ones.
inline void order_stores() {
    // SYNC fence: pairs with the acquire in order_loads(), or with an acquire of the program. A
    // rank that sees a store made after the fence also sees the stores before it.
    std::atomic_thread_fence(std::memory_order_release);
}

// Orders this thread's earlier loads before its later ones.
inline void order_loads() {
    // SYNC fence: pairs with the release in order_stores().
    std::atomic_thread_fence(std::memory_order_acquire);
}

// Returns at once if *word != expected. Otherwise sleeps until futex_wake_all(), a signal or the
// timeout; the caller always checks the word again. Processes may share the word.
void futex_wait(const std::atomic<std::uint32_t> *word, std::uint32_t expected,
                std::int64_t timeout_ns);
void futex_wake_all(const std::atomic<std::uint32_t> *word);

}  // namespace sennit
