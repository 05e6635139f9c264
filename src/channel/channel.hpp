// One rank's side of a channel, and the steps of a hand-over. Everything that the six calls of a
// hand-over cost where the peer's buffer is mapped stands in this file.
//
// Each direction is a buffer that belongs to the writer until it says `written`, then to the reader
// until that says `read`. The writer counts messages written, the reader messages read: the buffer
// is the writer's while both counts are equal. The counts have 64 bits and only grow, so they are
// compared for equality and never wrap.
//
// Threads: the two directions of a channel may be used by two threads at once; of one direction the
// program orders the calls.
#pragma once

#include <sennit/channel.h>

#include "channel/words.hpp"
#include "runtime/process.hpp"
#include "runtime/wait.hpp"

namespace sennit::channel {

// A handle: generation (8, high bits of it) | place (14) | generation (9, low bits), 0 at the top.
// The place stands where it is its own distance from the start of the table in bytes, and the
// generation is never 0; a handle is also a positive int.
inline constexpr unsigned kIndexBits = 14;
inline constexpr unsigned kPlaceShift = 9;
inline constexpr unsigned kGenerationBits = 17;
inline constexpr std::uint32_t kChannelsPerRank = 1u << kIndexBits;  // place 0 is never used
inline constexpr std::uint32_t kPlaceMask = (kChannelsPerRank - 1) << kPlaceShift;
inline constexpr std::uint32_t kNoHandle = UINT32_MAX;

struct alignas(kLineBytes) Channel {
    // Constant while the channel is open.
    // What a call must name to take the short way: `handle`, or 0 where there is a mirror, the rank
    // is observed, or the place is not open. The handle 0 leads to place 0, which has kNoHandle.
    // SYNC channel-handle.
    std::atomic<std::uint32_t> short_handle;
    std::atomic<std::uint32_t> handle;  // 0: not open; SYNC channel-handle
    Half *own;                          // in this rank's memory, the peer writes
    Half *theirs;                       // in the peer's, this rank writes
    ControlBlock *peer_control;
    bool rings_lightly;   // the peer sleeps with a barrier, and this process has joined those
    bool owns_region;     // `region` was registered for this channel alone
    bool is_closing;      // named once in the close that is under way
    std::int32_t peer;    // world rank
    std::uint32_t flags;  // SENNIT_CHANNEL_*
    std::uint32_t spins;  // Rank::spins

    // Of the writing thread.
    alignas(kLineBytes) std::atomic<std::uint64_t> written;

    // Of the reading thread.
    alignas(kLineBytes) std::atomic<std::uint64_t> read;
    std::uint64_t pulled;  // messages that were brought into the mirror

