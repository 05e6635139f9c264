// SPDX-License-Identifier: BSD-3-Clause
// Which path leads to which peer, decided once in start-up and kept with its reasons, and the
// entries by which a rank reaches a peer's segments. Between the op engine, which wants an entry,
// and the transports, which know how to reach.
#pragma once

#include <sennit/info.h>

#include "base/clock.hpp"
#include "memory/segments.hpp"
#include "transport/transport.hpp"

namespace sennit::path {

// Those of one node, opened first, and those between nodes.
inline constexpr int kTransports = 4;
inline constexpr int kNetworks = 2;

// Makes and opens the transports that `allowed` names ("" means all that are on by default): names
// of paths separated by commas, each with settings behind a colon. The path self is always allowed.
// Completion data that arrives goes to `sink`.
// Errors: ARG (unknown name or bad settings), NOMEM, and what a named transport refuses with.
sennit_status router_open(Rank &rank, const char *allowed, const transport::EventSink &sink);

// Where the job has several nodes: opens the transports between them that are allowed.
sennit_status router_open_networks(Rank &rank, const transport::EventSink &sink);

// Some of the transports: where they begin in the order of preference, and how many slots for
// addresses there are.
struct Slots {
    int first;
    int count;
};
Slots router_node_slots();
Slots router_network_slots(Rank &rank);

// This rank's addresses, one for each slot.
void router_addresses(Rank &rank, Slots slots, transport::Address addresses[]);

// `all` has size * slots.count addresses, by rank; it is copied. Paths of one node get those of
// this one.
sennit_status router_connect(Rank &rank, Slots slots, const transport::Address *all,
                             const Deadline &deadline);

// What the transport in that slot between nodes has to tell when it is connected, and what all
// ranks have told, which is copied.
void router_write_more(Rank &rank, int slot, std::byte *out);
sennit_status router_read_more(Rank &rank, int slot, const std::byte *all, std::size_t bytes);

// No transport has a thread any more that calls the engine.
void router_stop_threads(Rank &rank);

// May the path be taken, as far as the list of allowed paths goes?
bool router_allows(Rank &rank, sennit_path path);

// Tries every allowed path to every peer. Bit p of usable[peer] tells that path p works from here,
// or to another node that the addresses allow it.
void router_try(Rank &rank, std::uint8_t *usable);

// The job's nodes, in the order of their lowest ranks.
struct Nodes {
    const int *of;     // [rank.size], the number of each rank's node
    const int *first;  // [count], its lowest rank
    int count;
};
// Tries the paths between nodes: out[count][kNetworks]. One rank of each node tries, and not all
// nodes where there are many: it takes the others to be like those that it has tried.
void router_try_nodes(Rank &rank, const Nodes &nodes, transport::NodeTrial *out);

// `mine` is what router_try() found, and `theirs` what each peer has found of this rank; `trials`
// is what both nodes say, as router_try_nodes() has it. Takes for each peer the best path that
// works both ways, lets go of the others, and fills path and reasons of every peer.
void router_agree(Rank &rank, const std::uint8_t *mine, const std::uint8_t *theirs,
                  const Nodes &nodes, const transport::NodeTrial *trials);

// The error of all that wants to reach a peer without a path.
[[gnu::cold]] sennit_status fail_no_path(int peer);

// True if some peer is reached by a message transport, or in part.
bool router_needs_engine(Rank &rank);
// The message transport by which the op engine reaches the peer: its path, or the rails beside one
// of load and store; or null.
transport::Transport *message_transport_of(const Rank &rank, int peer);
// How these rails reach the segment of an entry that load and store reach, until it is let go;
// false: they do not.
bool reach_by_rail(Rank &rank, int peer, const memory::SegmentEntry &entry,
                   transport::RemoteMemory *remote);
void let_go_by_rail(Rank &rank, int peer, const transport::RemoteMemory &remote);

// The rail with that index, through all transports between nodes. False: there are not so many.
bool router_describe_rail(Rank &rank, int peer, unsigned index, sennit_rail *rail);

// The transport that serves an attached entry of a peer; null for this rank's own.
transport::Transport *transport_of(Rank &rank, const memory::SegmentEntry &entry);
// The same if it is an immediate one, else null.
transport::Transport *immediate_of(Rank &rank, const memory::SegmentEntry &entry);

// Makes the segment that `record` describes, owned by `peer`, reachable, and fills its entry. The
// path is the peer's, except for private memory, which mapping does not reach, and for what can not
// be attached by XPMEM here.
// Needs the rank's cold mutex. Errors: NOMEM, OS, OTHER_NODE, UNSUPPORTED (private memory that no
// path reaches).
sennit_status attach(Rank &rank, int peer, const SegmentRecord &record, std::uint32_t id);
// The same for a segment that this rank meets for the first time: takes the cold mutex itself, and
// lets go of the segment that had the index before. *entry is where it is filled, also by another
// thread that came first.
sennit_status attach_once(Rank &rank, sennit_gptr gptr, const SegmentRecord &record,
                          memory::SegmentEntry **entry);
void detach(Rank &rank, int peer, std::uint32_t id);

// A stable copy of the record of a local segment whose owner's control block is mapped here.
// False if no live segment has that id.
bool read_record(Rank &rank, int peer, std::uint32_t id, SegmentRecord *copy);

void router_close(Rank &rank, const Deadline &deadline);

}  // namespace sennit::path
