// SPDX-License-Identifier: BSD-3-Clause
// The fast path: converts a global pointer to a plain one. This file, memory/entry.hpp and
// base/copy.hpp determine the cost of a put or get of load/store memory.
#pragma once

#include "base/copy.hpp"
#include "memory/entry.hpp"

namespace sennit::op {

// Whether load and store reach `bytes` bytes at `gptr` through its entry. Unusual cases, such as 0
// bytes, return false. A constant size saves one test after inlining.
inline bool reaches(const memory::SegmentEntry &entry, const sennit_gptr &gptr, std::size_t bytes) {
    if (!memory::is_live(entry)) [[unlikely]]
        return false;
    const std::uint64_t reach = entry.direct_bytes;
    return bytes != 0 && gptr.offset <= reach && bytes <= reach - gptr.offset;
}

// The cached entry, if load and store reach `bytes` bytes at `gptr` through it. Null: not cached,
// or not reached.
inline const memory::SegmentEntry *near_entry(Rank &rank, sennit_gptr gptr, std::size_t bytes) {
    const memory::SegmentEntry *entry = memory::find_near(rank, gptr);
    return entry != nullptr && reaches(*entry, gptr, bytes) ? entry : nullptr;
}

// The entry of `gptr` from the tables, or null. It may have any path, and its segment may be freed.
inline memory::SegmentEntry *named_entry(Rank &rank, sennit_gptr gptr) {
    const std::uint32_t size = size_of(rank);
    if (static_cast<std::uint32_t>(gptr.rank) >= size || gptr.segment == 0) [[unlikely]]
        return nullptr;
    return memory::find_named(rank, size, gptr);
}

// Whether the entry from named_entry() reaches `bytes` bytes at `gptr`; if so, caches it. False in
// any unusual case: the caller then uses the cold path, which finds the reason.
inline bool reaches_by(Rank &rank, memory::SegmentEntry *entry, sennit_gptr gptr,
                       std::size_t bytes) {
    if (entry == nullptr || !reaches(*entry, gptr, bytes)) [[unlikely]]
        return false;
    memory::remember(rank, gptr, entry);
    return true;
}

// Like near_entry(), but from the tables; null if reaches_by() is false.
inline const memory::SegmentEntry *far_entry(Rank &rank, sennit_gptr gptr, std::size_t bytes) {
    memory::SegmentEntry *entry = named_entry(rank, gptr);
    return reaches_by(rank, entry, gptr, bytes) ? entry : nullptr;
}

// Where to search for the entry: in the cache, in the tables, or both.
enum class Look : std::uint8_t { near, far, both };

template <Look kLook = Look::both>
inline const memory::SegmentEntry *direct_entry(Rank &rank, sennit_gptr gptr, std::size_t bytes) {
    const memory::SegmentEntry *entry = nullptr;
    if constexpr (kLook != Look::far) entry = near_entry(rank, gptr, bytes);
    if constexpr (kLook != Look::near)
        if (entry == nullptr) entry = far_entry(rank, gptr, bytes);
    return entry;
}

// The plain pointer for the library's own accesses. Null: load and store do not reach the bytes.
// Unlike direct_entry() it also works while the rank is observed.
inline std::byte *reached(Rank &rank, sennit_gptr gptr, std::size_t bytes) {
    const std::uint32_t size = size_of(rank);
    if (static_cast<std::uint32_t>(gptr.rank) >= size) return nullptr;
    const memory::SegmentEntry *entry = memory::find(rank, size, gptr);
    if (entry == nullptr || entry->base == nullptr) return nullptr;
    const std::uint64_t reach = entry->bytes;
    if (bytes - 1 >= reach || gptr.offset > reach - bytes) return nullptr;
    return entry->base + gptr.offset;
}

}  // namespace sennit::op
