// SPDX-License-Identifier: BSD-3-Clause
// In a collective call the members of a team exchange posts: a header and a payload. Each member
// writes its posts into slots of its own TeamSync: 8 of full size, 32 small ones and 64 tiny ones.
// The slots of one size are used in rotation. docs/design/layouts.md has the bytes,
// docs/design/collectives.md says when a slot may be reused.
//
// Post number n of a rank goes into slot n mod 8 (mod 4 at middle size), small slot n mod 32 or
// tiny slot n mod 64. The post is complete when the slot's number is n. Only the owner writes a
// slot, and it writes the number last. If no other member reads a post, only LatestPost gets its
// number. In large calls the payload may be in a wide slot instead: each member has these in a
// segment of its own, which its BufferDescription names.
#pragma once

#include <sennit/memory.h>

#include "rank/control_block.hpp"

namespace sennit::coll {

inline constexpr std::size_t kSlots = 8;
inline constexpr std::size_t kPayloadBytes = 8256;
// A slot ends with unused space, so that the slots start at different places of a page. Otherwise
// all payloads of half a page would compete for the same half of the level-1 cache.
inline constexpr std::size_t kSlotBytes = 10368;

// Posts of middle size use only the first four slots, which stay in the level-1 cache.
inline constexpr std::size_t kMiddleSlots = 4;
inline constexpr std::size_t kMiddlePayloadBytes = 4096;

// There are many small slots, so that the root of small broadcasts can run ahead of ranks that wait
// for a processor.
inline constexpr std::size_t kSmallSlots = 32;
inline constexpr std::size_t kSmallSlotBytes = 640;
inline constexpr std::size_t kSmallPayloadBytes = kSmallSlotBytes - 32;

// Two slots share a cache line: when a root of broadcasts runs ahead, only one line moves between
// processors for two posts.
inline constexpr std::size_t kTinySlots = 64;
inline constexpr std::size_t kTinyPayloadBytes = 16;

// Wide slots have their own segment. They are few, so they stay in the level-2 cache. Post n uses
// wide slot n mod 4, with its header in full slot n mod 8.
inline constexpr std::size_t kWideSlots = 4;
static_assert(kSlots == 2 * kWideSlots);
// Posts of middle size use full slots, with the same entries of TeamState::needed.
static_assert(kSlots % kMiddleSlots == 0 && kMiddleSlots > 1);
inline constexpr std::size_t kWideBytes = 65536;

// The number of a rank that gave up the team's collective calls; greater than any other number.
inline constexpr std::uint64_t kGaveUp = UINT64_MAX;

struct SlotHeader {
    std::atomic<std::uint64_t> number;  // of the post in this slot, or kGaveUp
    std::uint64_t call;                 // its call, from signature_of()
    std::uint64_t bytes;                // size of the call
    std::uint32_t rounds;               // of the call; 0: a description, or a last post
    std::uint32_t status;               // sennit_status of the rank in this call so far
};
static_assert(sizeof(SlotHeader) == 32 && offsetof(SlotHeader, call) == 8 &&
              offsetof(SlotHeader, bytes) == 16 && offsetof(SlotHeader, rounds) == 24 &&
              offsetof(SlotHeader, status) == 28);

// A header whose last 16 bytes are the payload; `call` includes the size (posted_call()).
struct TinySlot {
    SlotHeader header;
};

// The payload starts at a cache line, which makes copies of this size faster.
struct alignas(kLineBytes) Slot {
    SlotHeader header;
    std::byte zero[64 - sizeof(SlotHeader)];
    std::byte payload[kPayloadBytes];
    std::byte zero_too[kSlotBytes - 64 - kPayloadBytes];
};
static_assert(sizeof(Slot) == kSlotBytes && offsetof(Slot, payload) == 64);

// The first 32 bytes of payload are in the header's cache line, so a small message takes one line.
struct alignas(kLineBytes) SmallSlot {
    SlotHeader header;
    std::byte payload[kSmallPayloadBytes];
};
static_assert(sizeof(SmallSlot) == kSmallSlotBytes && offsetof(SmallSlot, payload) == 32);

// The number of the owner's last post, with or without a slot. A member that needs only the owner's
// progress reads this word instead of the slots. When the owner gives up, the other fields get the
// reason. Payloads in the slots stay, since others may still read them.
struct alignas(kLineBytes) LatestPost {
    std::atomic<std::uint64_t> number;  // or kGaveUp; SYNC coll-post
    std::atomic<std::uint64_t> team;    // the handle of the team that was given up
    std::atomic<std::uint32_t> lost;    // world rank that was lost, plus 1; 0: none
    std::atomic<std::uint32_t> status;  // sennit_status: why
    std::uint8_t unused[104];
};
static_assert(sizeof(LatestPost) == 128 && offsetof(LatestPost, team) == 8 &&
              offsetof(LatestPost, lost) == 16 && offsetof(LatestPost, status) == 20);

struct Area {
    LatestPost latest;
    TinySlot tiny_slots[kTinySlots];
    SmallSlot small_slots[kSmallSlots];
    Slot slots[kSlots];
};
static_assert(offsetof(Area, tiny_slots) == 128 && offsetof(Area, small_slots) == 2176 &&
              offsetof(Area, slots) == 22656 && sizeof(Area) <= sizeof(TeamSync::coll) &&
              offsetof(TeamSync, coll) % alignof(Area) == 0);

enum class SlotSize : std::uint8_t { full, middle, small, tiny };
// The sizes with slots of their own.
inline constexpr SlotSize kSlotSizes[] = {SlotSize::full, SlotSize::small, SlotSize::tiny};

// The layout of the slots of one size in an Area.
struct SlotShape {
    std::size_t first;    // offset of the first slot
    std::size_t stride;   // from one to the next
    std::size_t payload;  // offset in a slot
    std::size_t slots;    // a power of two
    std::size_t book;     // index of the first slot in TeamState::needed
};
// Indexed by SlotSize.
inline constexpr SlotShape kSlotShapes[] = {
    {offsetof(Area, slots), sizeof(Slot), offsetof(Slot, payload), kSlots, 0},
    {offsetof(Area, slots), sizeof(Slot), offsetof(Slot, payload), kMiddleSlots, 0},
    {offsetof(Area, small_slots), sizeof(SmallSlot), offsetof(SmallSlot, payload), kSmallSlots,
     kSlots},
    {offsetof(Area, tiny_slots), sizeof(TinySlot), offsetof(SlotHeader, bytes), kTinySlots,
     kSlots + kSmallSlots},
};
inline constexpr std::size_t kBooks = kSlots + kSmallSlots + kTinySlots;

constexpr const SlotShape &shape_of(SlotSize size) {
    return kSlotShapes[static_cast<std::size_t>(size)];
}

// The slot of a post.
struct Place {
    std::uint64_t number;
    SlotSize size;
};

constexpr std::size_t slot_of(Place place) {
    return place.number & (shape_of(place.size).slots - 1);
}
constexpr std::size_t slot_offset(Place place) {
    const SlotShape &shape = shape_of(place.size);
    return shape.first + shape.stride * slot_of(place);
}
constexpr std::size_t payload_offset(Place place) {
    return slot_offset(place) + shape_of(place.size).payload;
}
inline SlotHeader &header_at(Area &area, Place place) {
    return *reinterpret_cast<SlotHeader *>(reinterpret_cast<std::byte *>(&area) +
                                           slot_offset(place));
}
inline std::byte *payload_at(Area &area, Place place) {
    return reinterpret_cast<std::byte *>(&area) + payload_offset(place);
}

inline Area &area_of(TeamSync &sync) {
    return *reinterpret_cast<Area *>(sync.coll);
}

// The place of a rank's buffer. A loan is private memory that is registered for the duration of a
// call. For a loan `live` is not 0, and this struct replaces the segment's record, so that ranks on
// other nodes need not fetch the record.
struct BufferPlace {
    std::uint32_t segment;
    std::uint32_t live;
    std::uint64_t offset;  // into the segment
    std::uint64_t extent;  // size of a loan; else the address, for ranks of the same process
};
static_assert(sizeof(BufferPlace) == 24 && offsetof(BufferPlace, extent) == 16);

// The first post of a call that starts with a round of descriptions has this payload. If receivers
// do not know the places of their blocks (has_extents()), one BufferExtent per member follows, if
// all of them fit.
struct BufferDescription {
    std::uint64_t most_bytes;    // of the longest block that this rank sends
    std::uint32_t flags;         // kDescription*
    std::uint32_t wide_segment;  // of the wide slots
    BufferPlace source;
    BufferPlace destination;
};
static_assert(sizeof(BufferDescription) == 64 && offsetof(BufferDescription, source) == 16);

// Peers may use the buffers in place.
inline constexpr std::uint32_t kDescriptionInPlace = 1;
// Peers use addresses, since all members are in one process.
inline constexpr std::uint32_t kDescriptionByAddress = 2;
// The rank has wide slots.
inline constexpr std::uint32_t kDescriptionHasWide = 4;
// The rank shares its processor with others.
inline constexpr std::uint32_t kDescriptionSharesProcessor = 8;
// Peers may write into the destination.
inline constexpr std::uint32_t kDescriptionTakesPuts = 16;
// The rank need not copy its own block, since source and destination are one buffer.
inline constexpr std::uint32_t kDescriptionOwnStays = 32;

struct BufferExtent {
    std::uint64_t offset;  // from the start of the source
    std::uint64_t bytes;
};
static_assert(sizeof(BufferExtent) == 16);

inline constexpr std::size_t kMostBufferExtents =
    (kPayloadBytes - sizeof(BufferDescription)) / sizeof(BufferExtent);

}  // namespace sennit::coll
