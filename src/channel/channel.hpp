// SPDX-License-Identifier: BSD-3-Clause
// One rank's side of a channel, and the steps of a hand-over. Everything that the six calls of a
// hand-over cost where the peer's buffer is mapped stands in this file.
//
// Each direction is a buffer that belongs to the writer until it says `written`, then to the reader
// until that says `read`. The writer counts messages written, the reader messages read: the buffer
// is the writer's while both counts are equal. The counts have 64 bits and only grow, so they are
// compared for equality and never wrap. With SENNIT_CHANNEL_NOT_READY the count of messages read is
// kNotReady until the reader says that it is ready, and then 0.
//
// With SENNIT_CHANNEL_AHEAD the writer may be `ahead` messages before the reader. Such a channel
// has functions of its own here, whose names end in _ahead, and those of one message end in _one.
//
// Threads: the two directions of a channel may be used by two threads at once; of one direction the
// program orders the calls.
#pragma once

#include <sennit/channel.h>

#include "base/handle_table.hpp"
#include "channel/words.hpp"
#include "rank/process.hpp"
#include "runtime/wait.hpp"

namespace sennit::channel {

// A handle: generation (8, high bits of it) | place (14) | generation (9, low bits), 0 at the top.
// The place stands where it is its own distance from the start of the table in bytes. A handle is
// also a positive int.
inline constexpr unsigned kPlaceShift = 9;
using ChannelHandles = HandleLayout<std::uint32_t, 14, 17, kPlaceShift>;

// How many messages may be unread at once, as the flags say (SENNIT_CHANNEL_AHEAD).
inline constexpr unsigned kAheadMask = 0xff;
constexpr std::uint32_t ahead_in(std::uint32_t flags) {
    const std::uint32_t said = flags / SENNIT_CHANNEL_AHEAD(1) & kAheadMask;
    return said == 0 ? 1 : said;
}

struct alignas(kLineBytes) Channel {
    // Constant while the channel is open.
    // What a call must name to take the short way: `handle`, or 0 where there is a mirror, the rank
    // is observed, or the place is not open. The handle 0 leads to place 0, which has ones.
    // SYNC channel-handle.
    std::atomic<std::uint32_t> short_handle;
    // The same for a channel whose writer may be ahead, which has a way of its own: then
    // `short_handle` is 0, else this.
    std::atomic<std::uint32_t> ahead_handle;
    std::atomic<std::uint32_t> handle;  // 0: not open; SYNC handle
    Half *own;                          // in this rank's memory, the peer writes
    Half *theirs;                       // in the peer's, this rank writes
    ControlBlock *peer_control;
    bool rings_lightly;   // the peer sleeps with a barrier, and this process has joined those
    bool owns_region;     // `region` was registered for this channel alone
    bool is_closing;      // named once in the close that is under way
    std::int32_t peer;    // world rank
    std::uint32_t flags;  // SENNIT_CHANNEL_*
    std::uint32_t spins;  // Rank::spins
    std::uint32_t ahead;  // messages that may be unread at once, 1 to SENNIT_CHANNEL_AHEAD_MOST
    bool shows_lightly;   // messages are shown without a fence, too: rings_lightly, and ahead > 1

    // Of the writing thread.
    alignas(kLineBytes) std::atomic<std::uint64_t> written;
    // So many may be written, by what the peer had read when its line was looked at last. Until
    // then nobody need look there again, so the line stays with the peer.
    std::atomic<std::uint64_t> may_write_to;

    // Of the reading thread.
    alignas(kLineBytes) std::atomic<std::uint64_t> read;
    // The peer's word when this thread looked at it last: what it says to be there need not be
    // looked for again, so the line stays with the peer.
    std::atomic<std::uint64_t> known_word;
    std::uint64_t pulled;  // messages that were brought into the mirror

