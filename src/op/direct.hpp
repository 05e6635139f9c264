// The shortest way: finding the plain pointer behind a global one, and copying. Everything a put or
// get of load/store memory costs stands in this file.
#pragma once

#include <cstring>

#include "memory/entry.hpp"

namespace sennit::op {

// The entry through which load and store reach `bytes` bytes at `gptr`, or null when anything at
// all is out of the ordinary (a size of 0 too).
inline const memory::Entry *direct_entry(Rank &rank, sennit_gptr gptr, std::size_t bytes) {
    // relaxed: 0 unless the rank is in use, and then constant; the rank was found through only-rank
    // or by its own thread.
    const std::uint32_t size = rank.size.load(std::memory_order_relaxed);
    if (static_cast<std::uint32_t>(gptr.rank) >= size) [[unlikely]]
        return nullptr;
    const memory::Entry *entry = memory::find(rank, size, gptr);
    if (entry == nullptr) [[unlikely]]
        return nullptr;
    const std::uint64_t reach = entry->direct_bytes;
    if (bytes - 1 >= reach || gptr.offset > reach - bytes) [[unlikely]]
        return nullptr;
    return entry;
}

// The address of `bytes` bytes at `gptr`, or null: the caller then takes the cold way, which finds
// out what is wrong.
inline std::byte *direct(Rank &rank, sennit_gptr gptr, std::size_t bytes) {
    const memory::Entry *entry = direct_entry(rank, gptr, bytes);
    if (entry == nullptr) [[unlikely]]
        return nullptr;
    return entry->base + gptr.offset;
}

// The same for the library itself, also while its rank is observed.
inline std::byte *reached(Rank &rank, sennit_gptr gptr, std::size_t bytes) {
    // relaxed: as above.
    const std::uint32_t size = rank.size.load(std::memory_order_relaxed);
    if (static_cast<std::uint32_t>(gptr.rank) >= size) return nullptr;
    const memory::Entry *entry = memory::find(rank, size, gptr);
    if (entry == nullptr || entry->base == nullptr) return nullptr;
    const std::uint64_t reach = entry->bytes;
    if (bytes - 1 >= reach || gptr.offset > reach - bytes) return nullptr;
    return entry->base + gptr.offset;
}

// True if the sizes and addresses were those of a word and it is copied.
inline bool copy_if_word(void *destination, const void *source, std::size_t bytes) {
    if (bytes == 8) return copy_word<std::uint64_t>(destination, source);
    if (bytes == 4) return copy_word<std::uint32_t>(destination, source);
    return false;
}

inline void copy(void *destination, const void *source, std::size_t bytes) {
    if (!copy_if_word(destination, source, bytes)) std::memmove(destination, source, bytes);
}

}  // namespace sennit::op
