// SPDX-License-Identifier: BSD-3-Clause
// The loop of copy_by_vectors() in base/copy.hpp, to be inlined. Only functions with the attribute
// SENNIT_COPY_TARGET can inline it.
#pragma once

#include "base/copy.hpp"

#if defined(__x86_64__)
#define SENNIT_COPY_TARGET gnu::target("avx2")
#else
#define SENNIT_COPY_TARGET
#endif

namespace sennit {

inline constexpr std::size_t kCopyLine = 64;
// Above kCopyAheadFrom the loop prefetches two steps ahead, because the copy fills the level-1
// cache. Above kCopyOneAheadFrom it prefetches one step ahead, because then all lines come from the
// next level.
inline constexpr std::size_t kCopyAheadFrom = 12 << 10;
inline constexpr std::size_t kCopyOneAheadFrom = 24 << 10;

// Separate variables: an array of vectors would be on the stack.
[[SENNIT_COPY_TARGET, gnu::always_inline]] inline void move_line(std::byte *to,
                                                                 const std::byte *from) {
    using Vector = std::uint64_t __attribute__((vector_size(32)));
    Vector first;
    Vector second;
    std::memcpy(&first, from, sizeof first);
    std::memcpy(&second, from + sizeof first, sizeof second);
    std::memcpy(to, &first, sizeof first);
    std::memcpy(to + sizeof first, &second, sizeof second);
}

// Copies the first and the last kLines lines. The two parts may overlap.
template <std::size_t kLines>
[[SENNIT_COPY_TARGET, gnu::always_inline]] inline void move_ends(std::byte *to,
                                                                 const std::byte *from,
                                                                 std::size_t bytes) {
    const std::size_t behind = bytes - kLines * kCopyLine;
#pragma GCC unroll 4
    for (std::size_t line = 0; line < kLines * kCopyLine; line += kCopyLine) {
        move_line(to + line, from + line);
        move_line(to + behind + line, from + behind + line);
    }
}

// Like copy_by_vectors(), inline.
[[SENNIT_COPY_TARGET, gnu::always_inline]] inline void copy_by_vectors_in_place(void *to,
                                                                                const void *from,
                                                                                std::size_t bytes) {
    auto *destination = static_cast<std::byte *>(to);
    const auto *source = static_cast<const std::byte *>(from);
    constexpr std::size_t kStep = 2 * kCopyLine;
    std::byte *const end = destination + bytes;
    const std::byte *const source_end = source + bytes;
    if (bytes <= 2 * kStep) return move_ends<2>(destination, source, bytes);
    if (bytes <= 4 * kStep) return move_ends<4>(destination, source, bytes);

    // Copies a line, then advances to the next line boundary of the destination. The loop may copy
    // the end of that line again.
    move_line(destination, source);
    const std::size_t first = kCopyLine - reinterpret_cast<std::uintptr_t>(destination) % kCopyLine;
    destination += first;
    source += first;
    if (bytes > kCopyAheadFrom) [[unlikely]] {
        const std::size_t ahead = bytes > kCopyOneAheadFrom ? kStep : 2 * kStep;
        for (; end - destination > static_cast<std::ptrdiff_t>(3 * kStep);
             destination += kStep, source += kStep) {
            __builtin_prefetch(source + ahead);
            __builtin_prefetch(source + ahead + kCopyLine);
            __builtin_prefetch(destination + ahead, 1);
            __builtin_prefetch(destination + ahead + kCopyLine, 1);
            move_line(destination, source);
            move_line(destination + kCopyLine, source + kCopyLine);
        }
    }
    for (; end - destination > static_cast<std::ptrdiff_t>(kStep);
         destination += kStep, source += kStep) {
        move_line(destination, source);
        move_line(destination + kCopyLine, source + kCopyLine);
    }
    // At most one step is left. The last line ends with the range, and may overlap the line before.
    if (end - destination > static_cast<std::ptrdiff_t>(kCopyLine)) move_line(destination, source);
    move_line(end - kCopyLine, source_end - kCopyLine);
}

}  // namespace sennit
