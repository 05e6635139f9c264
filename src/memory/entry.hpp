// How a segment id is made up, and the entry that every put and get looks up: how this rank reaches
// one peer's piece of one segment.
//
// A segment id is 32 bits: team slot (10) | index in the team (14) | generation (8, never 0). Slot
// 0 holds allocations of one rank, indexed by that rank's own record table. The generation changes
// when an index is used again, so a stale global pointer is refused.
#pragma once

#include <sennit/memory.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/rank.hpp"

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

// A segment's id, and the word that its owner's record holds while it lives (SegmentRecord::live):
// the id alone may come back with another segment behind it.
constexpr std::uint64_t make_key(std::uint32_t id, std::uint32_t live) {
    return static_cast<std::uint64_t>(id) << 32 | live;
}

struct alignas(64) Entry {
    std::atomic<std::uint64_t> key;  // 0: not attached
    std::byte *base;                 // load/store address, or null
    // `bytes` if base is set and the rank is not observed, else 0: one check for all three.
    std::uint64_t direct_bytes;
    std::uint64_t bytes;
    const std::atomic<std::uint32_t> *live;  // the record's word, or one that never changes
    std::uint64_t handle;                    // for a message transport
    std::uint64_t mapped_bytes;              // for detach
    std::uint16_t path;                      // sennit_path
    AtomicsActor actor;                      // of atomics, as the record says
    std::uint8_t unused[5];

    // 0: not attached. For callers that hold the cold mutex.
    std::uint32_t id() const {
        // relaxed: entries change under the cold mutex.
        return static_cast<std::uint32_t>(key.load(std::memory_order_relaxed) >> 32);
    }
};
static_assert(sizeof(Entry) == 64);

// The entry that serves `gptr`, or null: unknown, freed, or not attached yet. The rank must be
// below `size`. Reads three lines, all of them written rarely.
inline Entry *find(Rank &rank, std::uint32_t size, sennit_gptr gptr) {
    // SYNC entry-table: pairs with the release in table_create(); the empty entries come before.
    Entry *table = rank.tables[team_slot_of(gptr.segment)].load(std::memory_order_acquire);
    if (table == nullptr) [[unlikely]]
        return nullptr;
    Entry &entry = table[static_cast<std::size_t>(index_of(gptr.segment)) * size +
                         static_cast<std::uint32_t>(gptr.rank)];
    // SYNC entry-attached: pairs with the release in fill_entry(); the fields come before the key.
    const std::uint64_t key = entry.key.load(std::memory_order_acquire);
    // An entry that is not attached holds 0, which is also the segment of a null pointer.
    if (key >> 32 != gptr.segment || key == 0) [[unlikely]]
        return nullptr;
    // relaxed: only equality counts. A program that frees while another rank still uses the segment
    // is wrong in any order; this catches what comes after.
    if (entry.live->load(std::memory_order_relaxed) != static_cast<std::uint32_t>(key)) [[unlikely]]
        return nullptr;
    return &entry;
}

}  // namespace sennit::memory
