// SPDX-License-Identifier: BSD-3-Clause
// Sets of a rank's own signals, and waits for some of a set. A sender that fires a signal in a set
// marks it in its chunk (mark_fired). The owner collects the marks into the lists of its sets, so
// the cost of a wait depends on the fired signals, not on the size of the set.
//
// Invariants, while Waitsets::lock is free: a signal is in the list of fired ones only if it has
// fired in its epoch. A signal of a set that has fired, or has received more events than expected,
// is in a list or marked, or its sender is about to set the mark and ring the doorbell.
#pragma once

#include "signal/signal.hpp"

namespace sennit::signal {

// Null: no memory.
Waitsets *sets_open();
void sets_close(Waitsets *sets);

// Errors: NOMEM.
sennit_status set_create(Waitsets &sets, sennit_waitset *set);
// Errors of all that take a set: ARG (no set).
sennit_status set_destroy(Signals &all, sennit_waitset set);
// The signal must be the rank's own. Errors: STATE, ARG.
sennit_status set_add(Signals &all, sennit_waitset set, sennit_signal signal, std::uint64_t cookie);
sennit_status set_remove(Signals &all, sennit_waitset set, sennit_signal signal);

// Removes a signal from its set, if any, before its end.
void leave_set(Signals &all, Own &own);
// The same as advance(), for a signal that may be in a set.
bool advance_in_set(Signals &all, Own &own, std::uint64_t epoch);

// Returns some fired signals, at least one. Errors: STATE (empty), ARG, TIMEOUT, PEER_LOST, and
// those of a wait for any signal of the set: SIGNAL_OVERFLOW, SIGNAL_EARLY.
struct Some {
    std::size_t most;
    sennit_fired *fired;
    std::size_t count = 0;
};
sennit_status wait_some(Rank &rank, Signals &all, sennit_waitset set, const Deadline &deadline,
                        Some *some);
sennit_status wait_all(Rank &rank, Signals &all, sennit_waitset set, const Deadline &deadline);

}  // namespace sennit::signal
