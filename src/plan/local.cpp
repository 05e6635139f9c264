// SPDX-License-Identifier: BSD-3-Clause
// The events that a run of a plan counts in the rank's own signals.
#include <algorithm>

#include "base/fail.hpp"
#include "plan/plan.hpp"

namespace sennit::plan {

sennit_status fail_not_own(sennit_signal signal) {
    return fail(SENNIT_ERR_ARG, "the local signal {%d, %#x} does not belong to the caller",
                signal.rank, signal.handle);
}

// Combines all events of a signal into one entry of `local`.
sennit_status make_local(Rank &rank, Plan &plan) {
    std::uint32_t count = 0;
    const RecordedOperation *const end = plan.operations + plan.operation_count;
    for (const RecordedOperation *it = plan.operations; it != end; ++it)
        count += it->local_signal.handle != 0 ? 1 : 0;
    plan.local = Array<LocalEvents>(count);
    const Array<std::uint64_t> names(count);
    if (plan.local == nullptr || names == nullptr)
        return fail(SENNIT_ERR_NOMEM, "no memory for the local signals of a plan");
    std::uint32_t filled = 0;
    for (const RecordedOperation *it = plan.operations; it != end; ++it)
        if (it->local_signal.handle != 0) names[filled++] = signal::name_of(it->local_signal);
    std::sort(names + 0, names + count);
    for (std::uint32_t i = 0; i < count; ++i) {
        if (i != 0 && names[i] == names[i - 1]) {
            ++plan.local[plan.local_count - 1].events;
            continue;
        }
        LocalEvents &made = plan.local[plan.local_count++];
        signal::Notified reached{};
        const sennit_status status =
            signal::reach_notified(rank, std::bit_cast<sennit_signal>(names[i]), 0, &reached);
        if (status != SENNIT_OK) return status;
        made = LocalEvents{reached.remote, reached.expected, 1};
    }
    for (std::uint32_t i = 0; i < plan.local_count; ++i)
        if (plan.local[i].events > plan.local[i].expected.events)
            return fail(SENNIT_ERR_ARG,
                        "%u operations of the plan count in the local signal %#x, which expects %u "
                        "event%s in an epoch",
                        plan.local[i].events, plan.local[i].signal.signal.handle,
                        plan.local[i].expected.events, plural(plan.local[i].expected.events));
    return SENNIT_OK;
}

// Checks that the local signals have room for the events of a run. Called before any data moves.
sennit_status check_local(const Rank &rank, const Plan &plan) {
    for (std::uint32_t i = 0; i < plan.local_count; ++i) {
        const LocalEvents &local = plan.local[i];
        const signal::Own *own = signal::find_own(rank, local.signal.signal);
        if (own == nullptr) return fail_not_own(local.signal.signal);
        const std::uint64_t value = signal::own_value(*own);
        if (signal::is_surplus(value, local.events, own->events, own->event_bits))
            return signal::fail_surplus(local.signal.signal, local.expected,
                                        {signal::own_epoch(*own), local.events}, value);
    }
    return SENNIT_OK;
}

// Skips destroyed signals. After an overflow of one signal, still counts in the others.
sennit_status count_local(const Rank &rank, const Plan &plan) {
    sennit_status result = SENNIT_OK;
    for (std::uint32_t i = 0; i < plan.local_count; ++i) {
        const LocalEvents &local = plan.local[i];
        if (signal::find_own(rank, local.signal.signal) == nullptr) continue;
        if (!signal::count_current(local.signal, local.expected, local.events))
            result = SENNIT_ERR_SIGNAL_OVERFLOW;
    }
    return result;
}

}  // namespace sennit::plan
