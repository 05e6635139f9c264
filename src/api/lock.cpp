// Locks.
#include <sennit/lock.h>

#include "api/call.hpp"
#include "lock/lock.hpp"
#include "observe/observer.hpp"
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
    const char *const name = "sennit_lock_create";
    Rank *rank = caller();
    if (rank == nullptr) return no_rank(name);
    team::Team *found = team::find(*rank, team.handle);
    if (found == nullptr) return fail_in(no_team(team.handle), name);
    // Wrong arguments of one rank must not leave the others waiting: it takes part and says no.
    sennit_status refused = SENNIT_OK;
    if (lock == nullptr) refused = null_argument("lock");
    const team::CollectiveCall call(*found, team.handle);
    if (call.status() != SENNIT_OK) return fail_in(call.status(), name);
    const runtime::Observed observed(*rank, name);
    return done(lock::lock_create(*rank, *found, refused, lock), name);
}

sennit_status sennit_lock_acquire(sennit_lock lock, int64_t timeout_ns) {
    const char *const name = "sennit_lock_acquire";
    Rank *rank = caller();
    if (rank == nullptr) return no_rank(name);
    if (check_timeout(timeout_ns) != SENNIT_OK) return fail_in(SENNIT_ERR_ARG, name);
    const runtime::Observed observed(*rank, name);
    return done(lock::lock_acquire(*rank, lock, Deadline::after(timeout_ns)), name);
}

sennit_status sennit_lock_try(sennit_lock lock, int *acquired) {
    const char *const name = "sennit_lock_try";
    Rank *rank = caller();
    if (rank == nullptr) return no_rank(name);
    if (acquired == nullptr) return null_argument("acquired", name);
    const runtime::Observed observed(*rank, name);
    return done(lock::lock_try(*rank, lock, acquired), name);
}

sennit_status sennit_lock_release(sennit_lock lock) {
    Rank *rank = caller();
    if (rank == nullptr) return no_rank("sennit_lock_release");
    const runtime::Observed observed(*rank, "sennit_lock_release");
    return done(lock::lock_release(*rank, lock), "sennit_lock_release");
}

sennit_status sennit_lock_destroy(sennit_lock lock) {
    Rank *rank = caller();
    if (rank == nullptr) return no_rank("sennit_lock_destroy");
    const runtime::Observed observed(*rank, "sennit_lock_destroy");
    return done(destroy(*rank, lock), "sennit_lock_destroy");
}

}  // extern "C"
