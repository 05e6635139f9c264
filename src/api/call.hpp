// SPDX-License-Identifier: BSD-3-Clause
// What every public function begins and ends with: finding the caller's rank, and naming the
// function in the error.
#pragma once

#include "base/fail.hpp"
#include "observe/observer.hpp"
#include "rank/process.hpp"
#include "team/team.hpp"

namespace sennit::api {

// The caller's rank while it is in use, or null.
inline Rank *caller() {
    Rank *rank = current_rank();
    // relaxed: 0 unless in use; see op/direct.hpp.
    return rank->size.load(std::memory_order_relaxed) == 0 ? nullptr : rank;
}

// The error of a call by a thread that is no rank.
[[gnu::cold]] sennit_status no_rank(const char *operation);

// The error of a call with a team that is none. Returns ARG.
[[gnu::cold]] sennit_status no_team(std::uint32_t handle);

// The error of a call with a null pointer where there must be none. Returns ARG. The second is for
// what a public function returns.
[[gnu::cold]] sennit_status null_argument(const char *what);
[[gnu::cold]] sennit_status null_argument(const char *what, const char *operation);

// Is it the number of a rank of the world? Errors: RANGE.
sennit_status check_world_rank(const Rank &rank, int other);

inline sennit_status done(sennit_status status, const char *operation) {
    return status == SENNIT_OK ? SENNIT_OK : fail_in(status, operation);
}

// The whole of a public function, whose name is `name`: `body` gets the caller's rank.
template <class Body>
inline sennit_status call(const char *name, Body body) {
    Rank *rank = caller();
    return rank == nullptr ? no_rank(name) : done(body(*rank), name);
}

// See noted().
template <class Body>
[[gnu::cold, gnu::noinline]] sennit_status observed(Rank &rank, const char *name, Body body,
                                                    int peer, std::uint64_t bytes) {
    const runtime::Observed noted(rank, name, peer, bytes);
    return body(rank);
}

// What `body` does, noted as one operation if the rank is observed; else that is one test.
template <class Body>
inline sennit_status noted(Rank &rank, const char *name, Body body, int peer = runtime::kNobody,
                           std::uint64_t bytes = 0) {
    if (rank.observer != nullptr) [[unlikely]]
        return observed(rank, name, body, peer, bytes);
    return body(rank);
}

// As call(), for a call that the rank notes.
template <class Body>
inline sennit_status noted_call(const char *name, Body body) {
    return call(name, [=](Rank &rank) { return noted(rank, name, body); });
}

// The same for a call on a team of the rank, which `body` gets, too.
template <class Body>
inline sennit_status team_call(const char *name, sennit_team team, Body body) {
    return call(name, [&](Rank &rank) {
        team::Team *found = team::find(rank, team.handle);
        return found == nullptr ? no_team(team.handle) : body(rank, *found);
    });
}

// The bound of a wait. Errors: ARG (negative).
inline sennit_status check_timeout(std::int64_t timeout_ns) {
    return timeout_ns >= 0 ? SENNIT_OK
                           : fail(SENNIT_ERR_ARG,
                                  "the timeout %lld is negative; SENNIT_FOREVER waits without end",
                                  static_cast<long long>(timeout_ns));
}

}  // namespace sennit::api
