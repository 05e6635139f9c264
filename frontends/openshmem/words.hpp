// Atomic operations on a word of a PE: directly if there is a pointer to it.
#pragma once

#include <atomic>
#include <bit>
#include <type_traits>

#include "state.hpp"

namespace shmem {

template <std::size_t kBytes>
using Bits = std::conditional_t<kBytes == 4, std::uint32_t, std::uint64_t>;

template <class T>
Bits<sizeof(T)> bits_of(T value) {
    return std::bit_cast<Bits<sizeof(T)>>(value);
}

// SYNC shmem-word: acquire and release; pairs with itself and with the acquires in wait.cpp; a PE
// that sees the change of a word sees everything that the changing PE did before. The standard
// requires no order here, but programs that signal by atomic operations rely on it.
inline constexpr auto both_orders = std::memory_order_acq_rel;

// Operates on the word's bits. Returns the old bits, but 0 for `set`, which is only a store.
template <Change kChange, class Word>
inline Word change_at(char *place, Word value, Word expected) {
    const std::atomic_ref<Word> word(*reinterpret_cast<Word *>(place));
    // SYNC shmem-word: as both_orders, with which these two pair.
    constexpr auto load_order = std::memory_order_acquire;
    constexpr auto store_order = std::memory_order_release;
    switch (kChange) {
        case Change::fetch:
            return word.load(load_order);
        case Change::set:
            word.store(value, store_order);
            return 0;
        case Change::add:
            return word.fetch_add(value, both_orders);
        case Change::bit_and:
            return word.fetch_and(value, both_orders);
        case Change::bit_or:
            return word.fetch_or(value, both_orders);
        case Change::bit_xor:
            return word.fetch_xor(value, both_orders);
        case Change::compare_swap:
            word.compare_exchange_strong(expected, value, both_orders, load_order);
            return expected;
    }
    return 0;
}

template <class Word>
inline Word exchange_at(char *place, Word value) {
    return std::atomic_ref<Word>(*reinterpret_cast<Word *>(place)).exchange(value, both_orders);
}

// Out of line, so that the hot path stores nothing on the stack: a locked instruction waits until
// all earlier stores have left the processor.
template <Change kChange, class T>
[[gnu::cold, gnu::noinline]] T change_word_cold(const WordCall &word, shmem_ctx_t ctx, T *dest,
                                                T value, T expected, int pe) {
    return std::bit_cast<T>(static_cast<Bits<sizeof(T)>>(
        change_cold(word, {kChange, sizeof(T), bits_of(value), bits_of(expected)}, ctx, dest, pe)));
}

template <Change kChange, class T>
inline T change_word(const WordCall &word, shmem_ctx_t ctx, T *dest, T value, T expected, int pe) {
    using Word = Bits<sizeof(T)>;
    char *const there = reach_word(dest, sizeof(T), world_pe(ctx, pe));
    if (there != nullptr && reinterpret_cast<std::uintptr_t>(there) % sizeof(T) == 0) [[likely]]
        return std::bit_cast<T>(change_at<kChange, Word>(there, bits_of(value), bits_of(expected)));
    return change_word_cold<kChange>(word, ctx, dest, value, expected, pe);
}

template <class T>
inline T swap_word(const WordCall &word, shmem_ctx_t ctx, T *dest, T value, int pe) {
    using Word = Bits<sizeof(T)>;
    char *const there = reach_word(dest, sizeof(T), world_pe(ctx, pe));
    if (there != nullptr && reinterpret_cast<std::uintptr_t>(there) % sizeof(T) == 0) [[likely]]
        return std::bit_cast<T>(exchange_at<Word>(there, bits_of(value)));
    return change_word_cold<Change::set>(word, ctx, dest, value, T{}, pe);
}

// The change of a signal's word.
struct Signal {
    std::uint64_t *word;
    std::uint64_t value;
    int op;
};

inline bool is_signal_operator(const char *call, int op) {
    if (op == SHMEM_SIGNAL_SET || op == SHMEM_SIGNAL_ADD) return true;
    wrong(call, "argument sig_op: %d is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD", op);
    return false;
}

// Puts data and then changes the signal, at a PE whose memory load and store do not reach. Returns
// false if nothing was done, because the signal needs a lock. The caller then makes two calls.
[[gnu::cold]] bool put_signal_cold(const Transfer &transfer, shmem_ctx_t ctx, void *dest,
                                   const void *source, const Signal &signal, int pe);

inline void give_signal(const char *call, shmem_ctx_t ctx, const Signal &signal, int pe) {
    const WordCall it{call, "sig_addr"};
    if (!is_signal_operator(call, signal.op)) return;
    if (signal.op == SHMEM_SIGNAL_SET)
        change_word<Change::set, std::uint64_t>(it, ctx, signal.word, signal.value, 0, pe);
    else
        change_word<Change::add, std::uint64_t>(it, ctx, signal.word, signal.value, 0, pe);
}

}  // namespace shmem
