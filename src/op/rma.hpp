// SPDX-License-Identifier: BSD-3-Clause
// Put, get and fence for api/. Copies memory that load and store or the kernel (cma) reach; passes
// other operations to the op engine.
#pragma once

#include <sennit/rma.h>

#include "op/engine.hpp"

namespace sennit::op {

// A put or get that op/direct.hpp does not handle. Checks the arguments, and attaches the segment
// at its first use. Then copies the data or passes the operation to the engine; copy_split() does
// each with a part. A put only reads `local`.
[[gnu::cold]] sennit_status transfer(Rank &rank, Direction direction, sennit_gptr remote,
                                     void *local, std::size_t bytes, const Completion &completion);

// Sets *by_message: whether the engine carries operations on this memory. If it does, *target names
// the memory. Sends nothing. Errors: those of transfer() for `remote`.
sennit_status message_target(Rank &rank, sennit_gptr remote, std::size_t bytes, Target *target,
                             bool *by_message);

sennit_status fence(Rank &rank);
sennit_status fence_to(Rank &rank, int peer);

}  // namespace sennit::op
