// SPDX-License-Identifier: BSD-3-Clause
// Many notified puts or gets in one call. Called by api/ and by plans.
#pragma once

#include <sennit/notify.h>

#include "op/engine.hpp"

namespace sennit::signal {

struct Batch {
    op::Direction direction;
    sennit_notify_part *parts;
    std::size_t count;
    const op::Direction *directions = nullptr;  // [count], set by plans; null: use `direction`
};

// *done: the number of complete parts, from the first on. The `status` of each part is its result.
// Errors: as the public calls.
sennit_status notify_batch(Rank &rank, const Batch &batch, std::size_t *done);

// Checks whether the signals of the parts accept the parts' epochs; no data moves. Asks the owners
// whose answer is unknown, all at the same time. Only for parts that need messages. Errors: as
// check_epoch().
sennit_status check_batch(Rank &rank, const Batch &batch);

}  // namespace sennit::signal
