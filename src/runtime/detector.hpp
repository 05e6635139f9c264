// SPDX-License-Identifier: BSD-3-Clause
// Detects which ranks have died or left. Not for hot paths: a long wait calls it about once a
// millisecond, some shorter waits once.
#pragma once

#include "base/fail.hpp"
#include "rank/rank.hpp"

namespace sennit {

// Checks one peer now and notes the result. A peer that has called sennit_finalize is `left`, even
// if its process has ended since.
Gone peer_gone(Rank &rank, int peer);

// Whether the peer is in sennit_finalize: it still answers, but opens no more channels.
bool is_leaving(const Rank &rank, int peer);
// Whether the peer's state word says that it has not called sennit_finalize. False if this rank
// cannot read the word, for example that of a rank of another node.
bool is_staying(const Rank &rank, int peer);

// Updates the state of peers on other nodes, but not of peers of this node, which only peer_gone()
// checks. Costs little while none of them ends. Returns the number of ended peers: while it is
// unchanged, known_gone() of all peers is unchanged.
std::uint32_t count_ended(Rank &rank);
// A dead peer, or -1. Call count_ended() before.
int find_dead(const Rank &rank);

// A function for LostSearch (wait.hpp) of a wait for *peer. Returns that peer if it has died or
// left; for kAnyPeer, a rank that has died; else -1. With kAnyPeer a rank that has left does not
// count, because it has done its part before.
int find_lost(Rank &rank, const void *peer);

// Called by a transport that has found that the peer has ended.
void note_gone(Rank &rank, int peer, Gone how);

// Text on how the peer has ended or is about to end: "has left ...".
[[gnu::cold]] const char *how_lost(const Rank &rank, int peer);
// PEER_LOST with that text.
[[gnu::cold]] sennit_status fail_lost(const Rank &rank, int peer);

}  // namespace sennit