    // Seldom needed.
    alignas(kLineBytes) std::uint32_t half;  // `own`, as the pool counts
    sennit_region region;                    // this rank's buffer
    sennit_gptr peer_memory;                 // the peer's
    std::uint64_t peer_bytes;
    std::byte *peer_buffer;             // where the program reaches it; null if it has no bytes
    std::byte *mirror;                  // or null; then it is peer_buffer
    bool detaches;                      // peer_memory was registered for this channel alone
    std::atomic<std::uint32_t> misses;  // tests that found nothing, for is_peer_gone()
    std::atomic<std::int64_t> looked_ns;
};

static_assert(sizeof(Channel) == 1u << kPlaceShift);

// So many places are in use before one comes again, and with it its handles.
inline constexpr std::uint32_t kFewestPlaces = 64;
using ChannelTable =
    HandleTable<Channel, ChannelHandles, TableShape{1u << 14, 1u << 14, kFewestPlaces}>;

// The open channel of a handle, or null.
inline Channel *find(const Rank &rank, sennit_channel channel) {
    return ChannelTable::hot_find(rank.channel_table.first(), channel.handle, channel.handle);
}

// What is at the place of the handle, of the calling thread's rank; null as for a thread that is no
// rank.
inline Channel *place_of_handle(sennit_channel channel) {
    return ChannelTable::hot_place(current_table<&HotTables::channel_table>(), channel.handle);
}

// Whether that is the open channel, and takes the short way.
inline bool goes_short(const Channel *own_channel, sennit_channel channel) {
    // SYNC channel-handle: pairs with the release in publish(); the fields come before.
    return own_channel != nullptr &&
           own_channel->short_handle.load(std::memory_order_acquire) == channel.handle;
}

// Whether that is an open channel whose writer may be ahead, which has a way of its own.
inline bool goes_ahead(const Channel *own_channel, sennit_channel channel) {
    // SYNC channel-handle: pairs with the release in publish(); the fields come before.
    return own_channel != nullptr &&
           own_channel->ahead_handle.load(std::memory_order_acquire) == channel.handle;
}

// The peer has closed: it reads no more, and writes no more.
inline bool is_closed_by_peer(const Channel &channel) {
    // SYNC channel-closed: pairs with the release in close_own_end(); its last message comes
    // before.
    return (channel.own->written.word.load(std::memory_order_acquire) & kClosedBit) != 0;
}

// The peer is in a close, in which it waits for what it wrote to be read: it reads no more, and
// writes no more unless its time is over.
inline bool is_peer_closing(const Channel &channel) {
    // SYNC channel-closing: pairs with the release in say_closing(), of the peer; its last message
    // comes before.
    return channel.own->written.is_closing.load(std::memory_order_acquire) != 0;
}

// Whether the peer has read all that this rank wrote, and has not closed: the leave to write where
// one message may be unread.
inline bool may_write_one(const Channel &channel) {
    // relaxed: written by this thread, or by one that the program has ordered before this call.
    const std::uint64_t written = channel.written.load(std::memory_order_relaxed);
    // SYNC channel-read: pairs with the release in note_written(), of the peer; its use of the
    // buffer comes before.
    const std::uint64_t word = channel.own->written.word.load(std::memory_order_acquire);
    if (reads_in(word) == written) return true;
    if ((word & kClosedBit) != 0) return false;
    // SYNC channel-read: pairs with the release in show_read(), of the peer.
    return channel.own->read.count.load(std::memory_order_acquire) == written;
}

// The same where several may be unread: fewer than that are.
inline bool may_write_ahead(Channel &channel) {
    if (is_closed_by_peer(channel)) return false;
    // relaxed: this side's own count.
    const std::uint64_t written = channel.written.load(std::memory_order_relaxed);
    // relaxed: this side's own; the acquire was made when the peer's count was loaded.
    if (written < channel.may_write_to.load(std::memory_order_relaxed)) return true;
    // SYNC channel-read: pairs with the release in show_read(), of the peer; its use of the buffer
    // comes before.
    const std::uint64_t read = channel.own->read.count.load(std::memory_order_acquire);
    // relaxed: this side's own.
    channel.may_write_to.store(read + channel.ahead, std::memory_order_relaxed);
    return written < read + channel.ahead;
}

inline bool may_write(Channel &channel) {
    return channel.ahead == 1 ? may_write_one(channel) : may_write_ahead(channel);
}

// Whether the peer has read all that this rank wrote, closed or not.
inline bool is_all_read(const Channel &channel) {
    // relaxed: this side's own count.
    const std::uint64_t written = channel.written.load(std::memory_order_relaxed);
    if (written == 0) return true;  // also where the peer never said that it is ready
    // SYNC channel-read: pairs with the release in note_written(), of the peer.
    const std::uint64_t word = channel.own->written.word.load(std::memory_order_acquire);
    // SYNC channel-read: pairs with the release in show_read(), of the peer.
    return reads_in(word) == written ||
           channel.own->read.count.load(std::memory_order_acquire) == written;
}

// Counts a message, and returns the word that says so.
inline std::uint64_t count_written(Channel &channel) {
    // relaxed twice: this side's own count.
    const std::uint64_t next = channel.written.load(std::memory_order_relaxed) + 1;
    channel.written.store(next, std::memory_order_relaxed);
    // SYNC channel-own-read: pairs with the release in show_read(), perhaps of another thread of
    // this rank; its use of the peer's message comes before.
    const std::uint64_t read = channel.read.load(std::memory_order_acquire);
    return pack(next, read);
}

// Only after may_write_one().
inline void note_written_one(Channel &channel) {
    // SYNC channel-written: pairs with the acquires in may_read_one() and count_messages(), at the
    // peer; the message comes before. SYNC channel-read: pairs with the acquires in may_write_one()
    // and is_all_read(), at the peer. A release and a fence, which is faster than one alone: the
    // word does not stay in the store buffer.
    store_and_ring(channel.theirs->written.word, count_written(channel), *channel.peer_control);
}

// Only after may_write().
inline void note_written(Channel &channel) {
    if (!channel.shows_lightly) {
        note_written_one(channel);
        return;
    }
    // SYNC channel-written: pairs with the acquire in count_messages(), at the peer; the message
    // comes before. SYNC channel-read: pairs with the acquire in is_all_read(), at the peer. A
    // release alone: who may be ahead goes on, and a fence would wait for all that it has stored.
    store_and_ring_lightly(channel.theirs->written.word, count_written(channel),
                           *channel.peer_control);
}

// How many messages there are that this rank has not read. Where there may be several, looks at the
// peer's word only if fewer than `least` are known.
inline std::uint32_t count_messages(Channel &channel, std::uint32_t least) {
    // relaxed: this side's own count.
    const std::uint64_t read = channel.read.load(std::memory_order_relaxed);
    if (channel.ahead > 1) {
        // relaxed: this side's own; the acquire was made when the word was loaded.
        const std::uint64_t known = channel.known_word.load(std::memory_order_relaxed);
        if (messages_in(known, read) >= least) return messages_in(known, read);
    }
    // SYNC channel-written: pairs with the release in note_written(), of the peer; the messages
    // come before.
    const std::uint64_t word = channel.own->written.word.load(std::memory_order_acquire);
    // relaxed: this side's own.
    channel.known_word.store(word, std::memory_order_relaxed);
    return messages_in(word, read);
}

// Whether there is a message that this rank has not read, where one may be unread.
inline bool may_read_one(const Channel &channel) {
    // SYNC channel-written: pairs with the release in note_written(), of the peer; the message
    // comes before.
    const std::uint64_t word = channel.own->written.word.load(std::memory_order_acquire);
    // relaxed: this side's own count.
    return has_message(word, channel.read.load(std::memory_order_relaxed));
}

// The same where several may be.
inline bool may_read_ahead(Channel &channel) {
    // relaxed twice: this side's own; the acquire was made when the word was loaded.
    const std::uint64_t known = channel.known_word.load(std::memory_order_relaxed);
    return has_message(known, channel.read.load(std::memory_order_relaxed)) ||
           count_messages(channel, 1) != 0;
}

inline bool may_read(Channel &channel) {
    return channel.ahead == 1 ? may_read_one(channel) : may_read_ahead(channel);
}

// Whether the peer may write its first message. Not at first with SENNIT_CHANNEL_NOT_READY.
inline bool is_ready(const Channel &channel) {
    // relaxed: this side's own count.
    return channel.read.load(std::memory_order_relaxed) != kNotReady;
}

// Tells the peer how many of its messages this rank has read; 0: that it is ready.
inline void show_read(Channel &channel, std::uint64_t next) {
    // SYNC channel-own-read: pairs with the acquire in count_written().
    channel.read.store(next, std::memory_order_release);
    // SYNC channel-read: pairs with the acquires in may_write_one() and may_write_ahead(), at the
    // peer; the use of the buffer comes before. Both ways are at least a release. The light one:
    // whoever answers by a message does so next, and a fence would stand in its way.
    if (channel.rings_lightly) {
        store_and_ring_lightly(channel.theirs->read.count, next, *channel.peer_control);
    } else {
        store_and_ring(channel.theirs->read.count, next, *channel.peer_control);
    }
}

// Only after may_read().
inline void note_read(Channel &channel) {
    // relaxed: this side's own.
    show_read(channel, channel.read.load(std::memory_order_relaxed) + 1);
}

// The rest of the calls: mirrors, observers, peers that closed or died, waits. hand_over_written()
// and hand_over_read() need permission; the tests say whether it is there.
// Errors: STATE (closed by the peer; no permission), PEER_LOST, and of the mirror's transfer.
sennit_status test_write(Rank &rank, Channel &channel, int *can);
sennit_status test_read(Rank &rank, Channel &channel, int *can);
sennit_status hand_over_written(Rank &rank, Channel &channel);
sennit_status hand_over_read(Rank &rank, Channel &channel);
sennit_status wait_write(Rank &rank, Channel &channel, const Deadline &deadline);
sennit_status wait_read(Rank &rank, Channel &channel, const Deadline &deadline);
sennit_status wait_messages(Rank &rank, Channel &channel, std::uint32_t least,
                            std::uint32_t *messages, const Deadline &deadline);

}  // namespace sennit::channel
