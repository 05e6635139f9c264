// SPDX-License-Identifier: BSD-3-Clause
// How a segment id is made up, and the entry that every put and get looks up: how this rank reaches
// one peer's piece of one segment.
//
// A segment id is 32 bits: team slot (10) | index in the team (14) | generation (8, never 0). Slot
// 0 holds allocations of one rank, indexed by that rank's own record table. The generation changes
// when an index is used again, so a stale global pointer is refused.
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

// What a global pointer names, its offset left out: its first 64 bits.
inline std::uint64_t name_of(const sennit_gptr &gptr) {
    static_assert(offsetof(sennit_gptr, rank) == 0 && offsetof(sennit_gptr, segment) == 4);
    std::uint64_t name = 0;
    std::memcpy(&name, &gptr, sizeof name);
    return name;
}

// No pointer's name, so that a zeroed pointer never leads to an entry that is being filled or
// cleared.
inline constexpr auto kClearedName =
    std::bit_cast<std::uint64_t>(std::array<std::int32_t, 2>{INT32_MIN, 0});

struct alignas(64) SegmentEntry {
    // See name_of(). Of an entry that was never filled 0, of one that was cleared kClearedName.
    std::atomic<std::uint64_t> name;
    std::byte *base;  // load/store address, or null
    // `bytes` if base is set and the rank is not observed, else 0: one check for all three.
    std::uint64_t direct_bytes;
    std::uint64_t bytes;
    // The record's word, or, where that is out of sight, `live_value` itself.
    const std::atomic<std::uint32_t> *live;
    std::uint64_t handle;        // for a message transport
    std::uint64_t mapped_bytes;  // for detach
    std::uint16_t path;          // sennit_path
    AtomicsActor actor;          // of atomics, as the record says
    // errno of XPMEM here, where the owner offers the memory by it and it is copied for this rank.
    std::uint8_t attach_errno;
    // What the word at `live` holds while the segment lives: an id alone may come back with another
    // segment behind it.
    std::atomic<std::uint32_t> live_value;

    // 0: not attached. For callers that hold the cold mutex.
    std::uint32_t id() const {
        // relaxed: entries change under the cold mutex.
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

// The entry that holds the name of `gptr`, or null: unknown, or not attached yet. The rank must be
// below `size`. A zeroed pointer finds the first entry of the table, which nobody ever fills: no
// rank gives its record 0 away.
inline SegmentEntry *find_named(Rank &rank, std::uint32_t size, sennit_gptr gptr) {
    // SYNC entry-table: pairs with the release in table_create(); the empty entries come before.
    SegmentEntry *table = rank.tables[team_slot_of(gptr.segment)].load(std::memory_order_acquire);
    if (table == nullptr) [[unlikely]]
        return nullptr;
    SegmentEntry &entry = table[static_cast<std::size_t>(index_of(gptr.segment)) * size +
                                static_cast<std::uint32_t>(gptr.rank)];
    return entry.is_of(gptr) ? &entry : nullptr;
}

// Where the rank remembers the entry of such a pointer: by the rank and the low bits of the index,
// so that 8 peers' pieces of 16 segments that were allocated one after the other have places of
// their own, and so have 128 peers' of one.
inline AtomicPartPointer<Part::entry> &near_place(Rank &rank, const sennit_gptr &gptr) {
    constexpr unsigned kPeersTogether = 3;  // bits
    const std::uint64_t name = name_of(gptr);
    return rank.near[(name + (name >> (32 + kGenerationBits - kPeersTogether))) % kNearEntries];
}

// As find_named(), of what was found lately: entries stay where they are, and what they hold is
// looked at again. Null says nothing.
inline SegmentEntry *find_near(Rank &rank, const sennit_gptr &gptr) {
    // relaxed: the pointer alone is wanted; the entry's name comes with its other fields.
    SegmentEntry *entry = near_place(rank, gptr).load(std::memory_order_relaxed);
    return entry != nullptr && entry->is_of(gptr) ? entry : nullptr;
}

inline void remember(Rank &rank, const sennit_gptr &gptr, SegmentEntry *entry) {
    // relaxed: the pointer alone; who finds it checks the entry's name.
    near_place(rank, gptr).store(entry, std::memory_order_relaxed);
}

// Of an entry that was filled: false once its owner has ended the segment. Call it before reading
// the entry's other fields, which may have changed under the same name: the ids of a team repeat
// after 255 allocations at one index, those of a rank after 255 of every slot. A late thread may
// then see the word of the last fill.
inline bool is_live(const SegmentEntry &entry) {
    // SYNC entry-live: pairs with the release in fill_entry(); base and bounds come before.
    const std::uint32_t wanted = entry.live_value.load(std::memory_order_acquire);
    // relaxed: only equality counts. A program that frees while another rank still uses the segment
    // is wrong in any order; this catches what comes after.
    return entry.live->load(std::memory_order_relaxed) == wanted;
}

// The entry that serves `gptr`, or null: unknown, freed, or not attached yet. The rank must be
// below `size`. Reads three lines, all of them written rarely.
inline SegmentEntry *find(Rank &rank, std::uint32_t size, sennit_gptr gptr) {
    SegmentEntry *entry = find_named(rank, size, gptr);
    // A zeroed pointer found an entry without a word to look at.
    if (entry == nullptr || gptr.segment == 0 || !is_live(*entry)) [[unlikely]]
        return nullptr;
    return entry;
}

}  // namespace sennit::memory
