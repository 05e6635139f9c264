// SPDX-License-Identifier: BSD-3-Clause
// Who has died on other nodes, and which hosts are silent. The lowest live rank of each node is its
// watcher: a thread that sees its own node's deaths by pidfd, tells those of other nodes by TCP,
// and asks each node that it watches whether it is still there. docs/design/fabric.md has the
// protocol
// ("Silence: the lease", "The detector").
//
// Life: watch_open() -> watch_meet() -> watch_start() -> in use -> watch_stop() -> watch_free().
// Only a transport that leads to other nodes opens it, so a job on one node has no such thread.
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

// Where a rank's watch listens, in the order of the network: at one port of each of its rails. No
// port: nowhere.
struct Host {
    static constexpr unsigned kMostAddresses = 8;
    std::uint32_t addresses[kMostAddresses];
    std::uint32_t count;  // at least 1
    std::uint16_t port;
};
using HostOf = Host (*)(const void *context, int rank);

// Of `count` nodes, in the order of their lowest ranks: do the two know each other from the start?
bool are_neighbours(std::size_t one, std::size_t other, std::size_t count);

// Takes a port. Errors: OS, NOMEM.
sennit_status watch_open(Rank &rank, std::uint16_t *port);
// `host_of` says where the watches of all ranks are: asked by any thread, until watch_stop().
void watch_meet(Rank &rank, HostOf host_of, const void *context);
// Once the paths are agreed. `crowded`: ranks share processors. Nothing where watch_meet() was not
// called. Errors: OS, NOMEM.
sennit_status watch_start(Rank &rank, bool crowded);
// Tells other nodes that this rank leaves. From here on there is no news.
void watch_stop(Rank &rank);
void watch_free(Rank &rank);

// Does the peer's node accept from this one for a time that this one knows of, or is it lost? If
// not it is watched from now on, and nothing may be sent to the peer: nobody could tell when that
// can not land any more.
bool watch_has_lease(const Rank &rank, int peer);
// What is known of a rank on another node.
Gone watch_gone(const Rank &rank, int peer);
// Where this is as before, watch_gone() is too, of all ranks.
std::uint32_t watch_ended(const Rank &rank);
// Has anything changed since the caller last asked? `now` is boot_ns(). Cheap: before each look at
// the network.
bool watch_has_news(const Rank &rank, std::int64_t now, std::uint32_t *seen);
// Does this node accept nothing from the peer's any more, since it has been silent for too long?
bool watch_refuses(const Rank &rank, int peer);
// Does the peer count as gone because its host was silent?
bool watch_silent(const Rank &rank, int peer);

// This rank looks at its network. Often.
void watch_note_look(const Rank &rank);
// Does this rank hear nothing of the peer by the network, though it asks? Said again and again for
// as long as it is so. `missing`: the watch finds out whether the peer looks at its network.
// `mute`: as long as it does, this node answers the peer's no more, and after the timeout each
// counts as lost for the other.
enum class Hearing : std::uint8_t { heard, missing, mute };
void watch_note_hearing(const Rank &rank, int peer, Hearing hearing);
// Did the peer look at its network just now, as its node has said?
bool watch_looks(const Rank &rank, int peer);
// Does the peer's node count as silent because it was not heard by the network, while its watch
// answered?
bool watch_unheard(const Rank &rank, int peer);

}  // namespace sennit::watch
