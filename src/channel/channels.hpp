// SPDX-License-Identifier: BSD-3-Clause
// All channels of a rank: opening several at once, closing, and what is kept of them. Called by
// api/ and by the end of a rank.
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
    // By world rank: a thread of this rank is opening a channel with that peer; SYNC channel-pair.
    std::atomic<std::uint8_t> *pairs = nullptr;
};

// The end of a rank, after memory::segments_close().
void channels_close(Rank &rank);

// What is opened with one target.
struct ChannelArgs {
    int peer = -1;  // world rank
    void *buffer = nullptr;
    std::uint64_t bytes = 0;
    sennit_region region{};  // of the buffer; nothing if it has no bytes
    bool owns_region = false;
};

// Can a channel lead there at all? Errors: OTHER_NODE.
sennit_status check_peer(const Rank &rank, int peer);

// Opens a channel with each target, all at once: opened[i] is found by its handle afterwards. On an
// error nothing is open; a peer whose channel of this call was open finds it closed.
// Errors: TIMEOUT, PEER_LOST, NOMEM, OS, ARG (flags of the two sides differ), UNSUPPORTED, and what
// the peer refused with.
sennit_status open_all(Rank &rank, const ChannelArgs *args_of_all, std::size_t count,
                       unsigned flags, const Deadline &deadline, Channel **opened);

// Waits until all that this rank wrote is read, or nobody will read it; then closes all of them.
// After TIMEOUT all are open as before. `regions` gets what is to be deregistered, or none.
// Errors: TIMEOUT.
sennit_status close_all(Rank &rank, Channel *const *channels, std::size_t count,
                        const Deadline &deadline, sennit_region *regions);

// The parts of an end, for open_all() and close_all().

// A place and a half for a channel with `peer`. Errors: NOMEM, OS.
sennit_status take_place(Rank &rank, int peer, Channel **channel);
// The end begins with readers that are not ready (SENNIT_CHANNEL_NOT_READY), here and at the peer.
// Before the peer knows of the half.
void begin_not_ready(Channel &channel);
// Gives the channel its handle.
void publish(Rank &rank, Channel &channel);
// Where this rank loads and stores what the peer's buffer holds. Errors: as open_all().
sennit_status reach_memory(Rank &rank, Channel &channel);
void forget_memory(Rank &rank, Channel &channel);
// Tells the peer that this end is closed: the last that is written to it.
void close_own_end(Channel &channel);
// Gives back all that the end had. `was_met`: the peer knows of the half.
void release_place(Rank &rank, Channel &channel, bool was_met);

}  // namespace sennit::channel
