// SPDX-License-Identifier: BSD-3-Clause
// One rank's side of a channel, and the inline steps of a hand-over. A hand-over through a mapped
// buffer needs nothing else, unless it has to wait.
//
// Each direction has a buffer. It belongs to the writer until the writer counts it as written, then
// to the reader until the reader counts it as read. The writer counts messages written, the reader
// messages read; the writer owns the buffer while both counts are equal. The counts have 64 bits
// and only grow, so they never wrap. With SENNIT_CHANNEL_NOT_READY the count of messages read is
// kNotReady until the reader is ready, then 0.
//
// With SENNIT_CHANNEL_AHEAD up to `ahead` messages may be unread. The functions for such a channel
// end in _ahead, those for one message in _one.
//
// Threads: two threads may use the two directions of a channel at the same time; the program orders
// the calls of one direction.
#pragma once

#include <sennit/channel.h>

#include "base/handle_table.hpp"
#include "channel/words.hpp"
#include "rank/process.hpp"
#include "runtime/wait.hpp"

namespace sennit::channel {

// A handle has 31 bits, so that it is also a positive int: 8 high bits of the generation, 14 bits
// of the place, 9 low bits of the generation. The place is shifted so that it is the distance in
// bytes from the start of the table.
inline constexpr unsigned kPlaceShift = 9;
using ChannelHandles = HandleLayout<std::uint32_t, 14, 17, kPlaceShift>;

// The number of messages that may be unread at once, from the flags (SENNIT_CHANNEL_AHEAD).
inline constexpr unsigned kAheadMask = 0xff;
constexpr std::uint32_t ahead_in(std::uint32_t flags) {
    const std::uint32_t given = flags / SENNIT_CHANNEL_AHEAD(1) & kAheadMask;
    return given == 0 ? 1 : given;
}

struct alignas(kLineBytes) Channel {
    // Constant while the channel is open. The handle for the short way, which ignores mirrors and
    // observers: equals `handle`, or 0 if `ahead` > 1, there is a mirror, the rank has an observer,
    // or the channel is not open. In place 0 it is all ones instead of 0, so that handle 0 finds no
    // channel. SYNC channel-handle.
    std::atomic<std::uint32_t> short_handle;
    // The same if the writer may be ahead (`ahead` > 1). At least one of the two handles is 0.
    std::atomic<std::uint32_t> ahead_handle;
    std::atomic<std::uint32_t> handle;  // 0: not open; SYNC handle
    Half *own;                          // in this rank's memory; written by the peer
    Half *theirs;                       // in the peer's memory; written by this rank
    ControlBlock *peer_control;
    bool rings_lightly;      // store_and_ring_lightly() suffices to wake the peer
    bool owns_region;        // `region` was registered for this channel alone
    bool is_closing;         // marks duplicates in the arguments of a close
    std::int32_t peer;       // world rank
    std::uint32_t flags;     // SENNIT_CHANNEL_*
    std::uint32_t spins;     // Rank::spins
    std::uint32_t ahead;     // messages that may be unread at once, 1 to SENNIT_CHANNEL_AHEAD_MOST
    bool publishes_lightly;  // messages are also stored without a fence: rings_lightly, and ahead >
                             // 1

    // The writing thread's line.
    alignas(kLineBytes) std::atomic<std::uint64_t> written;
    // Messages may be written up to this count, which was computed from the last load of the peer's
    // count. Until `written` reaches it, the peer's count is not loaded, so its line stays in the
    // peer's cache.
    std::atomic<std::uint64_t> may_write_to;

    // The reading thread's line.
    alignas(kLineBytes) std::atomic<std::uint64_t> read;
    // The peer's word from this thread's last load. While it shows unread messages, the word is not
    // loaded again, so its line stays in the peer's cache.
    std::atomic<std::uint64_t> known_word;
    std::uint64_t pulled;  // messages that were copied into the mirror

