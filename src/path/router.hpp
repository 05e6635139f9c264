// SPDX-License-Identifier: BSD-3-Clause
// The path to each peer, chosen once at start-up and stored with the reasons, and the entries by
// which a rank reaches a peer's segments. The op engine needs the entries; the transports reach the
// memory.
#pragma once

#include <sennit/info.h>

#include "base/clock.hpp"
#include "memory/segments.hpp"
#include "transport/transport.hpp"

namespace sennit::path {

// The number of transports within a node, opened first, and of those between nodes.
inline constexpr int kTransports = 4;
inline constexpr int kNetworks = 2;

// Bit p: path p.
using PathSet = std::uint16_t;
static_assert(SENNIT_PATH_END <= 16);
constexpr PathSet path_bit(sennit_path path) {
    return static_cast<PathSet>(1u << path);
}
constexpr bool has_path(PathSet set, sennit_path path) {
    return (set & path_bit(path)) != 0;
}

// Makes and opens the transports in `allowed` ("": all that are on by default): names of paths
// separated by commas, each with settings after a colon. The path self is always allowed. Arriving
// completion data goes to `sink`. A named path that this build does not have is ignored if another
// one leads to peers. Errors: ARG (unknown name, bad settings, or only paths that this build does
// not have), NOMEM, and the error of a named transport that refuses.
sennit_status router_open(Rank &rank, const char *allowed, const transport::EventSink &sink);

// In a job of several nodes: opens the allowed transports between them.
sennit_status router_open_networks(Rank &rank, const transport::EventSink &sink);

// A range of transports: its start in the order of preference, and the number of address slots.
struct Slots {
    int first;
    int count;
};
Slots router_node_slots();
Slots router_network_slots(Rank &rank);

// This rank's addresses, one for each slot.
void router_addresses(Rank &rank, Slots slots, transport::Address addresses[]);

// `all` has size * slots.count addresses, by rank; it is copied. Paths within a node get only the
// addresses of this node.
sennit_status router_connect(Rank &rank, Slots slots, const transport::Address *all,
                             const Deadline &deadline);

// The further data of the transport in that slot between nodes, after it is connected; then the
// data of all ranks, which is copied.
void router_write_more(Rank &rank, int slot, std::byte *out);
sennit_status router_read_more(Rank &rank, int slot, const std::byte *all, std::size_t bytes);

// Stops the threads of transports, which call the engine.
void router_stop_threads(Rank &rank);

// Whether the list of allowed paths permits the path.
bool router_allows(Rank &rank, sennit_path path);

// Tries every allowed path to every peer. usable[peer]: the paths that work from here or, to
// another node, that the addresses permit.
void router_try(Rank &rank, PathSet *usable);

// The job's nodes, in the order of their lowest ranks.
struct Nodes {
    const int *of;     // [rank.size], the number of each rank's node
    const int *first;  // [count], its lowest rank
    int count;
};
// Tries the paths between nodes: out[count][kNetworks]. One rank of each node tries. With many
// nodes it tries only some and assumes that the others are alike.
void router_try_nodes(Rank &rank, const Nodes &nodes, transport::NodeTrial *out);

// `mine`: the result of router_try(); `theirs`: each peer's result for this rank; `trials`: the
// combined results of both nodes, in the form of router_try_nodes(). Chooses the best path that
// works both ways for each peer, releases the others, and stores path and reasons of every peer.
void router_agree(Rank &rank, const PathSet *mine, const PathSet *theirs, const Nodes &nodes,
                  const transport::NodeTrial *trials);

// The error of any use of a peer without a path.
[[gnu::cold]] sennit_status fail_no_path(int peer);

// Whether a message transport reaches some peer, or transfers a part of the data.
bool router_needs_engine(Rank &rank);
// The message transport by which the op engine reaches the peer: its path, or rails besides a path
// of load and store; or null.
transport::Transport *message_transport_of(const Rank &rank, int peer);
// Attaches the segment of an entry with load and store by these rails, until the entry is detached.
// False: they do not reach it.
bool reach_by_rail(Rank &rank, int peer, const memory::SegmentEntry &entry,
                   transport::RemoteMemory *remote);
void let_go_by_rail(Rank &rank, int peer, const transport::RemoteMemory &remote);

// The rail with that index over all transports between nodes. False: there are fewer.
bool router_describe_rail(Rank &rank, int peer, unsigned index, sennit_rail *rail);

// The transport of an attached entry of a peer; null for this rank's own.
transport::Transport *transport_of(Rank &rank, const memory::SegmentEntry &entry);
// The same if it is an immediate one, else null.
transport::Transport *immediate_of(Rank &rank, const memory::SegmentEntry &entry);

// Attaches the segment that `record` describes, owned by `peer`, and fills its entry. Uses the
// peer's path, except for private memory that mapping does not reach, and for memory that XPMEM can
// not attach here. Needs the rank's cold mutex. Errors: NOMEM, OS, OTHER_NODE, UNSUPPORTED (private
// memory that no path reaches).
sennit_status attach(Rank &rank, int peer, const SegmentRecord &record, std::uint32_t id);
// The same for the first use of a segment: takes the cold mutex itself, and detaches the earlier
// segment of the index. *entry is the filled entry, perhaps filled by another thread first.
sennit_status attach_once(Rank &rank, sennit_gptr gptr, const SegmentRecord &record,
                          memory::SegmentEntry **entry);
void detach(Rank &rank, int peer, std::uint32_t id);

// Makes a stable copy of the record of a local segment whose owner's control block is mapped here.
// False: no live segment has that id.
bool read_record(Rank &rank, int peer, std::uint32_t id, SegmentRecord *copy);

void router_close(Rank &rank, const Deadline &deadline);

}  // namespace sennit::path
