// SPDX-License-Identifier: BSD-3-Clause
// The control block: words of a rank that other ranks read and write, outside of all segments. It
// is at the start of the rank's memory file. Peers that are reached by load and store map it; the
// other paths reach it by put and get. It has no pointers. The comments name the writer of each
// word. docs/design/layouts.md lists every byte.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/atomics.hpp"

namespace sennit {

inline constexpr std::uint64_t kControlMagic = 0x314C5254544E4E53;  // "SNNTTRL1", little endian
inline constexpr std::uint32_t kLayoutVersion = 18;
inline constexpr std::size_t kSegmentsPerTeam = 16384;  // 14 bits of a segment id
inline constexpr std::size_t kTeamSlots = 1024;         // 10 bits; slot 0: allocations of one rank
inline constexpr std::size_t kMailboxBytes = 256;
inline constexpr std::size_t kRounds = 16;  // dissemination rounds: up to 65536 ranks
inline constexpr std::size_t kTeamSyncBytes = 110592;
// Every file has room for the first team slots. Room for the others is added in chunks of 16 slots,
// which are whole pages with any page size.
inline constexpr std::size_t kFirstTeams = 15;
inline constexpr std::size_t kTeamsPerChunk = 16;
inline constexpr std::size_t kTeamChunks = (kTeamSlots - 1 - kFirstTeams) / kTeamsPerChunk;
inline constexpr std::size_t kTeamChunkBytes = kTeamSyncBytes * kTeamsPerChunk;
static_assert(kFirstTeams + kTeamChunks * kTeamsPerChunk == kTeamSlots - 1);
static_assert(kTeamChunkBytes % 65536 == 0);
inline constexpr std::size_t kCpuWords = 16;  // 1024 processors
inline constexpr std::size_t kOfferSlotBytes = 256;
inline constexpr std::size_t kWatchHeadBytes = 128;
inline constexpr std::size_t kWatchPlaceBytes = 64;
inline constexpr std::size_t kSignalChunks = 16;

// `leaving`: the rank is in its last barrier and opens no more channels.
enum class RankState : std::uint32_t { starting = 0, running = 1, left = 2, leaving = 3 };

// The owner fills it before other ranks use the block. Later only the atomic words and `probe_echo`
// change.
struct alignas(kLineBytes) ControlHeader {
    std::uint64_t magic;
    std::uint32_t layout_version;
    std::int32_t rank;
    std::int32_t size;
    std::atomic<std::uint32_t> state;  // RankState; writer: owner
    std::uint64_t job_cookie;
    std::uint64_t control_bytes;
    // The number of ranks of the owner's process that use the owner's mapping of this block, the
    // owner included; the last one unmaps it.
    std::atomic<std::uint32_t> users;
    // The number of the owner's threads that are attaching to a queue of any rank (src/queue/);
    // writers: these threads. SYNC queue-attaching.
    std::atomic<std::uint32_t> attaching;
    // A peer tests kernel copies between the two processes with these words: it reads `probe_token`
    // and writes that value to `probe_echo`.
    std::uint64_t probe_token;  // random; writer: owner, before any other rank knows of the block
    std::uint64_t probe_echo;   // writers: peers; never read in this process
    // The ids of the segments with the chunks of the rank's signals, 0 if not made yet
    // (src/signal/); writer: owner; SYNC signal-view.
    std::atomic<std::uint32_t> signal_chunks[kSignalChunks];
};
static_assert(sizeof(ControlHeader) == 128 && offsetof(ControlHeader, state) == 20 &&
              offsetof(ControlHeader, job_cookie) == 24 && offsetof(ControlHeader, users) == 40 &&
              offsetof(ControlHeader, attaching) == 44 &&
              offsetof(ControlHeader, probe_token) == 48 &&
              offsetof(ControlHeader, signal_chunks) == 64);

// The words on which the rank's threads sleep. Only the owner's threads write `sleepers`; the
// threads that wake them write `rings`. runtime/wait.hpp has the protocol.
struct alignas(kLineBytes) Doorbell {
    std::atomic<std::uint32_t> sleepers;
    std::atomic<std::uint32_t> rings;
    std::uint8_t unused[120];
};
static_assert(sizeof(Doorbell) == 128 && offsetof(Doorbell, rings) == 4);

// For barriers; writer of all words: owner.
struct alignas(kLineBytes) ArrivalLine {
    std::atomic<std::uint64_t> epoch;
    // The call in which the owner has waited for more than a second, or 0: team/long_wait.cpp.
    std::atomic<std::uint64_t> waiting;
    // The last word that the owner has sent in a barrier between nodes: team/nodes.cpp.
    std::atomic<std::uint64_t> sent;
    std::uint8_t unused[104];
};
static_assert(sizeof(ArrivalLine) == 128 && offsetof(ArrivalLine, waiting) == 8 &&
              offsetof(ArrivalLine, sent) == 16);

// A counter in a line of its own. In TeamSync::rounds: one round of a dissemination barrier;
// writer: the partner of that round.
struct alignas(kLineBytes) EpochLine {
    std::atomic<std::uint64_t> epoch;
    std::uint8_t unused[120];
};
static_assert(sizeof(EpochLine) == 128);

// For a barrier by clusters (team/cluster.hpp). Used in the first member of each cluster.
struct ClusterLines {
    // Members of the cluster that have arrived, 0 between two barriers; writers: these members.
    EpochLine arrived;
    // Complete clusters, 0 between two barriers; used only in the first cluster. Writers: the last
    // member of each cluster.
    EpochLine clusters;
    // The last barrier in which all have arrived; writer: the last member to arrive.
    EpochLine released;
};
static_assert(sizeof(ClusterLines) == 384);

// The owner's data in a collective exchange; all members read it after the next barrier. A team has
// two, used in turn: an exchange never overwrites data that a slow rank still reads.
struct alignas(kLineBytes) Mailbox {
    std::uint8_t bytes[kMailboxBytes];
};
static_assert(sizeof(Mailbox) == 256);

// Kinds of memory, and how peers reach it. The values are shared between processes: never renumber.
enum class SegmentKind : std::uint8_t {
    none = 0,
    team = 1,        // collective allocation
    local = 2,       // allocation of one rank
    registered = 3,  // existing memory of the program
    statics = 4,     // .data and .bss of the executable
    signals = 5,     // a chunk of a rank's signals
    queue = 6,
    slots = 7,  // a rank's wide slots or node buffer for a team's collectives
};
enum class Mechanism : std::uint8_t {
    none = 0,
    file = 1,          // allocated in the owner's memory file
    same_process = 2,  // at its own address, for ranks of the same process
    xpmem = 3,
    adopted = 4,  // moved into the owner's memory file at its old address
    copied = 5,   // private memory, process_vm_readv/writev
};
enum class AtomicsActor : std::uint8_t {
    processor = 0,     // ranks with load/store directly, others by a message executed on the node
    network_card = 1,  // fi_atomic only; direct atomics are refused
    lock_holder = 2,   // the processor that holds the segment's UpdateLock
};

// The memory of a segment. A peer attaches only kinds that it knows.
enum class MemoryKind : std::uint8_t {
    host = 0,
};

// The lock of a segment whose atomic operations need one (AtomicsActor::lock_holder), in the first
// line after the segment's bytes. Writers: ranks that load and store the segment.
struct alignas(kLineBytes) UpdateLock {
    std::atomic<std::uint32_t> holder;  // world rank + 1; 0: free
    std::uint8_t unused[124];
};
static_assert(sizeof(UpdateLock) == 128);
constexpr std::uint64_t update_lock_offset(std::uint64_t segment_bytes) {
    return (segment_bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

// The published record of a segment. Writer: owner; it stores `live` and `id` last when the segment
// starts and first when it ends (SYNC segment-live). Ids repeat after many segments, but `live`
// only after 2^32 in a slot, so a rank that has attached the segment compares `live`.
struct alignas(kLineBytes) SegmentRecord {
    std::atomic<std::uint32_t> id;  // segment id while live, 0 otherwise
    SegmentKind kind;
    Mechanism mechanism;
    AtomicsActor actor;
    std::uint8_t version;          // of this record's layout: 1
    std::uint64_t bytes;           // size the user asked for; 0 if it continues a region
    std::uint64_t file_offset;     // place in the owner's memory file (mechanism file, adopted)
    std::uint64_t mapped_bytes;    // length of a mapping, whole pages
    std::uint64_t owner_address;   // for ranks of the same process and for copies by the kernel
    std::uint64_t alignment;       // of every rank's mapping
    std::uint32_t page_bytes;      // page size of the memory, for placement and adoption
    std::uint32_t flags;           // SENNIT_ALLOC_*
    std::uint64_t mapping_device;  // identity of the owner's mapping in the kernel:
    std::uint64_t mapping_inode;   //   device and inode in /proc/self/maps; xpmem: the segment
    std::uint32_t epoch;           // number of segments so far in this slot: detects reuse
    std::uint32_t owner_slot;      // index of this record in the owner's table
    // Used by registered memory only (docs/design/adoption.md), else 0.
    std::uint64_t view_offset;        // offset of this record's pages in a view of the whole region
    std::uint64_t slot_bytes;         // room in the memory file, from file_offset
    std::uint32_t next_extent;        // index + 1 of the record that continues the region
    std::uint32_t head_bytes;         // bytes of the first page before the buffer
    std::atomic<std::uint32_t> live;  // `epoch` while live, 0 otherwise
    // Why inproc, xpmem, adopt and cma were not used: memory::Refusal.
    std::uint8_t refusals[4];
    std::int32_t refusal_details[2];  // errno: of xpmem, of adopt
    MemoryKind memory;
    std::uint8_t unused[7];
};
static_assert(sizeof(SegmentRecord) == 128 && offsetof(SegmentRecord, kind) == 4 &&
              offsetof(SegmentRecord, bytes) == 8 && offsetof(SegmentRecord, owner_address) == 32 &&
              offsetof(SegmentRecord, page_bytes) == 48 &&
              offsetof(SegmentRecord, mapping_device) == 56 &&
              offsetof(SegmentRecord, epoch) == 72 && offsetof(SegmentRecord, view_offset) == 80 &&
              offsetof(SegmentRecord, live) == 104 && offsetof(SegmentRecord, refusals) == 108 &&
              offsetof(SegmentRecord, memory) == 120);

// Processors of a node, as the operating system counts them.
struct ProcessorSet {
    std::uint64_t words[kCpuWords];
};
static_assert(sizeof(ProcessorSet) == 128);

// The words of one team, written by the owner and the other members. Epochs and numbers of calls
// only grow, even when a later team uses the same slot (team/team.hpp).
struct alignas(kLineBytes) TeamSync {
    ArrivalLine arrived;
    EpochLine rounds[kRounds];
    Mailbox mailboxes[2];
    ClusterLines cluster;
    std::byte coll[kTeamSyncBytes - 128 - 128 * kRounds - 512 - 384];  // laid out by src/coll/
};
static_assert(sizeof(TeamSync) == kTeamSyncBytes && offsetof(TeamSync, rounds) == 128 &&
              offsetof(TeamSync, mailboxes) == 128 + 128 * kRounds &&
              offsetof(TeamSync, coll) == 1024 + 128 * kRounds);

// The block in the address space of the owner and of each peer that maps it. The file has the part
// before `more_teams`, then the offer table and the watch table. A chunk of `more_teams` is
// appended to the owner's file when the first team of the chunk is made (memory/control_map.hpp).
// Untouched pages take no memory. The first words of the world's team (slot 1) are in the header's
// page, so a rank that uses only the world touches few pages of its peers.
struct ControlBlock {
    ControlHeader header;
    Doorbell doorbell;
    alignas(kLineBytes) ProcessorSet processors;  // of the owner at start-up
    // The offset of each chunk of `more_teams` in the file, 0 before it is made; chunks are made in
    // order and stay. Writer: owner; SYNC team-chunk.
    alignas(kLineBytes) std::atomic<std::uint64_t> chunk_offsets[64];
    TeamSync first_teams[kFirstTeams];  // slots 1 to 15: slot 0 is no team
    SegmentRecord records[kSegmentsPerTeam];
    std::uint8_t unused[44160];
    alignas(65536) TeamSync more_teams[kTeamChunks * kTeamsPerChunk];  // from slot 16 on
};
static_assert(kTeamChunks <= 64);
static_assert(offsetof(ControlBlock, doorbell) == 128 &&
              offsetof(ControlBlock, chunk_offsets) == 384 &&
              offsetof(ControlBlock, first_teams) == 896 &&
              offsetof(ControlBlock, records) == 896 + kTeamSyncBytes * kFirstTeams &&
              offsetof(ControlBlock, more_teams) == 3801088 && sizeof(ControlBlock) == 115277824);

// The offer table follows the block. It has a slot for each rank of the world, used for channels
// between that rank and the owner; laid out by src/channel/.
inline std::byte *offer_slot(ControlBlock &control, int peer) {
    return reinterpret_cast<std::byte *>(&control + 1) +
           kOfferSlotBytes * static_cast<std::size_t>(peer);
}

// The watch table follows the offer table: the state of other nodes; laid out by
// src/runtime/watch/.
inline std::byte *watch_table(ControlBlock &control, int size) {
    return offer_slot(control, size);
}
constexpr std::uint64_t offers_and_watch_bytes(std::uint64_t size) {
    return kOfferSlotBytes * size + kWatchHeadBytes + kWatchPlaceBytes * size;
}

constexpr std::size_t team_sync_offset(std::uint32_t team_slot) {
    return team_slot <= kFirstTeams
               ? offsetof(ControlBlock, first_teams) + sizeof(TeamSync) * (team_slot - 1)
               : offsetof(ControlBlock, more_teams) +
                     sizeof(TeamSync) * (team_slot - 1 - kFirstTeams);
}
inline TeamSync &team_sync(ControlBlock &control, std::uint32_t team_slot) {
    return team_slot <= kFirstTeams ? control.first_teams[team_slot - 1]
                                    : control.more_teams[team_slot - 1 - kFirstTeams];
}

}  // namespace sennit
