// SPDX-License-Identifier: BSD-3-Clause
// The signals of a rank, those of its peers that it sends to, and the slow half of counting and
// waiting. Called by api/ and by the end of a rank.
#pragma once

#include "signal/signal.hpp"

namespace sennit::signal {

// The place of a signal of the rank's own; the chunk is there.
inline Own &own_at(Signals &all, std::uint32_t index) {
    return all.table[index];
}

// The rank's signals, made if there are none yet. Errors: NOMEM.
sennit_status make_signals(Rank &rank, Signals **all);
// The end of a rank, before memory::segments_close().
void signals_close(Rank &rank);

// Errors: NOMEM, OS.
sennit_status signal_create(Rank &rank, std::uint32_t events, std::uint32_t max_events,
                            unsigned flags, sennit_signal *signal);
// The signal is the rank's own.
void signal_destroy(Rank &rank, Own &own);

// How a peer's chunk of signals is reached, opened when it is first used. Errors: NOT_REGISTERED
// (the peer has none there), UNSUPPORTED, OTHER_NODE, PEER_LOST, NOMEM, OS.
sennit_status view_of(Rank &rank, int peer, std::uint32_t chunk, const ChunkView **view);

// Finds the signal; it may be the rank's own. Errors: RANGE (rank), NOT_REGISTERED (by messages
// only who looks at it or sends finds that), and those of view_of().
sennit_status reach(Rank &rank, sennit_signal signal, RemoteSignal *remote);

// What a sender wants to know of a signal's record. Errors: NOT_REGISTERED (it is gone), and those
// of a get.
struct Seen {
    std::uint64_t epoch;
    std::uint32_t handle;
    Expected expected;
};
sennit_status look(Rank &rank, const RemoteSignal &remote, Seen *seen);

// May a message of the epoch be counted? One of SENNIT_EPOCH_CURRENT may, and any for an unchecked
// signal. Fills *seen, unless the owner is asked by a task or not at all. Errors: as look(),
// SIGNAL_EARLY, SIGNAL_OVERFLOW (the epoch is over), PEER_LOST (the owner never gets to it).
sennit_status check_epoch(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch, Seen *seen);
// Counts it after that check, SENNIT_EPOCH_CURRENT in the epoch that the owner is in. Errors:
// SIGNAL_OVERFLOW, and by messages those of check_epoch().
sennit_status count_event(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch, Seen *seen);
// The owner counts two epochs, a strict one its own alone, and this is none of them. SIGNAL_EARLY
// or SIGNAL_OVERFLOW.
struct NotTaken {
    std::uint64_t epoch;
    std::uint64_t receivers;
    std::uint8_t most_ahead;  // see Expected
};
[[gnu::cold]] sennit_status fail_epoch(Rank &rank, sennit_signal signal, const NotTaken &event);
[[gnu::cold]] sennit_status was_destroyed(sennit_signal signal);
// More came than were expected, when the epoch had the value `before`. Tells how many that is.
[[gnu::cold]] sennit_status fail_surplus(sennit_signal signal, const Expected &expected,
                                         const Messages &messages, std::uint64_t before);
[[gnu::cold]] sennit_status fail_too_many(sennit_signal signal, std::uint64_t epoch,
                                          std::uint64_t expected, std::uint64_t come);

// Of the rank's own signals.
sennit_status test(Rank &rank, Own &own, int *done);
sennit_status wait(Rank &rank, Own &own, const Deadline &deadline);
// Why it is faulty; OK if it is not. An event that was not counted, or was taken back, is told
// once. Errors: SIGNAL_OVERFLOW, SIGNAL_EARLY.
[[gnu::cold]] sennit_status report_fault(Own &own);
// Errors: STATE, SIGNAL_OVERFLOW.
sennit_status reset(Rank &rank, Own &own);
sennit_status remaining(const Own &own, std::uint32_t *events);
// The next epoch begins; false if another thread was faster.
bool advance(Own &own, std::uint64_t epoch);

// Waits for a word that is not Sennit's. Errors: TIMEOUT, PEER_LOST.
sennit_status wait_word(Rank &rank, const std::uint64_t *word, sennit_comparison comparison,
                        std::uint64_t value, const Deadline &deadline);

}  // namespace sennit::signal
