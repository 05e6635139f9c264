// SPDX-License-Identifier: BSD-3-Clause
// Sets of a rank's own signals, and waiting for some of one. Who fires a signal that is in a set
// marks it in its chunk (mark_fired); the owner collects the marks into the lists of its sets, so
// that a wait costs what has fired and not what is waited for.
//
// Invariants, while Waitsets::lock is free: a signal is in the list of its set of those that have
// fired only if it has, in its epoch; a signal of a set that has fired, or for which more came than
// was expected, is in a list, or its mark is set, or the one who did that is about to set it and
// rings afterwards.
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
// The signal is the rank's own. Errors: STATE, ARG.
sennit_status set_add(Signals &all, sennit_waitset set, sennit_signal signal, std::uint64_t cookie);
sennit_status set_remove(Signals &all, sennit_waitset set, sennit_signal signal);

// The signal ends: it leaves its set.
void leave_set(Signals &all, Own &own);
// As advance(), for a signal that may be in a set.
bool advance_in_set(Signals &all, Own &own, std::uint64_t epoch);

// Some of those that have fired, at least one. Errors: STATE (empty), ARG, TIMEOUT, PEER_LOST, and
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
