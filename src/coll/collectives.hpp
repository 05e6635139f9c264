// SPDX-License-Identifier: BSD-3-Clause
// Collective calls on a team, for api/.
#pragma once

#include <sennit/rma.h>

#include "base/clock.hpp"
#include "coll/call.hpp"

namespace sennit::coll {

// Called when a rank starts. Errors: NOMEM.
sennit_status collectives_open(Rank &rank);
// Called before the memory of the rank is freed; open requests end with STATE.
void collectives_close(Rank &rank);

// The following need a CollectiveCall of the team.

// Starts the call, or continues the same one that timed out, and waits for its end.
sennit_status run(Rank &rank, team::Team &team, const Call &call, std::int64_t timeout_ns);
// Starts the call and returns a request.
sennit_status start(Rank &rank, team::Team &team, const Call &call, sennit_request *request);

// Frees the state of the slot's team, which has just been destroyed.
void release(Rank &rank, std::uint32_t slot);
// Fails if a call of the team is still open: with a request, or one that timed out. Errors: STATE,
// TIMEOUT (another thread still works on a request).
sennit_status check_idle(Rank &rank, const team::Team &team);
// Fails if a call that timed out is open. Errors: STATE.
sennit_status check_no_unfinished(Rank &rank, const team::Team &team);

}  // namespace sennit::coll
