// SPDX-License-Identifier: BSD-3-Clause
// Copies bytes. Up to 128 bytes are copied by inline code, more by memmove(). On AMD processors
// with AVX2, a loop of vector instructions replaces memmove() below 1 MiB. docs/design/copies.md
// has the reasons and the figures.
//
// For copies of about 2 KiB and more, glibc uses the instruction `rep movsb` if the processor
// reports it as fast. On AMD Zen 3 and 4 this instruction is slower than vectors, and later
// instructions wait for its end. It is slower by far if the destination's page offset is 1 to 31
// bytes larger than the source's (glibc bug 30994). A get of a whole segment into a large buffer of
// malloc() is such a copy: a segment starts at a page, the buffer 16 bytes after the start of one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/atomics.hpp"

namespace sennit {

// glibc does not use `rep movsb` for copies below this size.
inline constexpr std::size_t kCopyPiece = 2048;
// From this size on, memmove() does not have this problem.
inline constexpr std::size_t kCopyWholeFrom = std::size_t{1} << 20;
// copy_by_vectors() is used from this size on, below kCopyWholeFrom.
inline constexpr std::size_t kCopyVectorsFrom = 128;

// Whether copy_by_vectors() is used: on AMD processors with AVX2, for which it was measured. Set
// when the library is loaded; false until then.
[[gnu::visibility("hidden")]] extern bool has_copy_by_vectors;

// Copies by loads and stores of 32 bytes; the ranges must not overlap. Call it only if
// has_copy_by_vectors is true.
[[gnu::visibility("hidden")]] void copy_by_vectors(void *to, const void *from, std::size_t bytes);

inline std::uintptr_t bytes_behind(const void *to, const void *from) {
    return reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
}

inline bool are_apart(const void *to, const void *from, std::size_t bytes) {
    // In both directions the addresses, modulo 2^64, are at least `bytes` apart.
    return bytes_behind(to, from) - bytes <= std::uintptr_t{0} - 2 * bytes;
}

// False if a copy that starts at the front would overwrite source bytes before it reads them.
inline bool can_begin_in_front(const void *to, const void *from, std::size_t bytes) {
    return bytes_behind(to, from) >= bytes;
}

inline bool is_copied_slowly(const void *to, const void *from, std::size_t bytes) {
    constexpr std::uintptr_t kPageBytes = 4096;
    constexpr std::uintptr_t kNear = 63;  // 1 to 31 are slow; the rest is a margin
    return bytes > kCopyPiece && bytes < kCopyWholeFrom &&
           bytes_behind(to, from) % kPageBytes - 1 < kNear && can_begin_in_front(to, from, bytes);
}

[[gnu::noinline]] inline void copy_in_pieces(void *to, const void *from, std::size_t bytes) {
    auto *destination = static_cast<std::byte *>(to);
    const auto *source = static_cast<const std::byte *>(from);
    while (bytes > kCopyPiece) {
        std::memmove(destination, source, kCopyPiece);
        destination += kCopyPiece;
        source += kCopyPiece;
        bytes -= kCopyPiece;
    }
    std::memmove(destination, source, bytes);
}

// The ranges may overlap.
[[gnu::noinline]] inline void copy_by_the_c_library(void *to, const void *from, std::size_t bytes) {
    if (is_copied_slowly(to, from, bytes)) {
        copy_in_pieces(to, from, bytes);
    } else {
        std::memmove(to, from, bytes);
    }
}

// The ranges may overlap.
inline void copy_bytes(void *to, const void *from, std::size_t bytes) {
    if (has_copy_by_vectors && bytes - kCopyVectorsFrom < kCopyWholeFrom - kCopyVectorsFrom &&
        are_apart(to, from, bytes)) [[likely]] {
        copy_by_vectors(to, from, bytes);
    } else {
        copy_by_the_c_library(to, from, bytes);
    }
}

// Copies the first and the last sizeof(Part) bytes, which may overlap. Loads all bytes before it
// stores any.
template <class Part>
inline void copy_ends(void *destination, const void *source, std::size_t bytes) {
    Part first;
    Part last;
    std::memcpy(&first, source, sizeof first);
    std::memcpy(&last, static_cast<const std::byte *>(source) + bytes - sizeof last, sizeof last);
    std::memcpy(destination, &first, sizeof first);
    std::memcpy(static_cast<std::byte *>(destination) + bytes - sizeof last, &last, sizeof last);
}

// Up to this size a call of memmove() takes longer than the copy itself.
inline constexpr std::size_t kShortBytes = 32;

// Copies 1 to kShortBytes bytes. An aligned word of 4 or 8 bytes is stored only once, because a
// poller may change it right after the store.
inline void copy_short(void *destination, const void *source, std::size_t bytes) {
    using Two = std::array<std::uint64_t, 2>;
    if (bytes >= sizeof(std::uint64_t)) {
        if (bytes >= sizeof(Two)) {
            copy_ends<Two>(destination, source, bytes);
        } else if (bytes != sizeof(std::uint64_t) ||
                   !copy_word<std::uint64_t>(destination, source)) {
            copy_ends<std::uint64_t>(destination, source, bytes);
        }
    } else if (bytes >= sizeof(std::uint32_t)) {
        if (bytes != sizeof(std::uint32_t) || !copy_word<std::uint32_t>(destination, source))
            copy_ends<std::uint32_t>(destination, source, bytes);
    } else if (bytes >= sizeof(std::uint16_t)) {
        copy_ends<std::uint16_t>(destination, source, bytes);
    } else {
        copy_ends<std::uint8_t>(destination, source, bytes);
    }
}

// One vector register: the compiler would copy an array of words through the stack.
using Sixteen = std::uint64_t __attribute__((vector_size(16)));

inline Sixteen load_sixteen(const std::byte *from) {
    Sixteen value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// Like copy_ends(), with several 16-byte parts at each end.
template <std::size_t... kIndex>
inline void copy_sixteens(std::byte *to, const std::byte *from, std::size_t bytes,
                          std::index_sequence<kIndex...> /*each*/) {
    const std::size_t behind = bytes - sizeof...(kIndex) * sizeof(Sixteen);
    const std::array first{load_sixteen(from + kIndex * sizeof(Sixteen))...};
    const std::array last{load_sixteen(from + behind + kIndex * sizeof(Sixteen))...};
    (std::memcpy(to + kIndex * sizeof(Sixteen), &first[kIndex], sizeof(Sixteen)), ...);
    (std::memcpy(to + behind + kIndex * sizeof(Sixteen), &last[kIndex], sizeof(Sixteen)), ...);
}

// Up to this size inline code is faster than a call.
inline constexpr std::size_t kMiddleBytes = 128;

// Copies kShortBytes to kMiddleBytes bytes. The ranges may overlap.
inline void copy_middle(void *destination, const void *source, std::size_t bytes) {
    auto *to = static_cast<std::byte *>(destination);
    const auto *from = static_cast<const std::byte *>(source);
    constexpr std::size_t kHalf = kMiddleBytes / 2;
    if (bytes <= kHalf) {
        copy_sixteens(to, from, bytes, std::make_index_sequence<kHalf / sizeof(Sixteen) / 2>());
    } else {
        copy_sixteens(to, from, bytes, std::make_index_sequence<kHalf / sizeof(Sixteen)>());
    }
}

// Copies any number of bytes, also 0. The ranges may overlap. Calls may_copy() for more than
// kMiddleBytes bytes, and for 0 bytes. If may_copy() returns false, copies nothing and returns
// false.
template <class MayCopy>
inline bool copy_any_if(void *destination, const void *source, std::size_t bytes,
                        MayCopy may_copy) {
    if (bytes == sizeof(std::uint64_t) && copy_word<std::uint64_t>(destination, source))
        return true;
    // For 0 bytes, bytes - 1 is the largest number, so the last case applies.
    if (bytes - 1 < kShortBytes) {
        copy_short(destination, source, bytes);
    } else if (bytes - 1 < kMiddleBytes) {
        copy_middle(destination, source, bytes);
    } else {
        if (!may_copy()) [[unlikely]]
            return false;
        copy_bytes(destination, source, bytes);
    }
    return true;
}
inline void copy_any(void *destination, const void *source, std::size_t bytes) {
    (void)copy_any_if(destination, source, bytes, [] { return true; });
}

}  // namespace sennit
