// The meeting of a team whose members load and store do not join: of several nodes (Way::nodes), or
// where they do not even join the members of one node (Way::rounds), which are taken for a node
// each. The first member of a node leads it: it waits until the others of its node have come, meets
// the leaders of the other nodes by dissemination (Hensgen, Finkel, Manber 1988), and releases its
// node. In round k the leader of node i stores the epoch at the leader of node i + 2^k and waits
// for the word from node i - 2^k. So what a rank sends does not grow with the ranks of a node.
//
// Letters go along (Bruck 1997): before its word a leader puts the letters that it has, those of
// the nodes i, i - 1, ... i - 2^k + 1, into the *board* of the other leader, where its node reads
// them. Called by barrier.cpp and create.cpp; design and failures: docs/design/collectives.md.
#pragma once

#include "team/team.hpp"

namespace sennit::team {

// Alike on all members, which all know the nodes.
void form_nodes(Rank &rank, Team &team);

// Before the members agree on how they reach each other. Makes the board if this rank may lead its
// node; `*id` is its segment, or 0. Errors: NOMEM, OS.
sennit_status make_board(Rank &rank, Team &team, std::uint32_t *id);
// Nobody meets any more.
void drop_board(Rank &rank, Team &team);

// As meet(), where messages lead to some members.
sennit_status meet_by_nodes(Rank &rank, Team &team, Purpose purpose, const Deadline &deadline);

// After a meeting with letters by Way::nodes: where those of other nodes lie, each at its member's
// place. Errors: those of attaching the leader's memory.
sennit_status find_board(Rank &rank, const Team &team, std::uint64_t number,
                         const std::byte **letters);

// A rank without which the present meeting can not end, or -1. A LostSearch of a Team.
int find_lost_of_nodes(Rank &rank, const void *team);

}  // namespace sennit::team
