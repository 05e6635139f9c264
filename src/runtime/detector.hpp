// SPDX-License-Identifier: BSD-3-Clause
// Who is still there. Cold: called about once a millisecond by waits that do not end, and by some
// that end sooner.
#pragma once

#include "base/fail.hpp"
#include "rank/rank.hpp"

namespace sennit {

// Looks at one peer now, and remembers. A peer that left by finalize is `left` even when its
// process has ended since.
Gone peer_gone(Rank &rank, int peer);

// Is the peer in sennit_finalize? It answers there, but opens no channel any more.
bool is_leaving(const Rank &rank, int peer);
// Has it not called sennit_finalize, as its control block says? False where that is not to be seen.
bool is_staying(const Rank &rank, int peer);

// Finds what has become of peers on other nodes, which cost nothing while none of them ends. Those
// of this node are found by peer_gone() alone. How many peers have ended: where that is as before,
// known_gone() is too, of all.
std::uint32_t count_ended(Rank &rank);
// Has any peer died? After count_ended(); -1: none.
int find_dead(const Rank &rank);

// The rank without which a wait for *peer (kAnyPeer: for all ranks) has no hope, or -1. A given
// peer must neither have died nor left; of all ranks none must have died, while those that left did
// their part before. A LostSearch (wait.hpp).
int find_lost(Rank &rank, const void *peer);

// Another part (a transport) found that the peer is gone.
void note_gone(Rank &rank, int peer, Gone how);

// How the peer is known to have ended, or that it is about to: "has left ...".
[[gnu::cold]] const char *how_lost(const Rank &rank, int peer);
// PEER_LOST, with that.
[[gnu::cold]] sennit_status fail_lost(const Rank &rank, int peer);

}  // namespace sennit
