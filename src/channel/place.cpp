// SPDX-License-Identifier: BSD-3-Clause
// One end of a channel: its place in the rank's table, its half, and the access to the peer's
// buffer.
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "channel/channels.hpp"
#include "memory/segments.hpp"
#include "op/peer_memory.hpp"
#include "op/resolve.hpp"

namespace sennit::channel {
namespace {

constexpr std::size_t kMirrorAlignment = 64;

// Makes the rank's channels when the first one is opened. Needs the cold mutex.
sennit_status channels_of(Rank &rank) {
    if (rank.channels != nullptr) return SENNIT_OK;
    auto *pairs = static_cast<std::atomic<std::uint8_t> *>(
        std::calloc(size_of(rank), sizeof(std::atomic<std::uint8_t>)));
    auto *made = pairs == nullptr ? nullptr : new (std::nothrow) Channels;
    if (made == nullptr) {
        std::free(pairs);
        return fail(SENNIT_ERR_NOMEM, "no memory for the table of channels");
    }
    made->pairs = pairs;
    rank.channels = made;
    (void)sleep_with_barrier(rank);
    return SENNIT_OK;
}

}  // namespace

void channels_close(Rank &rank) {
    Channels *all = rank.channels;
    if (all == nullptr) return;
    all->table.each([](const Channel &channel) { std::free(channel.mirror); });
    rank.channel_table.hide();
    all->table.close();
    pool_close(all->pool);
    std::free(all->pairs);
    delete all;
    rank.channels = nullptr;
}

sennit_status check_peer(const Rank &rank, int peer) {
    if (peer == rank.world_rank || rank.peers[peer].control != nullptr) return SENNIT_OK;
    const char *const path = sennit_path_name(rank.peers[peer].path);
    if (rank.peers[peer].same_node)
        return fail_peer(SENNIT_ERR_OTHER_NODE, peer, path,
                         "a channel needs load and store, and the path to rank %d is %s", peer,
                         path);
    return fail_peer(SENNIT_ERR_OTHER_NODE, peer, path,
                     "a channel needs a peer on the same node, and rank %d is not", peer);
}

sennit_status take_place(Rank &rank, int peer, Channel **channel) {
    const ColdLock lock(rank);
    sennit_status status = channels_of(rank);
    if (status != SENNIT_OK) return status;
    Channels &all = *rank.channels;
    Channel *made = all.table.take();
    if (made == nullptr) return fail_no_place(all.table.is_full(), ChannelTable::kMost, "channels");
    if (all.table.in_use() == 1) all.table.show(rank.channel_table);
    std::uint32_t half = 0;
    status = half_take(rank, all.pool, peer, &half);
    if (status != SENNIT_OK) {
        all.table.give_back(*made);
        return status;
    }
    Channel &opened = *made;
    std::memset(static_cast<void *>(&opened), 0, sizeof opened);
    opened.peer = peer;
    opened.half = half;
    opened.own = half_at(all.pool, half);
    opened.peer_control = control_of(rank, peer);
    opened.spins = rank.spins;
    *channel = &opened;
    return SENNIT_OK;
}

void begin_not_ready(Channel &channel) {
    // All relaxed: the offer follows and publishes them.
    channel.read.store(kNotReady, std::memory_order_relaxed);
    channel.own->written.word.store(pack(0, kNotReady), std::memory_order_relaxed);
    // may_write_one() is then false, since the count is not the number of messages written (0);
    // may_write_ahead() is false, since the count plus `ahead` is 0.
    channel.own->read.count.store(0 - std::uint64_t{channel.ahead}, std::memory_order_relaxed);
}

void publish(Rank &rank, Channel &channel) {
    ChannelTable &table = rank.channels->table;
    const std::uint32_t handle = table.next_handle(channel);
    const bool is_short = channel.mirror == nullptr && rank.observer == nullptr;
    table.publish(channel, handle);
    // SYNC channel-handle: pairs with the acquires in goes_short() and goes_ahead(); the fields
    // come before.
    channel.short_handle.store(is_short && channel.ahead == 1 ? handle : 0,
                               std::memory_order_release);
    channel.ahead_handle.store(is_short && channel.ahead > 1 ? handle : 0,
                               std::memory_order_release);
}

sennit_status reach_memory(Rank &rank, Channel &channel) {
    if (channel.peer_bytes == 0) return SENNIT_OK;
    memory::SegmentEntry *entry = nullptr;
    sennit_status status = op::resolve(rank, channel.peer_memory, &entry);
    if (status == SENNIT_OK)
        status = op::check_range(*entry, channel.peer_memory, channel.peer_bytes);
    if (status != SENNIT_OK) return status;
    if (entry->base != nullptr) {
        channel.peer_buffer = entry->base + channel.peer_memory.offset;
        return SENNIT_OK;
    }
    const char *path = sennit_path_name(static_cast<sennit_path>(entry->path));
    if ((channel.flags & SENNIT_CHANNEL_MIRROR) == 0)
        return fail_peer(SENNIT_ERR_UNSUPPORTED, channel.peer, path,
                         "the path %s to the buffer of rank %d has no load and store: allocate the "
                         "buffer by sennit_alloc, or allow a copy by SENNIT_CHANNEL_MIRROR",
                         path, channel.peer);
    const std::uint64_t bytes = memory::round_up(channel.peer_bytes, kMirrorAlignment);
    channel.mirror = static_cast<std::byte *>(std::aligned_alloc(kMirrorAlignment, bytes));
    if (channel.mirror == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory for a mirror of %llu bytes",
                    static_cast<unsigned long long>(channel.peer_bytes));
    std::memset(channel.mirror, 0, bytes);
    channel.peer_buffer = channel.mirror;
    return SENNIT_OK;
}

void forget_memory(Rank &rank, Channel &channel) {
    std::free(channel.mirror);
    channel.mirror = nullptr;
    channel.peer_buffer = nullptr;
    if (!channel.detaches) return;
    channel.detaches = false;
    const ColdLock lock(rank);
    const std::uint32_t id = channel.peer_memory.segment;
    const memory::SegmentEntry *entry =
        memory::entry_at(rank, size_of(rank), id, channel.peer_memory.rank);
    if (entry != nullptr && entry->id() == id)
        op::detach_segment(rank, channel.peer_memory.rank, id);
}

void close_own_end(Channel &channel) {
    // relaxed twice: this rank's own, and the program has ordered the calls of its threads.
    const std::uint64_t word = pack(channel.written.load(std::memory_order_relaxed),
                                    channel.read.load(std::memory_order_relaxed));
    // SYNC channel-closed: pairs with the acquires in is_closed_by_peer() and is_reusable(), at the
    // peer; all that this rank wrote comes before.
    channel.theirs->written.word.store(word | kClosedBit, std::memory_order_release);
    ring_doorbell(*channel.peer_control);
}

void release_place(Rank &rank, Channel &channel, bool was_open) {
    forget_memory(rank, channel);
    const ColdLock lock(rank);
    Channels &all = *rank.channels;
    // All relaxed: a call that still finds the handle runs during the close, which is the program's
    // error.
    channel.short_handle.store(0, std::memory_order_relaxed);
    channel.ahead_handle.store(0, std::memory_order_relaxed);
    if (was_open) {
        half_retire(all.pool, channel.half);
    } else {
        half_give_back(all.pool, channel.half);
    }
    all.table.give_back(channel);
}

}  // namespace sennit::channel
