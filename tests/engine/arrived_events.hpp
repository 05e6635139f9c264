// Counts events that arrive in completion data. The task that ends a message also counts events
// that were lost, so the results of a program do not show whether any has arrived.
#pragma once

#include <atomic>

#include "op/engine_state.hpp"
#include "rank/process.hpp"

namespace sennit::test {

// The events of all ranks of this process that called count_arrived_events().
inline std::atomic<std::uint64_t> arrived_events{0};

// Counts the caller's events from now on. The caller has a signal.
inline void count_arrived_events() {
    static const op::EventHandlers *const kOfSignals = op::handlers_of(*current_rank());
    static const op::EventHandlers kCounting{
        [](Rank &rank, const op::EventWidth &width, const transport::EventData &event) {
            ++arrived_events;
            kOfSignals->take(rank, width, event);
        },
        kOfSignals->take_task, kOfSignals->renew, kOfSignals->renewed};
    op::engine_take_events(*current_rank(), &kCounting);
}

}  // namespace sennit::test
