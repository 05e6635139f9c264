// SPDX-License-Identifier: BSD-3-Clause
// The words that the two ranks of a channel write for each other. docs/design/layouts.md has each
// byte, docs/design/channels.md the protocols.
//
// A half is one rank's end of a channel: two lines in its own memory file that only its peer
// writes, so each rank polls its own memory. The halves of a rank are in chunks.
//
// The offer table (control_block.hpp) has a slot for each rank of the world, with the owner's offer
// to that rank. The offer table of the lower rank of a pair also has the word by which both agree.
#pragma once

#include <sennit/channel.h>

#include <cstddef>
#include <cstdint>

#include "rank/control_block.hpp"

namespace sennit::channel {

// A rank's message word. Bits 0 to 7: the low bits of the number of messages that it has written;
// bits 8 to 62: the number of the peer's messages that it had read by then; bit 63: set by its last
// write, the close. So a message also acknowledges the messages that its writer has read, and a
// reader detects the close without another load.
//
// 8 bits of the written count are enough: the writer is ahead of its reader by at most
// SENNIT_CHANNEL_AHEAD_MOST. The read count may be as old as the writer's last message, so it must
// never wrap: 2^55 messages take longer than any job.
inline constexpr unsigned kCountBits = 8;
inline constexpr std::uint64_t kCountMask = (1u << kCountBits) - 1;
static_assert(SENNIT_CHANNEL_AHEAD_MOST <= kCountMask);
inline constexpr std::uint64_t kClosedBit = std::uint64_t{1} << 63;

constexpr std::uint64_t pack(std::uint64_t written, std::uint64_t read) {
    return read << kCountBits | (written & kCountMask);
}
constexpr bool has_message(std::uint64_t word, std::uint64_t read) {
    return ((word ^ read) & kCountMask) != 0;
}
// The number of unread messages, at most SENNIT_CHANNEL_AHEAD_MOST.
constexpr std::uint32_t messages_in(std::uint64_t word, std::uint64_t read) {
    return static_cast<std::uint32_t>((word - read) & kCountMask);
}
// While kClosedBit is set, the result equals no count.
constexpr std::uint64_t reads_in(std::uint64_t word) {
    return word >> kCountBits;
}

// The count of messages read while the reader is not ready (SENNIT_CHANNEL_NOT_READY). No count
// reaches it, it does not touch kClosedBit, and its low bits are 0: no message yet.
inline constexpr std::uint64_t kNotReady = (std::uint64_t{1} << 55) - (kCountMask + 1);
static_assert((kNotReady << kCountBits & kClosedBit) == 0 && (kNotReady & kCountMask) == 0);

struct alignas(kLineBytes) WrittenLine {
    std::atomic<std::uint64_t> word;  // SYNC channel-written, channel-read, channel-closed
    // 1 while the writer's close waits until the reader has read its messages; the writer no longer
    // reads. SYNC channel-closing.
    std::atomic<std::uint32_t> is_closing;
    std::uint8_t unused[116];
};
static_assert(sizeof(WrittenLine) == 128 && offsetof(WrittenLine, is_closing) == 8);

struct alignas(kLineBytes) ReadLine {
    std::atomic<std::uint64_t> count;  // messages that the peer has read; SYNC channel-read
    std::uint8_t unused[120];
};
static_assert(sizeof(ReadLine) == 128);

struct Half {
    WrittenLine written;
    ReadLine read;
};
static_assert(sizeof(Half) == 256 && offsetof(Half, read) == 128);

// A half is zeroed and reused once its writer has closed or is gone.
inline constexpr std::uint32_t kHalvesPerChunk = 255;
struct alignas(kLineBytes) Chunk {
    // The number of ranks of the owner's process that use the owner's mapping, the owner included;
    // the last one unmaps it.
    std::atomic<std::uint32_t> users;  // SYNC channel-users
    std::uint8_t unused[252];
    Half halves[kHalvesPerChunk];
};
static_assert(sizeof(Chunk) == 65536 && offsetof(Chunk, halves) == 256);

// A rank's offer for the channel that it opens with another rank.
struct ChannelOffer {
    std::uint64_t bytes;          // of its buffer
    std::uint64_t offset;         // of the buffer, in the segment
    std::uint32_t segment;        // 0: the buffer has no bytes
    std::int32_t segment_rank;    // owner of the segment
    std::uint32_t flags;          // SENNIT_CHANNEL_*, and those below
    std::uint32_t half;           // in the chunk
    std::uint64_t chunk_offset;   // in the memory file
    std::uint64_t chunk_address;  // address at the owner; used only in the same process
    std::uint8_t unused[16];
};
static_assert(sizeof(ChannelOffer) == 64 && offsetof(ChannelOffer, segment) == 16 &&
              offsetof(ChannelOffer, chunk_offset) == 32);
// The segment was registered for this channel alone.
inline constexpr std::uint32_t kOwnRegion = 1u << 31;
// Rank::sleeps_with_barrier of the offering rank (runtime/wait.hpp).
inline constexpr std::uint32_t kSleepsWithBarrier = 1u << 30;

// The owner writes `offer`. `handshake` is used in the offer table of the lower of the two ranks;
// both change it by compare and swap (handshake.hpp).
struct OfferSlot {
    alignas(kLineBytes) ChannelOffer offer;                    // SYNC channel-offer
    alignas(kLineBytes) std::atomic<std::uint64_t> handshake;  // SYNC channel-handshake
};
static_assert(sizeof(OfferSlot) == kOfferSlotBytes && offsetof(OfferSlot, handshake) == 128);

inline OfferSlot &offer_slot_of(ControlBlock &control, int peer) {
    return *reinterpret_cast<OfferSlot *>(offer_slot(control, peer));
}

}  // namespace sennit::channel
