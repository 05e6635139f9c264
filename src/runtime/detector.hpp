// Who is still there. Cold: called about once a millisecond by waits that do not end.
#pragma once

#include "runtime/rank.hpp"

namespace sennit {

// Looks at one peer now, and remembers. A peer that left by finalize is `left` even when its
// process has ended since.
Gone peer_gone(Rank &rank, int peer);

// Is there no hope for a wait for `peer` (kAnyPeer: for all ranks)? A given peer must neither have
// died nor left; of all ranks none must have died, while those that left did their part before.
bool wait_is_senseless(Rank &rank, int peer);

// The lowest rank known to have died, or -1.
int first_dead(Rank &rank);

// Another part (a transport) found that the peer is gone.
void note_gone(Rank &rank, int peer, Gone how);

}  // namespace sennit
