// SPDX-License-Identifier: BSD-3-Clause
// Maps the control block of a peer in another process of the node. Called by the transports mapped
// and cma in reach() and forget().
#pragma once

#include "rank/rank.hpp"

namespace sennit::transport {

// Maps the start of the peer's memory file, checks that it is this peer's control block, and sets
// peers[peer].control. Returns code `taken` on success.
Reason control_view_open(Rank &rank, int peer);
void control_view_close(Rank &rank, int peer);

}  // namespace sennit::transport
