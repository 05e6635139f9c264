// Copying bytes. memmove() but for one case.
//
// glibc before 2.39 copies some 2 KiB to 512 KiB by `rep movsb` where the processor says that this
// is fast. On Zen 3 and 4 it takes twenty times as long as otherwise if the destination lies 1 to
// 31 bytes behind the source, each counted from the beginning of its page (glibc's bug 30994). And
// segments begin with a page, and large buffers of malloc() 16 bytes behind the beginning of one:
// a get of a whole segment into such a buffer is that case. docs/design/copies.md has figures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sennit {

// Too short for `rep movsb`.
inline constexpr std::size_t kCopyPiece = 2048;
// From here on it is not used in any of those versions.
inline constexpr std::size_t kCopyWholeFrom = std::size_t{1} << 20;

inline bool is_copied_slowly(const void *to, const void *from, std::size_t bytes) {
    constexpr std::uintptr_t kPageBytes = 4096;
    constexpr std::uintptr_t kNear = 63;
    const std::uintptr_t behind =
        reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from);
    // The last: not an overlap in which the pieces would have to be copied from the end.
    return bytes > kCopyPiece && bytes < kCopyWholeFrom && behind % kPageBytes - 1 < kNear &&
           behind >= bytes;
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
inline void copy_bytes(void *to, const void *from, std::size_t bytes) {
    if (is_copied_slowly(to, from, bytes)) {
        copy_in_pieces(to, from, bytes);
    } else {
        std::memmove(to, from, bytes);
    }
}

}  // namespace sennit
