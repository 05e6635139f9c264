// SPDX-License-Identifier: BSD-3-Clause
// Signals and their sets. test, wait and reset first try the inline functions of signal.hpp. If
// that does not finish the call, test_cold(), wait_cold() or reset_cold() does.
#include <sennit/signal.h>

#include "api/call.hpp"
#include "api/observe.hpp"
#include "runtime/detector.hpp"
#include "runtime/wait.hpp"
#include "runtime/whole_call.hpp"
#include "signal/sets.hpp"
#include "signal/signals.hpp"

using namespace sennit;
using namespace sennit::api;
using signal::Own;

namespace {

sennit_status no_signal(sennit_signal signal) {
    if (signal.rank == SENNIT_SIGNAL_NULL.rank)
        return fail(SENNIT_ERR_ARG, "the signal is null (SENNIT_SIGNAL_NULL)");
    return fail(SENNIT_ERR_ARG, "{%d, %#x} is no signal of this rank", signal.rank, signal.handle);
}

// A call on one of the caller's signals.
template <class Call>
sennit_status call_on(sennit_signal handle, const char *name, Call call) {
    return noted_call(name, [&](Rank &rank) {
        Own *own = signal::find_own(rank, handle);
        return own == nullptr ? no_signal(handle) : call(rank, *own);
    });
}

// A call on the caller's table of sets.
template <class Call>
sennit_status call_on_set(const char *name, Call call) {
    return noted_call(name, [&](Rank &rank) {
        signal::Signals *all = nullptr;
        const sennit_status status = signal::make_signals(rank, &all);
        return status == SENNIT_OK ? call(rank, *all) : status;
    });
}

// A call on a set and one of the caller's signals.
template <class Change>
sennit_status change_set(sennit_signal signal, const char *name, Change change) {
    return call_on_set(name, [=](Rank &rank, signal::Signals &all) {
        return signal::find_own(rank, signal) == nullptr ? no_signal(signal) : change(all);
    });
}

// A signal of the calling thread's rank, if the rank has no observer; else null.
[[gnu::noinline]] Own *find_unobserved(sennit_signal signal) {
    const Rank *rank = current_rank();
    return rank->observer == nullptr ? signal::find_own(*rank, signal) : nullptr;
}

[[gnu::cold, gnu::noinline]] sennit_status test_cold(sennit_signal signal, int *is_done) {
    return call_on(signal, "sennit_signal_test", [=](Rank &rank, Own &own) {
        return is_done == nullptr ? null_argument("done") : signal::test(rank, own, is_done);
    });
}

[[gnu::cold, gnu::noinline]] sennit_status wait_cold(sennit_signal signal,
                                                     std::int64_t timeout_ns) {
    return call_on(signal, "sennit_signal_wait", [=](Rank &rank, Own &own) {
        if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
        return signal::wait(rank, own, Deadline::after(timeout_ns));
    });
}

[[gnu::cold, gnu::noinline]] sennit_status reset_cold(sennit_signal signal) {
    return call_on(signal, "sennit_signal_reset", signal::reset);
}

sennit_status add(Rank &rank, sennit_signal signal, std::uint64_t epoch) {
    const WholeCall call;
    signal::RemoteSignal remote;
    sennit_status status = signal::reach(rank, signal, &remote);
    signal::Seen seen{};
    // If the event travels by a message, the owner checks the epoch when it counts.
    if (status == SENNIT_OK && remote.record != nullptr)
        status = signal::check_epoch(rank, remote, epoch, &seen);
    if (status == SENNIT_OK) status = signal::count_event(rank, remote, epoch, &seen);
    if (status == SENNIT_OK && epoch != SENNIT_EPOCH_CURRENT)
        runtime::note_sent(rank, signal, epoch);
    return status;
}

sennit_status check_word(const std::uint64_t *word, sennit_comparison comparison) {
    if (word == nullptr) return null_argument("word");
    if (reinterpret_cast<std::uintptr_t>(word) % sizeof *word != 0)
        return fail(SENNIT_ERR_ARG, "the word at %p is not aligned to 8 bytes",
                    static_cast<const void *>(word));
    if (static_cast<unsigned>(comparison) >= SENNIT_COMPARISON_END)
        return fail(SENNIT_ERR_ARG, "there is no comparison %d", static_cast<int>(comparison));
    return SENNIT_OK;
}

// The deadline is checked after each call of the condition, because the condition may take long. So
// the deadline also ends the polling at the start of the wait.
sennit_status wait_for(Rank &rank, sennit_condition condition, void *context,
                       const Deadline &deadline) {
    bool holds = false;
    const auto ends = [&] {
        holds = condition(context) != 0;
        return holds || deadline.over();
    };
    if (!deadline.over()) {
        const sennit_status waited = wait_until(rank, deadline, kAnyPeer, ends);
        if (waited != SENNIT_OK || holds) return waited;
        // wait_until() checks for dead ranks only at intervals. A wait shorter than an interval
        // would not detect a dead rank, so this call checks once more.
        const int anybody = kAnyPeer;
        const int lost = find_lost(rank, &anybody);
        if (lost >= 0) return condition(context) != 0 ? SENNIT_OK : fail_lost(rank, lost);
    }
    // The condition may depend on messages that only progress receives.
    make_progress(rank);
    if (condition(context) != 0) return SENNIT_OK;
    note_fruitless_poll(rank);
    return fail(SENNIT_ERR_TIMEOUT, "the timeout has passed (timeouts are in nanoseconds)");
}

}  // namespace

