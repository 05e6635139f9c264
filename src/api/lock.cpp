// SPDX-License-Identifier: BSD-3-Clause
// Locks.
#include <sennit/lock.h>

#include "api/call.hpp"
#include "lock/lock.hpp"
#include "team/allocate.hpp"

using namespace sennit;
using namespace sennit::api;

namespace {

sennit_status destroy(Rank &rank, sennit_lock lock) {
    sennit_status status = lock::lock_check_idle(rank, lock);
    if (status != SENNIT_OK) return status;
    team::Team *found = team::find(rank, lock.team);
    if (found == nullptr) return no_team(lock.team);
    const team::CollectiveCall call(*found, lock.team);
    if (call.status() != SENNIT_OK) return call.status();
    if (!team::is_live(*found, lock.segment))
        return fail(SENNIT_ERR_ARG, "the lock was destroyed already");
    return team::free_segment(rank, *found, lock.segment);
}

}  // namespace

extern "C" {

sennit_status sennit_lock_create(sennit_team team, sennit_lock *lock) {
    const char *const name = __func__;
    return team_call(name, team, [=](Rank &rank, team::Team &found) {
        // A rank with wrong arguments takes part and reports its error, so that no other rank
        // waits.
        const sennit_status refused = lock == nullptr ? null_argument("lock") : SENNIT_OK;
        const team::CollectiveCall turn(found, team.handle);
        if (turn.status() != SENNIT_OK) return turn.status();
        const runtime::Observed observed(rank, name);
        return lock::lock_create(rank, found, refused, lock);
    });
}

sennit_status sennit_lock_acquire(sennit_lock lock, int64_t timeout_ns) {
    return noted_call(__func__, [=](Rank &rank) {
        if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
        return lock::lock_acquire(rank, lock, Deadline::after(timeout_ns));
    });
}

sennit_status sennit_lock_try(sennit_lock lock, int *acquired) {
    return noted_call(__func__, [=](Rank &rank) {
        return acquired == nullptr ? null_argument("acquired")
                                   : lock::lock_try(rank, lock, acquired);
    });
}

sennit_status sennit_lock_release(sennit_lock lock) {
    return noted_call(__func__, [=](Rank &rank) { return lock::lock_release(rank, lock); });
}

sennit_status sennit_lock_destroy(sennit_lock lock) {
    return noted_call(__func__, [=](Rank &rank) { return destroy(rank, lock); });
}

}  // extern "C"
