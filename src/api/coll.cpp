// Collective calls.
#include <sennit/coll.h>

#include "api/call.hpp"
#include "coll/world.hpp"

using namespace sennit;
using namespace sennit::api;

extern "C" sennit_status sennit_barrier(sennit_team team, int64_t timeout_ns) {
    const char *const name = "sennit_barrier";
    Rank *rank = caller();
    if (rank == nullptr) return no_rank(name);
    if (team.handle != SENNIT_TEAM_WORLD.handle)
        return fail_in(fail(SENNIT_ERR_ARG, "team %u does not exist", team.handle), name);
    if (check_timeout(timeout_ns) != SENNIT_OK) return fail_in(SENNIT_ERR_ARG, name);
    const coll::CollectiveCall call(*rank);
    if (call.status() != SENNIT_OK) return fail_in(call.status(), name);
    return done(coll::barrier(*rank, Deadline::after(timeout_ns)), name);
}
