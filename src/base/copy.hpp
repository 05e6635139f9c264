// SPDX-License-Identifier: BSD-3-Clause
// Copying bytes: few of them in place; more by memmove(), and on AMD's processors by a loop of
// vectors for what has some hundred bytes to a MiB. docs/design/copies.md has the reasons and the
// figures.
//
// glibc before 2.39 copies some 2 KiB to 512 KiB by `rep movsb` where the processor says that this
// is fast. On Zen 3 and 4 that is slower than vectors, nothing after it begins before it ends, and
// it takes twenty times as long if the destination lies 1 to 31 bytes behind the source, each
// counted from the beginning of its page (glibc's bug 30994). And segments begin with a page, and
// large buffers of malloc() 16 bytes behind the beginning of one: a get of a whole segment into
// such a buffer is that case.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/atomics.hpp"

namespace sennit {

// Too short for `rep movsb`.
inline constexpr std::size_t kCopyPiece = 2048;
// From here on it is not used in any of those versions.
inline constexpr std::size_t kCopyWholeFrom = std::size_t{1} << 20;
// What copy_by_vectors() copies: so many bytes and more, to less than kCopyWholeFrom.
inline constexpr std::size_t kCopyVectorsFrom = 128;

// Whether this processor is one of those for which copy_by_vectors() was made and measured. Written
// once, before main(); false until then.
[[gnu::visibility("hidden")]] extern bool has_copy_by_vectors;

// By loads and stores of 32 bytes, of what does not overlap. Only where has_copy_by_vectors says
// so.
[[gnu::visibility("hidden")]] void copy_by_vectors(void *to, const void *from, std::size_t bytes);

inline std::uintptr_t bytes_behind(const void *to, const void *from) {
    return reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
}

inline bool are_apart(const void *to, const void *from, std::size_t bytes) {
    // As many bytes in front as behind, the whole way round.
    return bytes_behind(to, from) - bytes <= std::uintptr_t{0} - 2 * bytes;
}

// True unless some of it would be overwritten before it is copied, if that begins at the front.
inline bool can_begin_in_front(const void *to, const void *from, std::size_t bytes) {
    return bytes_behind(to, from) >= bytes;
}

inline bool is_copied_slowly(const void *to, const void *from, std::size_t bytes) {
    constexpr std::uintptr_t kPageBytes = 4096;
    constexpr std::uintptr_t kNear = 63;
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

// They may overlap.
[[gnu::noinline]] inline void copy_by_the_c_library(void *to, const void *from, std::size_t bytes) {
    if (is_copied_slowly(to, from, bytes)) {
        copy_in_pieces(to, from, bytes);
    } else {
        std::memmove(to, from, bytes);
    }
}

// They may overlap.
inline void copy_bytes(void *to, const void *from, std::size_t bytes) {
    if (has_copy_by_vectors && bytes - kCopyVectorsFrom < kCopyWholeFrom - kCopyVectorsFrom &&
        are_apart(to, from, bytes)) [[likely]] {
        copy_by_vectors(to, from, bytes);
    } else {
        copy_by_the_c_library(to, from, bytes);
    }
}

// The first and the last bytes, which may overlap; all is loaded before anything is stored.
template <class Part>
inline void copy_ends(void *destination, const void *source, std::size_t bytes) {
    Part first;
    Part last;
    std::memcpy(&first, source, sizeof first);
    std::memcpy(&last, static_cast<const std::byte *>(source) + bytes - sizeof last, sizeof last);
    std::memcpy(destination, &first, sizeof first);
    std::memcpy(static_cast<std::byte *>(destination) + bytes - sizeof last, &last, sizeof last);
}

// A call of memmove() for so few bytes takes longer than copying them.
inline constexpr std::size_t kShortBytes = 32;

// 1 to kShortBytes. A word is stored once, since whoever polls for it may change it at once.
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

// One vector register. The compiler's own type, since an array of words would be copied by way of
// the stack.
using Sixteen = std::uint64_t __attribute__((vector_size(16)));

inline Sixteen load_sixteen(const std::byte *from) {
    Sixteen value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

// As copy_ends(), of so many sixteens at each end.
template <std::size_t... kIndex>
inline void copy_sixteens(std::byte *to, const std::byte *from, std::size_t bytes,
                          std::index_sequence<kIndex...> /*each*/) {
    const std::size_t behind = bytes - sizeof...(kIndex) * sizeof(Sixteen);
    const std::array first{load_sixteen(from + kIndex * sizeof(Sixteen))...};
    const std::array last{load_sixteen(from + behind + kIndex * sizeof(Sixteen))...};
    (std::memcpy(to + kIndex * sizeof(Sixteen), &first[kIndex], sizeof(Sixteen)), ...);
    (std::memcpy(to + behind + kIndex * sizeof(Sixteen), &last[kIndex], sizeof(Sixteen)), ...);
}

// Nor is a call worth while for these.
inline constexpr std::size_t kMiddleBytes = 128;

// kShortBytes to kMiddleBytes. They may overlap.
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

// Of any size, 0 too. They may overlap. False, and nothing is copied: it is longer than
// kMiddleBytes, and may_copy() says no, which shorter ones do not ask.
template <class MayCopy>
inline bool copy_any_if(void *destination, const void *source, std::size_t bytes,
                        MayCopy may_copy) {
    if (bytes == sizeof(std::uint64_t) && copy_word<std::uint64_t>(destination, source))
        return true;
    // 0 comes out as the largest number.
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
