// SPDX-License-Identifier: BSD-3-Clause
// Closes channels: waits until this rank's messages are read, unless nobody will read them. A
// closing rank announces its close before it waits, so two ranks that close at once do not wait for
// each other. It never waits for the peer's close.
#include "base/fail.hpp"
#include "channel/channels.hpp"
#include "runtime/detector.hpp"

namespace sennit::channel {
namespace {

struct Closing {
    Channel *const *channels;
    std::size_t count;
};

void publish_closing(Channel &channel, bool is_closing) {
    // SYNC channel-closing: pairs with the acquire in is_peer_closing(), at the peer; the messages
    // that this rank wrote come before.
    channel.theirs->written.is_closing.store(is_closing ? 1 : 0, std::memory_order_release);
    ring_doorbell(*channel.peer_control);
}

bool is_drained(const Rank &rank, const Channel &channel) {
    if (is_closed_by_peer(channel) || is_all_read(channel)) return true;
    if (is_peer_closing(channel)) return true;
    return known_gone(rank, channel.peer) != Gone::no;
}

// A LostSearch that reports no rank: a dead peer ends only the wait for its own channel, since
// is_drained() is then true.
int note_lost(Rank &rank, const void *context) {
    const auto &closing = *static_cast<const Closing *>(context);
    for (std::size_t i = 0; i < closing.count; ++i) {
        const Channel &channel = *closing.channels[i];
        if (!is_drained(rank, channel)) (void)peer_gone(rank, channel.peer);
    }
    return -1;
}

sennit_status drain(Rank &rank, const Closing &closing, const Deadline &deadline) {
    std::size_t drained = 0;
    return wait_until(rank, deadline, LostSearch{note_lost, &closing}, [&] {
        while (drained < closing.count && is_drained(rank, *closing.channels[drained]))
            ++drained;
        return drained == closing.count;
    });
}

}  // namespace

sennit_status close_all(Rank &rank, Channel *const *channels, std::size_t count,
                        const Deadline &deadline, sennit_region *regions) {
    for (std::size_t i = 0; i < count; ++i)
        publish_closing(*channels[i], true);
    const sennit_status status = drain(rank, {channels, count}, deadline);
    for (std::size_t i = 0; i < count; ++i) {
        Channel &channel = *channels[i];
        if (status != SENNIT_OK) {
            publish_closing(channel, false);
            continue;
        }
        regions[i] = channel.owns_region ? channel.region : SENNIT_REGION_NULL;
        close_own_end(channel);
        release_place(rank, channel, true);
    }
    return status;
}

}  // namespace sennit::channel