    // Rarely needed.
    alignas(kLineBytes) std::uint32_t half;  // number of `own` in the pool
    sennit_region region;                    // this rank's buffer
    sennit_gptr peer_memory;                 // the peer's buffer
    std::uint64_t peer_bytes;
    std::byte *peer_buffer;             // its address for the program; null if it has no bytes
    std::byte *mirror;                  // null, or equal to peer_buffer
    bool detaches;                      // peer_memory was registered for this channel alone
    std::atomic<std::uint32_t> misses;  // tests that found nothing, for is_peer_gone()
    std::atomic<std::int64_t> checked_ns;
};

static_assert(sizeof(Channel) == 1u << kPlaceShift);

// The number of places that are used before the first one is reused.
inline constexpr std::uint32_t kFewestPlaces = 64;
using ChannelTable =
    HandleTable<Channel, ChannelHandles, TableShape{1u << 14, 1u << 14, kFewestPlaces}>;

// The open channel of a handle, or null.
inline Channel *find(const Rank &rank, sennit_channel channel) {
    return ChannelTable::hot_find(rank.channel_table.first(), channel.handle, channel.handle);
}

// The channel at the place of the handle in the calling thread's rank; null if the thread has no
// rank.
inline Channel *place_of_handle(sennit_channel channel) {
    return ChannelTable::hot_place(current_table<&HotTables::channel_table>(), channel.handle);
}

// Whether this is the channel of the handle, open and with the short way.
inline bool goes_short(const Channel *own_channel, sennit_channel channel) {
    // SYNC channel-handle: pairs with the release in publish(); the fields come before.
    return own_channel != nullptr &&
           own_channel->short_handle.load(std::memory_order_acquire) == channel.handle;
}

// Whether this is the channel of the handle, open and with a writer that may be ahead.
inline bool goes_ahead(const Channel *own_channel, sennit_channel channel) {
    // SYNC channel-handle: pairs with the release in publish(); the fields come before.
    return own_channel != nullptr &&
           own_channel->ahead_handle.load(std::memory_order_acquire) == channel.handle;
}

// Whether the peer has closed: it no longer reads or writes.
inline bool is_closed_by_peer(const Channel &channel) {
    // SYNC channel-closed: pairs with the release in close_own_end(); its last message comes
    // before.
    return (channel.own->written.word.load(std::memory_order_acquire) & kClosedBit) != 0;
}

// Whether the peer is in a close and waits until its messages are read. It no longer reads, and
// writes only if the close times out.
inline bool is_peer_closing(const Channel &channel) {
    // SYNC channel-closing: pairs with the release in publish_closing(), of the peer; its last
    // message comes before.
    return channel.own->written.is_closing.load(std::memory_order_acquire) != 0;
}

// Whether this rank may write, if at most one message may be unread: the peer has read all messages
// and has not closed.
inline bool may_write_one(const Channel &channel) {
    // relaxed: written by this thread, or by one that the program has ordered before this call.
    const std::uint64_t written = channel.written.load(std::memory_order_relaxed);
    // SYNC channel-read: pairs with the release in note_written(), of the peer; its use of the
    // buffer comes before.
    const std::uint64_t word = channel.own->written.word.load(std::memory_order_acquire);
    if (reads_in(word) == written) return true;
    if ((word & kClosedBit) != 0) return false;
    // SYNC channel-read: pairs with the release in publish_read(), of the peer.
    return channel.own->read.count.load(std::memory_order_acquire) == written;
}

// may_write_one() for a channel on which several messages may be unread.
inline bool may_write_ahead(Channel &channel) {
    if (is_closed_by_peer(channel)) return false;
    // relaxed: this side's own count.
    const std::uint64_t written = channel.written.load(std::memory_order_relaxed);
    // relaxed: this side's own; the acquire was done when the peer's count was loaded.
    if (written < channel.may_write_to.load(std::memory_order_relaxed)) return true;
    // SYNC channel-read: pairs with the release in publish_read(), of the peer; its use of the
    // buffer comes before.
    const std::uint64_t read = channel.own->read.count.load(std::memory_order_acquire);
    // relaxed: this side's own.
    channel.may_write_to.store(read + channel.ahead, std::memory_order_relaxed);
    return written < read + channel.ahead;
}

inline bool may_write(Channel &channel) {
    return channel.ahead == 1 ? may_write_one(channel) : may_write_ahead(channel);
}

// Whether the peer has read all messages of this rank; also after the peer has closed.
inline bool is_all_read(const Channel &channel) {
    // relaxed: this side's own count.
    const std::uint64_t written = channel.written.load(std::memory_order_relaxed);
    if (written == 0) return true;  // also if the peer was never ready
    // SYNC channel-read: pairs with the release in note_written(), of the peer.
    const std::uint64_t word = channel.own->written.word.load(std::memory_order_acquire);
    // SYNC channel-read: pairs with the release in publish_read(), of the peer.
    return reads_in(word) == written ||
           channel.own->read.count.load(std::memory_order_acquire) == written;
}

// Counts a message and returns the word for the peer.
inline std::uint64_t count_written(Channel &channel) {
    // relaxed twice: this side's own count.
    const std::uint64_t next = channel.written.load(std::memory_order_relaxed) + 1;
    channel.written.store(next, std::memory_order_relaxed);
    // SYNC channel-own-read: pairs with the release in publish_read(), perhaps of another thread of
    // this rank; its use of the peer's message comes before.
    const std::uint64_t read = channel.read.load(std::memory_order_acquire);
    return pack(next, read);
}

// Only after may_write_one().
inline void note_written_one(Channel &channel) {
    // SYNC channel-written: pairs with the acquires in may_read_one() and count_messages(), at the
    // peer; the message comes before. SYNC channel-read: pairs with the acquires in may_write_one()
    // and is_all_read(), at the peer. A release and a fence are faster than a release alone: the
    // word does not stay in the store buffer.
    store_and_ring(channel.theirs->written.word, count_written(channel), *channel.peer_control);
}

// Only after may_write().
inline void note_written(Channel &channel) {
    if (!channel.publishes_lightly) {
        note_written_one(channel);
        return;
    }
    // SYNC channel-written: pairs with the acquire in count_messages(), at the peer; the message
    // comes before. SYNC channel-read: pairs with the acquire in is_all_read(), at the peer. Only a
    // release: a writer that may be ahead continues at once, and a fence would wait for all its
    // stores.
    store_and_ring_lightly(channel.theirs->written.word, count_written(channel),
                           *channel.peer_control);
}

// The number of messages that this rank has not read. If several may be unread, loads the peer's
// word only if fewer than `least` are known.
inline std::uint32_t count_messages(Channel &channel, std::uint32_t least) {
    // relaxed: this side's own count.
    const std::uint64_t read = channel.read.load(std::memory_order_relaxed);
    if (channel.ahead > 1) {
        // relaxed: this side's own; the acquire was done when the word was loaded.
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

// Whether there is an unread message, if at most one may be unread.
inline bool may_read_one(const Channel &channel) {
    // SYNC channel-written: pairs with the release in note_written(), of the peer; the message
    // comes before.
    const std::uint64_t word = channel.own->written.word.load(std::memory_order_acquire);
    // relaxed: this side's own count.
    return has_message(word, channel.read.load(std::memory_order_relaxed));
}

// may_read_one() for a channel on which several messages may be unread.
inline bool may_read_ahead(Channel &channel) {
    // relaxed twice: this side's own; the acquire was done when the word was loaded.
    const std::uint64_t known = channel.known_word.load(std::memory_order_relaxed);
    return has_message(known, channel.read.load(std::memory_order_relaxed)) ||
           count_messages(channel, 1) != 0;
}

inline bool may_read(Channel &channel) {
    return channel.ahead == 1 ? may_read_one(channel) : may_read_ahead(channel);
}

// Whether the peer may write its first message. False at the start with SENNIT_CHANNEL_NOT_READY.
inline bool is_ready(const Channel &channel) {
    // relaxed: this side's own count.
    return channel.read.load(std::memory_order_relaxed) != kNotReady;
}

// Publishes how many of the peer's messages this rank has read; 0: this rank is ready.
inline void publish_read(Channel &channel, std::uint64_t next) {
    // SYNC channel-own-read: pairs with the acquire in count_written().
    channel.read.store(next, std::memory_order_release);
    // SYNC channel-read: pairs with the acquires in may_write_one() and may_write_ahead(), at the
    // peer; the use of the buffer comes before. Both branches are at least a release. The light one
    // has no fence, because a fence would delay the reader's next message.
    if (channel.rings_lightly) {
        store_and_ring_lightly(channel.theirs->read.count, next, *channel.peer_control);
    } else {
        store_and_ring(channel.theirs->read.count, next, *channel.peer_control);
    }
}

// Only after may_read().
inline void note_read(Channel &channel) {
    // relaxed: this side's own.
    publish_read(channel, channel.read.load(std::memory_order_relaxed) + 1);
}

// The cold part of the calls: mirrors, observers, peers that closed or died, waits. test_write()
// and test_read() return whether this rank has the buffer; hand_over_written() and hand_over_read()
// fail if it does not. Errors: STATE (the peer has closed, or this rank does not have the buffer),
// PEER_LOST, TIMEOUT of a wait, and those of the copy of a mirror.
sennit_status test_write(Rank &rank, Channel &channel, int *can);
sennit_status test_read(Rank &rank, Channel &channel, int *can);
sennit_status hand_over_written(Rank &rank, Channel &channel);
sennit_status hand_over_read(Rank &rank, Channel &channel);
sennit_status wait_write(Rank &rank, Channel &channel, const Deadline &deadline);
sennit_status wait_read(Rank &rank, Channel &channel, const Deadline &deadline);
sennit_status wait_messages(Rank &rank, Channel &channel, std::uint32_t least,
                            std::uint32_t *messages, const Deadline &deadline);

}  // namespace sennit::channel
