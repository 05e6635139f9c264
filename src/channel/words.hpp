// SPDX-License-Identifier: BSD-3-Clause
// What the two ranks of a channel write for each other. Byte by byte in docs/design/layouts.md; the
// protocols are in docs/design/channels.md.
//
// A half is one rank's end of a channel: two lines in its own memory file that its peer alone
// writes, so that each rank polls its own memory. The halves of a rank lie in chunks.
//
// The desk (control_block.hpp) has a place for each rank of the world. There stands what the owner
// offers to that rank; and in the desk of the lower rank of a pair, the word by which both agree.
#pragma once

#include <sennit/channel.h>

#include <cstddef>
#include <cstdint>

#include "rank/control_block.hpp"

namespace sennit::channel {

// What a rank says of its messages, in one word that it stores at once: bits 0 to 7 the last of the
// messages that it wrote, as counted; bits 8 to 62 how many of the peer's it had read by then; bit
// 63 that it has closed, with the last write of all to the half. So whoever answers by a message
// needs no other word, and seeing the end costs nothing.
//
// Of the count 8 bits are enough: it is ahead of what its reader has read by
// SENNIT_CHANNEL_AHEAD_MOST at most. The other may be as old as the last message back, so it must
// not come round: 2^55 messages take longer than any job.
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
// How many there are that were not read: at most SENNIT_CHANNEL_AHEAD_MOST.
constexpr std::uint32_t messages_in(std::uint64_t word, std::uint64_t read) {
    return static_cast<std::uint32_t>((word - read) & kCountMask);
}
// Never equal to a count where the bit of closing is set.
constexpr std::uint64_t reads_in(std::uint64_t word) {
    return word >> kCountBits;
}

// Stands for the count of messages read while their reader has not said that it is ready
// (SENNIT_CHANNEL_NOT_READY). No count gets there, it leaves the bit of closing alone, and as it
// ends in zeros there is no message yet.
inline constexpr std::uint64_t kNotReady = (std::uint64_t{1} << 55) - (kCountMask + 1);
static_assert((kNotReady << kCountBits & kClosedBit) == 0 && (kNotReady & kCountMask) == 0);

struct alignas(kLineBytes) WrittenLine {
    std::atomic<std::uint64_t> word;  // SYNC channel-written, channel-read, channel-closed
    // 1 while it waits for its messages to be read and reads no more itself; SYNC channel-closing.
    std::atomic<std::uint32_t> is_closing;
    std::uint8_t unused[116];
};
static_assert(sizeof(WrittenLine) == 128 && offsetof(WrittenLine, is_closing) == 8);

struct alignas(kLineBytes) ReadLine {
    std::atomic<std::uint64_t> count;  // messages that the writer has read; SYNC channel-read
    std::uint8_t unused[120];
};
static_assert(sizeof(ReadLine) == 128);

struct Half {
    WrittenLine written;
    ReadLine read;
};
static_assert(sizeof(Half) == 256 && offsetof(Half, read) == 128);

// Halves are used again once their writer has closed or is gone, and are zeroed before.
inline constexpr std::uint32_t kHalvesPerChunk = 255;
struct alignas(kLineBytes) Chunk {
    // Ranks of the owner's process that use the owner's mapping, the owner too; the last unmaps it.
    std::atomic<std::uint32_t> users;  // SYNC channel-users
    std::uint8_t unused[252];
    Half halves[kHalvesPerChunk];
};
static_assert(sizeof(Chunk) == 65536 && offsetof(Chunk, halves) == 256);

// What a rank tells another one about its end of the channel that both are opening.
struct ChannelOffer {
    std::uint64_t bytes;          // of its buffer
    std::uint64_t offset;         // of the buffer, in the segment
    std::uint32_t segment;        // 0 where the buffer has no bytes
    std::int32_t segment_rank;    // whose segment it is
    std::uint32_t flags;          // SENNIT_CHANNEL_*, and those below
    std::uint32_t half;           // in the chunk
    std::uint64_t chunk_offset;   // in the memory file
    std::uint64_t chunk_address;  // of the owner; followed in the same process only
    std::uint8_t unused[16];
};
static_assert(sizeof(ChannelOffer) == 64 && offsetof(ChannelOffer, segment) == 16 &&
              offsetof(ChannelOffer, chunk_offset) == 32);
// The segment was registered for this channel alone.
inline constexpr std::uint32_t kOwnRegion = 1u << 31;
// The rank has joined the barriers for all processors and sleeps with one (runtime/wait.hpp).
inline constexpr std::uint32_t kSleepsWithBarrier = 1u << 30;

// `offer` is the owner's. `meeting` is used where the owner is the lower of the two ranks; both
// change it, by compare and swap (meeting.hpp).
struct DeskPlace {
    alignas(kLineBytes) ChannelOffer offer;                  // SYNC channel-offer
    alignas(kLineBytes) std::atomic<std::uint64_t> meeting;  // SYNC channel-meeting
};
static_assert(sizeof(DeskPlace) == kDeskPlaceBytes && offsetof(DeskPlace, meeting) == 128);

inline DeskPlace &place_of(ControlBlock &control, int peer) {
    return *reinterpret_cast<DeskPlace *>(desk_place(control, peer));
}

}  // namespace sennit::channel
