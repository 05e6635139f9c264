// SPDX-License-Identifier: BSD-3-Clause
// The start and end of every public function: finds the caller's rank, and adds the function's name
// to an error.
#pragma once

#include "base/fail.hpp"
#include "observe/observer.hpp"
#include "rank/process.hpp"
#include "team/team.hpp"

namespace sennit::api {

// The caller's rank; null if the thread has none, before sennit_init and after sennit_finalize.
inline Rank *caller() {
    Rank *rank = current_rank();
    // relaxed: the size is constant while the rank is in use, else 0.
    return rank->size.load(std::memory_order_relaxed) == 0 ? nullptr : rank;
}

// The error of a call by a thread without a rank.
[[gnu::cold]] sennit_status no_rank(const char *operation);

// The error of a call with an invalid team. Returns ARG.
[[gnu::cold]] sennit_status no_team(std::uint32_t handle);

// The error of a forbidden null pointer. Returns ARG. The second form is for the return statement
// of a public function.
[[gnu::cold]] sennit_status null_argument(const char *what);
[[gnu::cold]] sennit_status null_argument(const char *what, const char *operation);

// Checks the buffer for a text that the call writes. Errors: ARG.
sennit_status check_text(const char *text, std::size_t bytes);

// Checks that `other` is a rank of the world. Errors: RANGE.
sennit_status check_world_rank(const Rank &rank, int other);

// Ends a call that failed, by fail_in(). SIGNAL_EARLY counts as a fruitless poll, because programs
// repeat such a call until the receiver is ready.
[[gnu::cold]] sennit_status end_failed(sennit_status status, const char *operation);

inline sennit_status done(sennit_status status, const char *operation) {
    return status == SENNIT_OK ? SENNIT_OK : end_failed(status, operation);
}

// Runs `body`, the body of the public function `name`, with the caller's rank.
template <class Body>
inline sennit_status call(const char *name, Body body) {
    Rank *rank = caller();
    return rank == nullptr ? no_rank(name) : done(body(*rank), name);
}

// noted() for a rank with an observer.
template <class Body>
[[gnu::cold, gnu::noinline]] sennit_status observed(Rank &rank, const char *name, Body body,
                                                    int peer, std::uint64_t bytes) {
    const runtime::Observed noted(rank, name, peer, bytes);
    return body(rank);
}

// Runs `body`. If the rank has an observer, records one operation; else this costs one test.
template <class Body>
inline sennit_status noted(Rank &rank, const char *name, Body body, int peer = runtime::kNobody,
                           std::uint64_t bytes = 0) {
    if (rank.observer != nullptr) [[unlikely]]
        return observed(rank, name, body, peer, bytes);
    return body(rank);
}

// Like call(), and records the call.
template <class Body>
inline sennit_status noted_call(const char *name, Body body) {
    return call(name, [=](Rank &rank) { return noted(rank, name, body); });
}

// Like call(), for a call on a team of the rank: `body` also gets the team.
template <class Body>
inline sennit_status team_call(const char *name, sennit_team team, Body body) {
    return call(name, [&](Rank &rank) {
        team::Team *found = team::find(rank, team.handle);
        return found == nullptr ? no_team(team.handle) : body(rank, *found);
    });
}

// Checks the time limit of a wait. Errors: ARG (negative).
inline sennit_status check_timeout(std::int64_t timeout_ns) {
    return timeout_ns >= 0
               ? SENNIT_OK
               : fail(SENNIT_ERR_ARG,
                      "the timeout of %lld ns is negative; SENNIT_FOREVER waits without end",
                      static_cast<long long>(timeout_ns));
}

}  // namespace sennit::api
