// SPDX-License-Identifier: BSD-3-Clause
// Put, get and fence for api/. Copies memory that load and store reach; passes other operations to
// the op engine.
#pragma once

#include <sennit/rma.h>

#include "op/engine.hpp"

namespace sennit::op {

// Handles everything that op/direct.hpp does not: finds the error, attaches, or passes the
// operation to the engine. A put only reads `local`.
[[gnu::cold]] sennit_status transfer(Rank &rank, Direction direction, sennit_gptr remote,
                                     void *local, std::size_t bytes, const Completion &completion);

// Fills *target if messages carry the operation, else sets *by_message to false. Errors: those of
// transfer() before anything is sent.
sennit_status message_target(Rank &rank, sennit_gptr remote, std::size_t bytes, Target *target,
                             bool *by_message);

sennit_status fence(Rank &rank);
sennit_status fence_to(Rank &rank, int peer);

}  // namespace sennit::op
