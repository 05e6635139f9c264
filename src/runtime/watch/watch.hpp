// SPDX-License-Identifier: BSD-3-Clause
// Detects deaths on other nodes and silent hosts. Each rank has a thread for this, and one rank's
// thread is the watcher of the node. The watcher detects deaths on its own node by pidfd, reports
// them to other nodes by TCP, and asks the nodes that it watches whether they are alive.
// docs/design/fabric.md has the protocol ("Silence: the lease", "The detector").
//
// Life: watch_open() -> watch_set_hosts() -> watch_start() -> in use -> watch_stop() ->
// watch_free(). Only a transport to other nodes opens it, so a job on one node has no such threads.
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

// The addresses of a rank's watch, one for each rail, and its port, which is the same on all rails.
// In network byte order. Port 0: the rank has no watch.
struct Host {
    static constexpr unsigned kMostAddresses = 8;
    std::uint32_t addresses[kMostAddresses];
    std::uint32_t count;  // at least 1, unless port is 0
    std::uint16_t port;
};
using HostOf = Host (*)(const void *context, int rank);

// Whether two of `count` nodes watch each other from the start. `one` and `other` are indices, in
// the order of the nodes' lowest ranks.
bool are_neighbours(std::size_t one, std::size_t other, std::size_t count);

// Opens the TCP port of this rank's watch. Errors: OS, NOMEM.
sennit_status watch_open(Rank &rank, std::uint16_t *port);
// `host_of` returns the addresses of any rank's watch. Any thread may call it until watch_stop()
// returns.
void watch_set_hosts(Rank &rank, HostOf host_of, const void *context);
// Starts the thread, if watch_set_hosts() was called. Called after the paths are chosen. `crowded`:
// ranks share processors. Errors: OS, NOMEM.
sennit_status watch_start(Rank &rank, bool crowded);
// Reports to other nodes that this rank leaves, and ends the thread. Queries report nothing
// afterwards.
void watch_stop(Rank &rank);
void watch_free(Rank &rank);

// Whether data may be sent to the peer: the peer's node has a lease, during which it accepts data
// from this node, or that node is lost. If false, this node watches that node from now on. Without
// a lease, a silent peer might accept the data at any later time.
bool watch_has_lease(const Rank &rank, int peer);
// Whether a rank on another node has died or left, as far as is known.
Gone watch_gone(const Rank &rank, int peer);
// A counter. While it does not change, watch_gone() changes for no rank.
std::uint32_t watch_ended(const Rank &rank);
// Whether a rank has died, or a lease has ended, paused or begun again, since the caller's last
// query. `seen` is the caller's state between the queries. `now` is boot_ns(). Called before each
// poll of the network, so it is cheap.
bool watch_has_news(const Rank &rank, std::int64_t now, std::uint32_t *seen);
// Whether this node accepts no data from the peer's node, because the lease has ended or is paused.
bool watch_refuses(const Rank &rank, int peer);
// Whether the peer is gone because its host was silent.
bool watch_silent(const Rank &rank, int peer);

// Records that this rank polls its network. Called often.
void watch_note_look(const Rank &rank);
// Records whether this rank receives messages of the peer over the network:
// - `heard`: messages arrive.
// - `missing`: an expected message has not arrived. The watch asks whether the peer polls its
//   network.
// - `mute`: messages have been missing for too long. While the peer polls its network, this node
//   does not answer the peer's node. After the timeout each node counts as lost at the other.
// Repeat `missing` and `mute` while no message arrives.
enum class Hearing : std::uint8_t { heard, missing, mute };
void watch_note_hearing(const Rank &rank, int peer, Hearing hearing);
// Whether the peer's node reported that the peer has just polled its network.
bool watch_looks(const Rank &rank, int peer);
// Whether the peer's node counts as silent although its watch answered, because none of its
// messages arrived over the network.
bool watch_unheard(const Rank &rank, int peer);

}  // namespace sennit::watch
