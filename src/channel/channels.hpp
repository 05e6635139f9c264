// SPDX-License-Identifier: BSD-3-Clause
// All channels of a rank: opens several at once, closes them, and owns their state. Called by api/
// and at the end of a rank.
#pragma once

#include "channel/channel.hpp"
#include "channel/pool.hpp"
#include "rank/part.hpp"

namespace sennit::channel {
struct Channels;
}
template <>
struct sennit::PartType<sennit::Part::channels> {
    using Type = sennit::channel::Channels;
};

namespace sennit::channel {

struct Channels {
    ChannelTable table;
    Pool pool;
    // By world rank: 1 while a thread of this rank opens a channel with that peer; SYNC
    // channel-pair.
    std::atomic<std::uint8_t> *pairs = nullptr;
};

// Called at the end of a rank, after memory::segments_close().
void channels_close(Rank &rank);

// The arguments of the channel with one target.
struct ChannelArgs {
    int peer = -1;  // world rank
    void *buffer = nullptr;
    std::uint64_t bytes = 0;
    sennit_region region{};  // of the buffer; zeros if it has no bytes
    bool owns_region = false;
};

// Whether a channel to the peer is possible. Errors: OTHER_NODE.
sennit_status check_peer(const Rank &rank, int peer);

// Opens a channel with each target, all at once; afterwards find() returns opened[i] for its
// handle. On an error nothing is open; a peer that had already opened its end finds the channel
// closed. Errors: TIMEOUT, PEER_LOST, NOMEM, OS, ARG (the flags of the two sides differ),
// UNSUPPORTED, and the peer's reason for a refusal.
sennit_status open_all(Rank &rank, const ChannelArgs *args_of_all, std::size_t count,
                       unsigned flags, const Deadline &deadline, Channel **opened);

// Waits until this rank's messages are read or nobody will read them, then closes the channels.
// After TIMEOUT the channels are open as before. regions[i] becomes the region to deregister, or
// SENNIT_REGION_NULL. Errors: TIMEOUT.
sennit_status close_all(Rank &rank, Channel *const *channels, std::size_t count,
                        const Deadline &deadline, sennit_region *regions);

// One end of a channel, for open_all() and close_all().

// Takes a place in the table and a Half, for a channel with `peer`. Errors: NOMEM, OS.
sennit_status take_place(Rank &rank, int peer, Channel **channel);
// Both readers start as not ready (SENNIT_CHANNEL_NOT_READY). Called before the peer knows of the
// Half.
void begin_not_ready(Channel &channel);
// Gives the channel its handle.
void publish(Rank &rank, Channel &channel);
// Finds the address at which this rank reaches the peer's buffer. Errors: as open_all().
sennit_status reach_memory(Rank &rank, Channel &channel);
void forget_memory(Rank &rank, Channel &channel);
// Marks this end as closed, for the peer. This is the last write to the peer.
void close_own_end(Channel &channel);
// Frees everything that the end has. `was_open`: the peer may still write to the Half.
void release_place(Rank &rank, Channel &channel, bool was_open);

}  // namespace sennit::channel