extern "C" {

sennit_status sennit_signal_create(uint32_t events, uint32_t max_events, unsigned flags,
                                   sennit_signal *signal) {
    return noted_call(__func__, [=](Rank &rank) {
        constexpr unsigned kKnownFlags = SENNIT_SIGNAL_STRICT | SENNIT_SIGNAL_UNCHECKED;
        if (signal == nullptr) return null_argument("signal");
        if ((flags & ~kKnownFlags) != 0)
            return fail(SENNIT_ERR_ARG, "flags %#x are unknown", flags);
        if (events == 0)
            return fail(SENNIT_ERR_ARG, "a signal expects at least 1 event in an epoch");
        if (events > max_events)
            return fail(SENNIT_ERR_ARG,
                        "max_events (%u) must be at least events (%u); more detects more surplus "
                        "events",
                        max_events, events);
        return signal::signal_create(rank, events, max_events, flags, signal);
    });
}

sennit_status sennit_signal_destroy(sennit_signal signal) {
    return call_on(signal, __func__, [](Rank &rank, Own &own) {
        signal::signal_destroy(rank, own);
        return SENNIT_OK;
    });
}

sennit_status sennit_signal_test(sennit_signal signal, int *is_done) {
    Own *own = signal::find_first(signal);
    if (own != nullptr && is_done != nullptr) [[likely]]
        return done(signal::test(*current_rank(), *own, is_done), __func__);
    return test_cold(signal, is_done);
}

sennit_status sennit_signal_wait(sennit_signal signal, int64_t timeout_ns) {
    constexpr std::int64_t kShortestNs = 1'000'000;  // poll() takes less, so it ignores the timeout
    const Own *own = signal::find_first(signal);
    if (own == nullptr) own = find_unobserved(signal);
    if (own != nullptr && timeout_ns >= kShortestNs && signal::poll(*current_rank(), *own))
        [[likely]]
        return SENNIT_OK;
    return wait_cold(signal, timeout_ns);
}

sennit_status sennit_signal_reset(sennit_signal signal) {
    Own *own = signal::find_first(signal);
    if (own == nullptr) own = find_unobserved(signal);
    if (own != nullptr && signal::reset_at_once(*own)) [[likely]]
        return SENNIT_OK;
    return reset_cold(signal);
}

sennit_status sennit_signal_remaining(sennit_signal signal, uint32_t *events) {
    return call_on(signal, __func__, [=](Rank &, Own &own) {
        return events == nullptr ? null_argument("events") : signal::remaining(own, events);
    });
}

sennit_status sennit_signal_epoch(sennit_signal signal, uint64_t *epoch) {
    return call_on(signal, __func__, [=](Rank &, Own &own) {
        if (epoch == nullptr) return null_argument("epoch");
        *epoch = signal::own_epoch(own);
        return SENNIT_OK;
    });
}

sennit_status sennit_signal_notify(sennit_signal signal, uint64_t epoch) {
    const char *const name = __func__;
    return call(name, [=](Rank &rank) {
        const bool has_rank = signal.rank >= 0 && signal.rank < world_size(rank);
        Observed observed(rank, name, has_rank ? signal.rank : runtime::kNobody);
        if (observed.is_on() && has_rank) [[unlikely]]
            observed.set_path(rank.peers[signal.rank].path);
        return add(rank, signal, epoch);
    });
}

sennit_status sennit_waitset_create(sennit_waitset *set) {
    return call_on_set(__func__, [=](Rank &, signal::Signals &all) {
        return set == nullptr ? null_argument("set") : signal::set_create(*all.sets, set);
    });
}

sennit_status sennit_waitset_destroy(sennit_waitset set) {
    return call_on_set(__func__,
                       [=](Rank &, signal::Signals &all) { return signal::set_destroy(all, set); });
}

sennit_status sennit_waitset_add(sennit_waitset set, sennit_signal signal, uint64_t cookie) {
    return change_set(signal, __func__, [=](signal::Signals &all) {
        return signal::set_add(all, set, signal, cookie);
    });
}

sennit_status sennit_waitset_remove(sennit_waitset set, sennit_signal signal) {
    return change_set(signal, __func__,
                      [=](signal::Signals &all) { return signal::set_remove(all, set, signal); });
}

sennit_status sennit_waitset_wait_any(sennit_waitset set, int64_t timeout_ns, sennit_fired *fired) {
    return call_on_set(__func__, [=](Rank &rank, signal::Signals &all) {
        if (fired == nullptr) return null_argument("fired");
        if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
        signal::Some some{1, fired};
        return signal::wait_some(rank, all, set, Deadline::after(timeout_ns), &some);
    });
}

sennit_status sennit_waitset_wait_some(sennit_waitset set, int64_t timeout_ns, size_t most,
                                       sennit_fired fired[], size_t *count) {
    return call_on_set(__func__, [=](Rank &rank, signal::Signals &all) {
        if (fired == nullptr || count == nullptr) return null_argument("fired or count");
        if (most == 0)
            return fail(SENNIT_ERR_ARG, "the array has no room for a signal: its size is 0");
        if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
        signal::Some some{most, fired};
        const sennit_status status =
            signal::wait_some(rank, all, set, Deadline::after(timeout_ns), &some);
        if (status == SENNIT_OK) *count = some.count;
        return status;
    });
}

sennit_status sennit_waitset_wait_all(sennit_waitset set, int64_t timeout_ns) {
    return call_on_set(__func__, [=](Rank &rank, signal::Signals &all) {
        if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
        return signal::wait_all(rank, all, set, Deadline::after(timeout_ns));
    });
}

sennit_status sennit_signal_wait_word(const uint64_t *word, sennit_comparison comparison,
                                      uint64_t value, int64_t timeout_ns) {
    return noted_call(__func__, [=](Rank &rank) {
        sennit_status status = check_word(word, comparison);
        if (status == SENNIT_OK) status = check_timeout(timeout_ns);
        if (status != SENNIT_OK) return status;
        return signal::wait_word(rank, word, comparison, value, Deadline::after(timeout_ns));
    });
}

sennit_status sennit_wait_until(sennit_condition condition, void *context, int64_t timeout_ns) {
    return noted_call(__func__, [=](Rank &rank) {
        if (condition == nullptr) return null_argument("condition");
        if (check_timeout(timeout_ns) != SENNIT_OK) return SENNIT_ERR_ARG;
        return wait_for(rank, condition, context, Deadline::after(timeout_ns));
    });
}

}  // extern "C"
