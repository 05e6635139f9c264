// Flags that two ranks send back and forth, and the copies of messages. All subjects share
// this code, so that they differ only in the transfer. Also the clock.
#pragma once

#include <sched.h>
#include <time.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu.hpp"

namespace sennit::bench {

inline constexpr std::size_t kLineBytes = 128;  // distance between words of two ranks
inline constexpr std::size_t kCacheLineBytes = 64;

// Rounded up, so that the following data is on its own line.
constexpr std::size_t whole_lines(std::size_t bytes) {
    return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

using Flag = std::atomic_ref<std::uint64_t>;

inline double now_ns(clockid_t clock = CLOCK_MONOTONIC) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Keeps the compiler from knowing `value`, and from removing the work for it.
template <class T>
inline void keep(T &value) {
    __asm__ __volatile__("" : "+r"(value) : : "memory");
}

// The same for values that are not in a general register.
template <class T>
inline void keep_in_memory(T &value) {
    __asm__ __volatile__("" : "+m"(value) : : "memory");
}

inline void post_flag(std::uint64_t *flag, std::uint64_t value) {
    // SYNC bench-flag: pairs with acquire in wait_for_flag(); payload before flag.
    Flag(*flag).store(value, std::memory_order_release);
}

// The same with a full fence, so that the value leaves the store buffer before this core polls.
inline void post_flag_at_once(std::uint64_t *flag, std::uint64_t value) {
    post_flag(flag, value);
    // seq_cst: orders the store before the later loads.
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

// Polls with the processor's pause instruction, which was the fastest: a tighter loop delays the
// core's own stores. With `yields`, if there are more ranks than cores, it yields the core.
inline void wait_for_flag(std::uint64_t *flag, std::uint64_t value, bool yields) {
    // SYNC bench-flag: pairs with release in post_flag(), or with the put of a library under test;
    // payload before flag.
    while (Flag(*flag).load(std::memory_order_acquire) < value) {
        if (yields) {
            sched_yield();
        } else {
            cpu_pause();
        }
    }
}

// The fastest copy by hand: one store for a word, else libc's memcpy.
inline void copy_by_hand(std::byte *destination, const std::byte *source, std::size_t bytes) {
    if (bytes == sizeof(std::uint64_t)) {
        std::uint64_t word = 0;
        std::memcpy(&word, source, sizeof word);
        // relaxed: the flag that follows orders it.
        Flag(*reinterpret_cast<std::uint64_t *>(destination))
            .store(word, std::memory_order_relaxed);
    } else {
        std::memcpy(destination, source, bytes);
    }
}

// The sender writes the number of the message into one word of every `stride` bytes and into the
// last word. With a stride of one cache line all data is new, as in a program. A source that is not
// written stays in the receiver's cache, so that only the copy would be measured.
inline void stamp(std::byte *message, std::size_t bytes, std::uint64_t number, std::size_t stride) {
    for (std::size_t offset = 0; offset < bytes; offset += stride) {
        std::memcpy(message + offset, &number, sizeof number);
    }
    if (bytes > 0) {
        std::memcpy(message + bytes - sizeof number, &number, sizeof number);
    }
}

// The receiver reads the same words. Returns whether the first and the last one are right.
inline bool consume(const std::byte *message, std::size_t bytes, std::uint64_t number,
                    std::size_t stride) {
    if (bytes == 0) {
        return true;
    }
    std::uint64_t sum = 0;
    std::uint64_t word = 0;
    for (std::size_t offset = 0; offset < bytes; offset += stride) {
        std::memcpy(&word, message + offset, sizeof word);
        sum += word;
    }
    keep(sum);
    std::uint64_t first = 0;
    std::memcpy(&first, message, sizeof first);
    std::memcpy(&word, message + bytes - sizeof word, sizeof word);
    return first == number && word == number;
}

}  // namespace sennit::bench