    // Seldom needed.
    alignas(kLineBytes) std::uint32_t generation;  // of the last handle of this place
    std::uint32_t half;                            // `own`, as the pool counts
    sennit_region region;                          // this rank's buffer
    sennit_gptr peer_memory;                       // the peer's
    std::uint64_t peer_bytes;
    std::byte *peer_buffer;             // where the program reaches it; null if it has no bytes
    std::byte *mirror;                  // or null; then it is peer_buffer
    bool detaches;                      // peer_memory was registered for this channel alone
    std::atomic<std::uint32_t> misses;  // tests that found nothing, for is_peer_gone()
    std::atomic<std::int64_t> looked_ns;
};

static_assert(sizeof(Channel) == 1u << kPlaceShift);

constexpr std::uint32_t make_handle(std::uint32_t place, std::uint32_t generation) {
    return generation >> kPlaceShift << (kPlaceShift + kIndexBits) | place << kPlaceShift |
           (generation & ((1u << kPlaceShift) - 1));
}

// The place that a handle leads to, whatever is there.
inline Channel *place_at(Channel *table, std::uint32_t handle) {
    return reinterpret_cast<Channel *>(reinterpret_cast<std::byte *>(table) +
                                       (handle & kPlaceMask));
}

// The open channel of a handle, or null.
inline Channel *find(const Rank &rank, sennit_channel channel) {
    // SYNC channel-table: pairs with the release in process_show_channels(); the places come
    // before.
    Channel *table = rank.channel_table.load(std::memory_order_acquire);
    if (table == nullptr) return nullptr;
    Channel *it = place_at(table, channel.handle);
    // SYNC channel-handle: pairs with the release in publish(); the fields come before.
    return it->handle.load(std::memory_order_acquire) == channel.handle ? it : nullptr;
}

// The same for the calling thread's rank, if the channel takes the short way; else null, as for a
// thread that is no rank.
inline Channel *find_short(sennit_channel channel) {
    // SYNC channel-table: pairs with the releases in process_show_channels() and
    // publish_only_rank(); the places come before.
    Channel *table = only_channels.load(std::memory_order_acquire);
    if (table == nullptr) [[unlikely]] {
        table = current_rank()->channel_table.load(std::memory_order_acquire);
        if (table == nullptr) return nullptr;
    }
    Channel *it = place_at(table, channel.handle);
    // SYNC channel-handle: pairs with the release in publish(); the fields come before.
    if (it->short_handle.load(std::memory_order_acquire) != channel.handle) [[unlikely]]
        return nullptr;
    return it;
}

// The peer has closed: it reads no more, and writes no more.
inline bool is_closed_by_peer(const Channel &it) {
    // SYNC channel-closed: pairs with the release in close_own_end(); its last message comes
    // before.
    return (it.own->written.word.load(std::memory_order_acquire) & kClosedBit) != 0;
}

// Whether the peer has read all that this rank wrote, and has not closed.
inline bool may_write(const Channel &it) {
    // relaxed: of this thread, or of one that the program has ordered before.
    const std::uint64_t written = it.written.load(std::memory_order_relaxed);
    // SYNC channel-read: pairs with the release in note_written(), of the peer; its use of the
    // buffer comes before.
    const std::uint64_t word = it.own->written.word.load(std::memory_order_acquire);
    if (reads_in(word) == written) return true;
    if ((word & kClosedBit) != 0) return false;
    // SYNC channel-read: pairs with the release in note_read(), of the peer.
    return it.own->read.count.load(std::memory_order_acquire) == written;
}

// Whether the peer has read all that this rank wrote, closed or not.
inline bool is_all_read(const Channel &it) {
    // relaxed: as in may_write().
    const std::uint64_t written = it.written.load(std::memory_order_relaxed);
    // SYNC channel-read: pairs with the release in note_read(), of the peer.
    return may_write(it) || it.own->read.count.load(std::memory_order_acquire) == written;
}

// Only after may_write().
inline void note_written(Channel &it) {
    // relaxed twice: of this thread, as in may_write().
    const std::uint64_t next = it.written.load(std::memory_order_relaxed) + 1;
    it.written.store(next, std::memory_order_relaxed);
    // SYNC channel-own-read: pairs with the release in note_read(), perhaps of another thread of
    // this rank; its use of the peer's message comes before.
    const std::uint64_t read = it.read.load(std::memory_order_acquire);
    // SYNC channel-written: pairs with the acquire in may_read(), at the peer; the message comes
    // before. SYNC channel-read: pairs with the acquire in may_write(), at the peer. A full fence
    // and therefore a release, which is faster than one alone: the line is taken at once.
    store_and_ring(it.theirs->written.word, pack(next, read), *it.peer_control);
}

// Whether there is a message that this rank has not read.
inline bool may_read(const Channel &it) {
    // SYNC channel-written: pairs with the release in note_written(), of the peer; the message
    // comes before.
    const std::uint64_t word = it.own->written.word.load(std::memory_order_acquire);
    // relaxed: of this thread, as in may_write().
    return has_message(word, it.read.load(std::memory_order_relaxed));
}

// Only after may_read().
inline void note_read(Channel &it) {
    // relaxed: of this thread.
    const std::uint64_t next = it.read.load(std::memory_order_relaxed) + 1;
    // SYNC channel-own-read: pairs with the acquire in note_written().
    it.read.store(next, std::memory_order_release);
    // SYNC channel-read: pairs with the acquire in may_write(), at the peer; the use of the message
    // comes before. Both ways are at least a release. The light one: whoever answers by a message
    // does so next, and a fence would stand in its way.
    if (it.rings_lightly) {
        store_and_ring_lightly(it.theirs->read.count, next, *it.peer_control);
    } else {
        store_and_ring(it.theirs->read.count, next, *it.peer_control);
    }
}

// What is left of the calls: mirrors, observers, peers that closed or died, waits. The pointer to
// the flag may be null: then permission is an error if it is not there (have_written, have_read).
// Errors: STATE (closed by the peer; no permission), PEER_LOST, and of the mirror's transfer.
sennit_status test_write(Rank &rank, Channel &it, int *can);
sennit_status test_read(Rank &rank, Channel &it, int *can);
sennit_status hand_over_written(Rank &rank, Channel &it);
sennit_status hand_over_read(Rank &rank, Channel &it);
sennit_status wait_write(Rank &rank, Channel &it, const Deadline &deadline);
sennit_status wait_read(Rank &rank, Channel &it, const Deadline &deadline);

}  // namespace sennit::channel
