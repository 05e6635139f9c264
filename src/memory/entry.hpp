// SPDX-License-Identifier: BSD-3-Clause
// The structure of a segment id, and the entry that every put and get looks up: how this rank
// reaches one peer's part of one segment.
//
// A segment id has 32 bits: team slot (10) | index in the team (14) | generation (8, never 0). Slot
// 0 is for allocations of one rank, with indices into that rank's own record table. The generation
// changes when an index is reused, so a stale global pointer is refused.
#pragma once

#include <sennit/memory.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "rank/rank.hpp"

namespace sennit::memory {
struct SegmentEntry;
}
template <>
struct sennit::PartType<sennit::Part::entry> {
    using Type = sennit::memory::SegmentEntry;
};

namespace sennit::memory {

inline constexpr unsigned kGenerationBits = 8;
inline constexpr unsigned kIndexBits = 14;
inline constexpr std::uint32_t kGenerations = (1u << kGenerationBits) - 1;  // 1 .. 255
inline constexpr std::uint32_t kLocalSlot = 0;  // team slot of allocations of one rank
inline constexpr std::uint32_t kWorldSlot = 1;
static_assert(kSegmentsPerTeam == 1u << kIndexBits);
static_assert(kTeamSlots == 1u << (32 - kGenerationBits - kIndexBits));

constexpr std::uint32_t team_slot_of(std::uint32_t id) {
    return id >> (kGenerationBits + kIndexBits);
}
constexpr std::uint32_t index_of(std::uint32_t id) {
    return (id >> kGenerationBits) & (kSegmentsPerTeam - 1);
}
constexpr std::uint32_t generation_of(std::uint32_t id) {
    return id & ((1u << kGenerationBits) - 1);
}
constexpr std::uint32_t make_id(std::uint32_t slot, std::uint32_t index, std::uint32_t generation) {
    return (slot << (kGenerationBits + kIndexBits)) | (index << kGenerationBits) | generation;
}

// The first 64 bits of a global pointer: everything but the offset.
inline std::uint64_t name_of(const sennit_gptr &gptr) {
    static_assert(offsetof(sennit_gptr, rank) == 0 && offsetof(sennit_gptr, segment) == 4);
    std::uint64_t name = 0;
    std::memcpy(&name, &gptr, sizeof name);
    return name;
}

// No valid pointer has this name, so a zeroed pointer never matches an entry that is being filled
// or cleared.
inline constexpr auto kClearedName =
    std::bit_cast<std::uint64_t>(std::array<std::int32_t, 2>{INT32_MIN, 0});

struct alignas(64) SegmentEntry {
    // From name_of(). 0: never filled; kClearedName: cleared.
    std::atomic<std::uint64_t> name;
    std::byte *base;  // load/store address, or null
    // The bound for load and store: `bytes`, or 0 if `base` is null or an observer must see the
    // calls. So a call checks one number.
    std::uint64_t direct_bytes;
    std::uint64_t bytes;
    // Points to `live` of the owner's record, or to `live_value` if the record is out of reach.
    const std::atomic<std::uint32_t> *live;
    std::uint64_t handle;        // for a message transport
    std::uint64_t mapped_bytes;  // for detach
    std::uint16_t path;          // sennit_path
    AtomicsActor actor;          // for atomics, from the record
    // The errno of a failed attachment by XPMEM, after which this rank uses copies; else 0.
    std::uint8_t attach_errno;
    // The value of *live while the segment lives. The name is not enough: its id may be reused for
    // another segment.
    std::atomic<std::uint32_t> live_value;

    // The segment of a filled entry, else 0. The caller holds the rank's cold mutex.
    std::uint32_t id() const {
        // relaxed: entries change only under the cold mutex.
        const std::uint64_t held = name.load(std::memory_order_relaxed);
        sennit_gptr gptr{};
        std::memcpy(&gptr, &held, sizeof held);
        return gptr.segment;
    }
    bool is_of(const sennit_gptr &gptr) const {
        // SYNC entry-attached: pairs with the release in fill_entry(); the other fields come
        // before.
        return name.load(std::memory_order_acquire) == name_of(gptr);
    }
};
static_assert(sizeof(SegmentEntry) == 64);

// The entry with the name of `gptr`. Null: the segment is unknown or not attached yet. The
// pointer's rank must be below `size`. A zeroed pointer may find entry 0 of slot 0, which is never
// filled, because no rank uses its record 0. So the caller checks for segment 0.
inline SegmentEntry *find_named(Rank &rank, std::uint32_t size, sennit_gptr gptr) {
    // SYNC entry-table: pairs with the release in table_create(); the empty entries come before.
    SegmentEntry *table = rank.tables[team_slot_of(gptr.segment)].load(std::memory_order_acquire);
    if (table == nullptr) [[unlikely]]
        return nullptr;
    SegmentEntry &entry = table[static_cast<std::size_t>(index_of(gptr.segment)) * size +
                                static_cast<std::uint32_t>(gptr.rank)];
    return entry.is_of(gptr) ? &entry : nullptr;
}

// The place for the pointer's entry in the rank's cache of entries. 128 consecutive peers in one
// segment have different places; so do, in most cases, 8 consecutive peers in 16 consecutive
// segments.
inline AtomicPartPointer<Part::entry> &near_place(Rank &rank, const sennit_gptr &gptr) {
    constexpr unsigned kPeersTogether = 3;  // bits
    const std::uint64_t name = name_of(gptr);
    return rank.near[(name + (name >> (32 + kGenerationBits - kPeersTogether))) % kNearEntries];
}

// The same as find_named(), but only for recently found entries. Entries do not move, and the name
// is checked again. Null: not in the cache.
inline SegmentEntry *find_near(Rank &rank, const sennit_gptr &gptr) {
    // relaxed: the acquire in is_of() orders the entry's fields.
    SegmentEntry *entry = near_place(rank, gptr).load(std::memory_order_relaxed);
    return entry != nullptr && entry->is_of(gptr) ? entry : nullptr;
}

inline void remember(Rank &rank, const sennit_gptr &gptr, SegmentEntry *entry) {
    // relaxed: the reader checks the entry by is_of(), which orders its fields.
    near_place(rank, gptr).store(entry, std::memory_order_relaxed);
}

// Whether the segment of a filled entry still exists. Call it before reading the entry's other
// fields: the entry may be filled again for a later segment with the same name, and the acquire
// here orders the new fields. Names repeat after many allocations; an old pointer may then name the
// later segment.
inline bool is_live(const SegmentEntry &entry) {
    // SYNC entry-live: pairs with the release in fill_entry(); base and bounds come before.
    const std::uint32_t wanted = entry.live_value.load(std::memory_order_acquire);
    // relaxed: only equality matters. This detects use after the end of a segment. It may miss use
    // during the end, which is the program's error too.
    return entry.live->load(std::memory_order_relaxed) == wanted;
}

// The entry for `gptr`. Null: the segment is unknown, freed, or not attached yet. The pointer's
// rank must be below `size`. Reads three cache lines, all rarely written.
inline SegmentEntry *find(Rank &rank, std::uint32_t size, sennit_gptr gptr) {
    SegmentEntry *entry = find_named(rank, size, gptr);
    // A zeroed pointer finds an entry without a live word.
    if (entry == nullptr || gptr.segment == 0 || !is_live(*entry)) [[unlikely]]
        return nullptr;
    return entry;
}

}  // namespace sennit::memory
