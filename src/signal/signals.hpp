// SPDX-License-Identifier: BSD-3-Clause
// A rank's own signals, its views of peers' signals, and the cold paths of counting and waiting.
// Called by api/ and at the end of a rank.
#pragma once

#include "signal/signal.hpp"

namespace sennit::signal {

// One of the rank's own signals; its chunk must exist.
inline Own &own_at(Signals &all, std::uint32_t index) {
    return all.table[index];
}

// The rank's signals, made at the first use. Errors: NOMEM.
sennit_status make_signals(Rank &rank, Signals **all);
// At the end of a rank, before memory::segments_close().
void signals_close(Rank &rank);

// Errors: NOMEM, OS.
sennit_status signal_create(Rank &rank, std::uint32_t events, std::uint32_t max_events,
                            unsigned flags, sennit_signal *signal);
// The signal must be the rank's own.
void signal_destroy(Rank &rank, Own &own);

// Finds the view of a peer's chunk of signals, opened at the first use. Errors: NOT_REGISTERED (the
// peer has none there), UNSUPPORTED, OTHER_NODE, PEER_LOST, NOMEM, OS.
sennit_status view_of(Rank &rank, int peer, std::uint32_t chunk, const ChunkView **view);

// Finds the signal; it may be the rank's own. Errors: RANGE (rank), NOT_REGISTERED (by messages
// only read_signal() or a send detects that), and those of view_of().
sennit_status reach(Rank &rank, sennit_signal signal, RemoteSignal *remote);
// The same for the rank's own signal.
RemoteSignal reach_own(Rank &rank, const Own &own);

// The part of a signal's record that a sender needs. Errors: NOT_REGISTERED (it is gone), and those
// of a get.
struct Seen {
    std::uint64_t epoch;
    std::uint32_t handle;
    Expected expected;
};
sennit_status read_signal(Rank &rank, const RemoteSignal &remote, Seen *seen);

// Checks whether a message of the epoch may be counted; a message of SENNIT_EPOCH_CURRENT or to an
// unchecked signal always may. Fills *seen if load and store reach the record. Errors: as
// read_signal(), SIGNAL_EARLY, SIGNAL_OVERFLOW (the epoch is over), PEER_LOST (the owner ended
// before the epoch).
sennit_status check_epoch(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch, Seen *seen);
// Counts an event after check_epoch(); SENNIT_EPOCH_CURRENT counts in the owner's current epoch.
// Errors: SIGNAL_OVERFLOW, and by messages those of check_epoch().
sennit_status count_event(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch, Seen *seen);
// The error for an epoch that the owner does not accept: SIGNAL_EARLY or SIGNAL_OVERFLOW.
struct NotTaken {
    std::uint64_t epoch;
    std::uint64_t receivers;
    std::uint8_t most_ahead;  // see Expected
};
[[gnu::cold]] sennit_status fail_epoch(Rank &rank, sennit_signal signal, const NotTaken &event);
[[gnu::cold]] sennit_status was_destroyed(sennit_signal signal);
// The error of surplus messages, with their number; `before` was the value of the epoch before
// they were added.
[[gnu::cold]] sennit_status fail_surplus(sennit_signal signal, const Expected &expected,
                                         const Messages &messages, std::uint64_t before);
[[gnu::cold]] sennit_status fail_too_many(sennit_signal signal, std::uint64_t epoch,
                                          std::uint64_t expected, std::uint64_t arrived);

// For the rank's own signals.
sennit_status test(Rank &rank, Own &own, int *done);
sennit_status wait(Rank &rank, Own &own, const Deadline &deadline);
// Reports why the signal is faulty; OK if it is not. An event that was not counted, or was undone,
// is reported once. Errors: SIGNAL_OVERFLOW, SIGNAL_EARLY.
[[gnu::cold]] sennit_status report_fault(Own &own);
// Errors: STATE, SIGNAL_OVERFLOW, SIGNAL_EARLY.
sennit_status reset(Rank &rank, Own &own);
sennit_status remaining(const Own &own, std::uint32_t *events);
// Starts the next epoch. False: another thread was faster.
bool advance(Own &own, std::uint64_t epoch);

// Waits for a word of the program. Errors: TIMEOUT, PEER_LOST.
sennit_status wait_word(Rank &rank, const std::uint64_t *word, sennit_comparison comparison,
                        std::uint64_t value, const Deadline &deadline);

}  // namespace sennit::signal
