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

// Notes ranks of other nodes that have ended; call peer_gone() for peers of this node. Costs little
// while no rank ends. Returns the number of peers known to have ended: while this number is
// unchanged, known_gone() of all peers is unchanged.
std::uint32_t count_ended(Rank &rank);
// A dead peer, or -1. Call count_ended() before.
int find_dead(const Rank &rank);

// The search (LostSearch in wait.hpp) of a wait for the rank *peer. Returns that rank if it has
// died or left, else -1. If *peer is kAnyPeer, returns a rank that has died, else -1: a rank that
// has left does not count, because it did its part before.
int find_lost(Rank &rank, const void *peer);

// Called by a transport that has found that the peer has ended.
void note_gone(Rank &rank, int peer, Gone how);

// Text on how the peer has ended or is about to end: "has left ...".
[[gnu::cold]] const char *how_lost(const Rank &rank, int peer);
// PEER_LOST with that text.
[[gnu::cold]] sennit_status fail_lost(const Rank &rank, int peer);

}  // namespace sennit
