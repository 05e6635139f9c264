// Collective calls.
#include <sennit/coll.h>

#include "api/call.hpp"
#include "team/team.hpp"

using namespace sennit;
using namespace sennit::api;

extern "C" sennit_status sennit_barrier(sennit_team team, int64_t timeout_ns) {
    const char *const name = "sennit_barrier";
    Rank *rank = caller();
    if (rank == nullptr) return no_rank(name);
    team::Team *found = team::find(*rank, team.handle);
    if (found == nullptr) return fail_in(no_team(team.handle), name);
    if (check_timeout(timeout_ns) != SENNIT_OK) return fail_in(SENNIT_ERR_ARG, name);
    const team::CollectiveCall call(*found, team.handle);
    if (call.status() != SENNIT_OK) return fail_in(call.status(), name);
    return done(team::barrier(*rank, *found, Deadline::after(timeout_ns)), name);
}
