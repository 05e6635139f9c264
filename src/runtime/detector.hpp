// SPDX-License-Identifier: BSD-3-Clause
// Detects which ranks are still alive. Cold: waits that do not end call it about once a
// millisecond, and some shorter waits once.
#pragma once

#include "base/fail.hpp"
#include "rank/rank.hpp"

namespace sennit {

// Checks one peer now and remembers the result. A peer that left by finalize is `left`, even if its
// process has ended since.
Gone peer_gone(Rank &rank, int peer);

// Whether the peer is in sennit_finalize: it still answers, but opens no more channels.
bool is_leaving(const Rank &rank, int peer);
// Whether the peer's state word says that it has not called sennit_finalize. False if the word is
// out of reach, as that of a rank of another node.
bool is_staying(const Rank &rank, int peer);

// Updates the state of peers on other nodes; costs nothing while none of them ends. Only
// peer_gone() checks peers of this node. Returns the number of ended peers: if it is unchanged, so
// is known_gone() of all peers.
std::uint32_t count_ended(Rank &rank);
// A dead peer, or -1. Call count_ended() before.
int find_dead(const Rank &rank);

// A rank without which a wait for *peer (kAnyPeer: for all ranks) can not end, or -1. A given peer
// must neither have died nor left; of all ranks none must have died, while ranks that left did
// their part before. A LostSearch (wait.hpp).
int find_lost(Rank &rank, const void *peer);

// Called by another part (a transport) that found that the peer is gone.
void note_gone(Rank &rank, int peer, Gone how);

// Text on how the peer has ended or is about to end: "has left ...".
[[gnu::cold]] const char *how_lost(const Rank &rank, int peer);
// PEER_LOST with that text.
[[gnu::cold]] sennit_status fail_lost(const Rank &rank, int peer);

}  // namespace sennit
