// Many notified puts, or gets, in one call. Called by api/, and by plans.
#pragma once

#include <sennit/notify.h>

#include "op/engine.hpp"
#include "signal/signal.hpp"

namespace sennit::signal {

// What a plan knows of a part beside what the public calls say.
struct PlannedPart {
    op::Direction direction;
    std::uint32_t messages;  // that it counts when its data is there; 0: nothing
    Expected expected;       // of the signal, which was looked at
};

struct Batch {
    op::Direction direction;
    sennit_notify_part *parts;
    std::size_t count;
    // [count], of parts whose signals have been looked at and took their epoch; or null, then each
    // part is one message in the direction of the batch.
    const PlannedPart *pieces = nullptr;
};

// *done: how many parts from the first on are over; their `status` says so for each. Errors: as the
// public calls.
sennit_status notify_batch(Rank &rank, const Batch &batch, std::size_t *done);

// Do the signals of the parts, which messages lead to, take the epochs of these? All are looked at
// together, and nothing moves. Errors: as check_epoch().
sennit_status look_at_batch(Rank &rank, const Batch &batch);

}  // namespace sennit::signal
