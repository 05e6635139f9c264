// What every public function begins and ends with: finding the caller's rank, and naming the
// function in the error.
#pragma once

#include "base/fail.hpp"
#include "rank/process.hpp"

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

inline sennit_status done(sennit_status status, const char *operation) {
    return status == SENNIT_OK ? SENNIT_OK : fail_in(status, operation);
}

// The bound of a wait. Errors: ARG (negative).
inline sennit_status check_timeout(std::int64_t timeout_ns) {
    return timeout_ns >= 0 ? SENNIT_OK
                           : fail(SENNIT_ERR_ARG,
                                  "the timeout %lld is negative; SENNIT_FOREVER waits without end",
                                  static_cast<long long>(timeout_ns));
}

}  // namespace sennit::api
