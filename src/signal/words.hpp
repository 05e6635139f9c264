// SPDX-License-Identifier: BSD-3-Clause
// The records of signals and blocks, which ranks share. docs/design/layouts.md has each byte,
// docs/design/signals.md the protocols.
//
// The signals of a rank are in chunks, each a segment in the rank's memory file, so that peers
// reach them like memory: by pointer or by messages. The first two chunks have 256 signals each,
// every later one twice as many as the one before. The control block's header has the segments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/handle_table.hpp"
#include "rank/control_block.hpp"

namespace sennit::signal {

// Set in the handle of an unchecked signal, so that a sender need not read the record.
inline constexpr std::uint32_t kUncheckedBit = 1u << 31;

// A signal's handle: its index (24 bits; the highest is kUncheckedBit, which no index uses), and
// the use count of the place (8 bits, never 0).
struct SignalHandles : HandleLayout<std::uint32_t, 24, 8, 8> {
    static constexpr std::uint32_t place_of(Word handle) {
        return HandleLayout::place_of(handle & ~kUncheckedBit);
    }
};
inline constexpr std::uint32_t kIncarnations = SignalHandles::kGenerationMost;
constexpr std::uint32_t index_of(std::uint32_t handle) {
    return SignalHandles::place_of(handle);
}
constexpr bool is_unchecked(std::uint32_t handle) {
    return (handle & kUncheckedBit) != 0;
}

// The senders' line, then the owner's line. A poller of a slot keeps the first line in its cache,
// so other words that senders read must not be on it. The owner's short calls write the second line
// but do not read it, since senders have it in their caches; signal::Own has copies of its fields.
struct alignas(kLineBytes) SignalRecord {
    // Indexed by the parity of the epoch; writers: senders, by adds. SYNC signal-count.
    std::atomic<std::uint64_t> slot[2];
    // An event that was not counted, as refused_word(); 0: none. Writers: the rank that refused it;
    // the owner, which reports it and stores 0. On this line, since the owner reads the slots
    // anyway.
    std::atomic<std::uint64_t> refused;
    std::uint8_t unused_first[104];
    std::atomic<std::uint64_t> epoch;  // whole number; writer: owner; SYNC signal-epoch
    // Not 0: the signal is in a waitset, so the sender that fires it sets its mark. Writer: owner;
    // SYNC signal-set.
    std::atomic<std::uint32_t> in_set;
    std::atomic<std::uint32_t> handle;  // 0: none; writer: owner; SYNC signal-handle
    // Constant while the handle lives.
    std::uint32_t events;  // of an epoch
    std::uint32_t max_events;
    std::int32_t owner;       // world rank
    std::uint8_t event_bits;  // N
    std::uint8_t most_ahead;  // epochs by which a sender may be ahead: 1; 0 for a strict signal
    std::uint8_t unused[98];
};
static_assert(sizeof(SignalRecord) == 256 && offsetof(SignalRecord, refused) == 16 &&
              offsetof(SignalRecord, epoch) == 128 && offsetof(SignalRecord, in_set) == 136 &&
              offsetof(SignalRecord, handle) == 140 && offsetof(SignalRecord, events) == 144 &&
              offsetof(SignalRecord, event_bits) == 156 &&
              offsetof(SignalRecord, most_ahead) == 157);

inline constexpr std::uint64_t kChunkMagic = 0x314E4753544E4E53;  // "SNNTSGN1", little endian
// At the start of a chunk. Three arrays follow: the summary (a bit for each nonzero word of marks),
// the marks (a bit for each signal, set if the signal has fired in a waitset), the records.
struct alignas(kLineBytes) SignalChunkHead {
    std::uint64_t magic;
    std::uint32_t chunk;  // number
    std::uint32_t signals;
    std::uint8_t unused[112];
};
static_assert(sizeof(SignalChunkHead) == 128);

using MarkWord = std::atomic<std::uint64_t>;

// The number of places that are used before the first one is reused.
inline constexpr std::uint32_t kFewestSignals = 64;
inline constexpr TableShape kSignalShape{1u << (8 + kSignalChunks - 1), 1u << 8, kFewestSignals, 0};
static_assert(kSignalShape.chunks() == kSignalChunks);
static_assert((SignalHandles::make(kSignalShape.places - 1, kIncarnations) & kUncheckedBit) == 0);

constexpr std::uint32_t chunk_of(std::uint32_t index) {
    return kSignalShape.chunk_of(index);
}
constexpr std::uint32_t first_index(std::uint32_t chunk) {
    return kSignalShape.first_of(chunk);
}
constexpr std::uint32_t signals_in(std::uint32_t chunk) {
    return kSignalShape.places_in(chunk);
}
constexpr std::uint32_t mark_words(std::uint32_t chunk) {
    return signals_in(chunk) / 64;
}
constexpr std::uint32_t summary_words(std::uint32_t chunk) {
    return (mark_words(chunk) + 63) / 64;
}
inline constexpr std::size_t kSummaryOffset = sizeof(SignalChunkHead);
constexpr std::size_t whole_lines(std::size_t bytes) {
    return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}
constexpr std::size_t marks_offset(std::uint32_t chunk) {
    return kSummaryOffset + whole_lines(sizeof(MarkWord) * summary_words(chunk));
}
constexpr std::size_t records_offset(std::uint32_t chunk) {
    return marks_offset(chunk) + whole_lines(sizeof(MarkWord) * mark_words(chunk));
}
constexpr std::size_t chunk_bytes(std::uint32_t chunk) {
    return records_offset(chunk) + sizeof(SignalRecord) * signals_in(chunk);
}
static_assert(chunk_of(255) == 0 && chunk_of(256) == 1 && chunk_of(511) == 1 && chunk_of(512) == 2);
static_assert(first_index(2) == 512 && signals_in(1) == 256 && signals_in(2) == 512);

// The content of sennit_block, equal on all ranks of a job. All zeros: no block.
inline constexpr std::uint8_t kBlockMagic = 0x42;  // "B"
inline constexpr std::uint8_t kBlockVersion = 2;
struct BlockRecord {
    std::uint8_t magic;
    std::uint8_t version;
    std::uint16_t region;  // slot of the segment's record at its owner
    std::uint32_t job;     // the job's cookie, folded to 32 bits
    std::int32_t rank;     // of the owner, in the world
    std::uint32_t segment;
    std::uint64_t offset;  // in the segment
    std::uint64_t bytes;
    std::uint64_t send_epoch;  // of the two signals when the block was made
    std::uint64_t recv_epoch;
    std::uint32_t region_generation;  // SegmentRecord::live
    std::uint32_t on_send;            // signals of the owner, 0 for none
    std::uint32_t on_recv;
    std::uint32_t check;  // CRC-32C of all before it
};
static_assert(sizeof(BlockRecord) == 64 && offsetof(BlockRecord, region) == 2 &&
              offsetof(BlockRecord, rank) == 8 && offsetof(BlockRecord, offset) == 16 &&
              offsetof(BlockRecord, send_epoch) == 32 &&
              offsetof(BlockRecord, region_generation) == 48 && offsetof(BlockRecord, check) == 60);
static_assert(kSegmentsPerTeam <= 1u << 16);

}  // namespace sennit::signal
