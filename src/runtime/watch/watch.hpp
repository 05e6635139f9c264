// SPDX-License-Identifier: BSD-3-Clause
// Detects deaths on other nodes and silent hosts. The lowest live rank of each node is its watcher:
// a thread that detects deaths on its own node by pidfd, reports them to other nodes by TCP, and
// asks each node that it watches whether it is alive. docs/design/fabric.md has the protocol
// ("Silence: the lease", "The detector").
//
// Life: watch_open() -> watch_set_hosts() -> watch_start() -> in use -> watch_stop() ->
// watch_free(). Only a transport to other nodes opens it, so a job on one node has no such thread.
#pragma once

#include <sennit/runtime.h>

#include "rank/rank.hpp"
#include "runtime/watch/table.hpp"

namespace sennit::watch {
class NodeWatch;
}
template <>
struct sennit::PartType<sennit::Part::watch> {
    using Type = sennit::watch::NodeWatch;
};

namespace sennit::watch {

// The addresses of a rank's watch, in network byte order: one port on each of its rails. Port 0:
// none.
struct Host {
    static constexpr unsigned kMostAddresses = 8;
    std::uint32_t addresses[kMostAddresses];
    std::uint32_t count;  // at least 1
    std::uint16_t port;
};
using HostOf = Host (*)(const void *context, int rank);

// Whether two of `count` nodes, in the order of their lowest ranks, watch each other from the
// start.
bool are_neighbours(std::size_t one, std::size_t other, std::size_t count);

// Takes a port. Errors: OS, NOMEM.
sennit_status watch_open(Rank &rank, std::uint16_t *port);
// `host_of` returns the addresses of any rank's watch: any thread may call it, until watch_stop().
void watch_set_hosts(Rank &rank, HostOf host_of, const void *context);
// Called after the paths are agreed. `crowded`: ranks share processors. Does nothing without
// watch_set_hosts(). Errors: OS, NOMEM.
sennit_status watch_start(Rank &rank, bool crowded);
// Tells other nodes that this rank leaves. There is no news afterwards.
void watch_stop(Rank &rank);
void watch_free(Rank &rank);

// Whether the lease of the peer's node for data from this one has begun, or the node is lost. If
// neither, it is watched from now on, and nothing may be sent to the peer: without a lease there is
// no time after which that data can no longer arrive.
bool watch_has_lease(const Rank &rank, int peer);
// The known end of a rank on another node.
Gone watch_gone(const Rank &rank, int peer);
// If this is unchanged, so is watch_gone() of all ranks.
std::uint32_t watch_ended(const Rank &rank);
// Whether anything has changed since the caller's last query. `now` is boot_ns(). Cheap: called
// before each poll of the network.
bool watch_has_news(const Rank &rank, std::int64_t now, std::uint32_t *seen);
// Whether this node no longer accepts data from the peer's node, because it was silent too long.
bool watch_refuses(const Rank &rank, int peer);
// Whether the peer is gone because its host was silent.
bool watch_silent(const Rank &rank, int peer);

// Records that this rank polls its network. Called often.
void watch_note_look(const Rank &rank);
// Records whether this rank receives messages of the peer over the network; repeated while it does
// not. `missing`: the watch asks whether the peer polls its network. `mute`: while the peer does,
// this node no longer answers the peer's node, and after the timeout each is lost for the other.
enum class Hearing : std::uint8_t { heard, missing, mute };
void watch_note_hearing(const Rank &rank, int peer, Hearing hearing);
// Whether the peer's node reported that the peer has just polled its network.
bool watch_looks(const Rank &rank, int peer);
// Whether the peer's node is silent because none of its messages arrived over the network while its
// watch answered.
bool watch_unheard(const Rank &rank, int peer);

}  // namespace sennit::watch
