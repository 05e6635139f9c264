// Many notified puts, or gets, in one call. Called by api/.
#pragma once

#include <sennit/notify.h>

#include "op/engine.hpp"

namespace sennit::signal {

struct Batch {
    op::Direction direction;
    sennit_notify_part *parts;
    std::size_t count;
};

// *done: how many parts from the first on are over; their `status` says so for each. Errors: as the
// public calls.
sennit_status notify_batch(Rank &rank, const Batch &batch, std::size_t *done);

}  // namespace sennit::signal
