// SPDX-License-Identifier: BSD-3-Clause
// Chooses the path to each peer at start-up, and stores it with the reasons for and against each
// path. Attaches segments: fills the entries (memory/entry.hpp) by which a rank reaches them.
#pragma once

#include <sennit/info.h>

#include "base/clock.hpp"
#include "memory/segments.hpp"
#include "transport/transport.hpp"

namespace sennit::path {

// Limits: transports within a node, which are opened first, and transports between nodes.
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

// Opens the allowed transports within a node, and notes those between nodes for
// router_open_networks(). `allowed` has names of paths separated by commas, each perhaps with
// settings after a colon; "" allows all that are on by default. The path self is always allowed. A
// named path that this build does not have is ignored if another one leads to peers. `sink`
// receives events and tasks. Errors: ARG (unknown name, a path named twice, too many names, bad or
// too long settings, or only paths that this build does not have), NOMEM, and the error of a
// transport that does not open.
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

// For the transport in that slot between nodes, after it is connected. Writes this rank's further
// data (transport::more_bytes()).
void router_write_more(Rank &rank, int slot, std::byte *out);
// Then reads the further data of all ranks, `bytes` apart. `all` need not stay valid.
sennit_status router_read_more(Rank &rank, int slot, const std::byte *all, std::size_t bytes);

// Stops the threads of transports, since they call the engine.
void router_stop_threads(Rank &rank);

// Whether the list of allowed paths permits the path.
bool router_allows(Rank &rank, sennit_path path);

// Tries every open path to every peer. usable[peer]: for a peer of this node, the paths that work
// from this rank; for a peer of another node, the paths that the addresses permit.
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
// works both ways for each peer, and stores path and reasons.
void router_agree(Rank &rank, const PathSet *mine, const PathSet *theirs, const Nodes &nodes,
                  const transport::NodeTrial *trials);

// The error of any use of a peer without a path.
[[gnu::cold]] sennit_status fail_no_path(int peer);

// Whether a message transport is the path to some peer, or carries parts of large copies to one.
bool router_needs_engine(Rank &rank);
// The message transport by which the op engine reaches the peer: the peer's path, or for a
// load/store peer the rails that carry parts of large copies; or null.
transport::Transport *message_transport_of(const Rank &rank, int peer);
// Attaches the segment of a load/store entry also by the rails that carry parts of large copies
// (Peer::rail_path). False: they do not reach it. The caller calls detach_by_rail() when no
// operation uses *remote any more.
bool attach_by_rail(Rank &rank, int peer, const memory::SegmentEntry &entry,
                    transport::RemoteMemory *remote);
void detach_by_rail(Rank &rank, int peer, const transport::RemoteMemory &remote);

// Describes the rail `index`, counted over all transports between nodes. False: there are fewer.
bool router_describe_rail(Rank &rank, int peer, unsigned index, sennit_rail *rail);

// The transport of an attached entry of a peer; null for this rank's own.
transport::Transport *transport_of(Rank &rank, const memory::SegmentEntry &entry);
// The same if it is an immediate one, else null.
transport::Transport *immediate_of(Rank &rank, const memory::SegmentEntry &entry);

// Attaches the segment that `record` describes, owned by `peer`, and fills its entry. Uses the
// peer's path, or Peer::copier if the path does not reach private memory, or if XPMEM cannot attach
// the memory here. Needs the rank's cold mutex. Errors: NOMEM, OS, OTHER_NODE, UNSUPPORTED (no path
// reaches this private memory, or it is not host memory).
sennit_status attach(Rank &rank, int peer, const SegmentRecord &record, std::uint32_t id);
// For the first use of a segment: takes the cold mutex, detaches an earlier segment of the same
// index, and attaches this one, unless another thread has attached it first. *entry is its entry.
sennit_status attach_once(Rank &rank, sennit_gptr gptr, const SegmentRecord &record,
                          memory::SegmentEntry **entry);
void detach(Rank &rank, int peer, std::uint32_t id);

// Makes a consistent copy of the record of a segment that the peer alone allocated. The peer's
// control block must be mapped here. False: the peer has no live segment with that id.
bool read_record(Rank &rank, int peer, std::uint32_t id, SegmentRecord *copy);

void router_close(Rank &rank, const Deadline &deadline);

}  // namespace sennit::path
