// SPDX-License-Identifier: BSD-3-Clause
// Starts and ends a rank. Only this folder may include all layers except api/.
#pragma once

#include <sennit/runtime.h>

#include "rank/rank.hpp"

namespace sennit::life {

struct StartupArgs {
    sennit_bootstrap bootstrap{};  // opened; the rank owns it from now on, also after an error
    sennit_thread_level thread_level = SENNIT_THREAD_SINGLE;
    const char *paths = "";  // list of allowed paths, "" for the default
    std::int64_t timeout_ns = 0;
};

// Fills a claimed rank object. After an error it has freed everything that it made.
sennit_status startup(Rank &rank, const StartupArgs &args);

// Waits for the other ranks for at most timeout_ns, then frees everything. Errors: TIMEOUT,
// PEER_LOST, and the error of a failed implicit operation; the rank is gone in every case.
sennit_status shutdown(Rank &rank, std::int64_t timeout_ns);

}  // namespace sennit::life
