// SPDX-License-Identifier: BSD-3-Clause
// The steps of a notified put or get before and after its data moves: shared by the single calls
// (notify.cpp) and the batches (batch.cpp).
#pragma once

#include "op/strided.hpp"
#include "signal/blocks.hpp"
#include "signal/event_task.hpp"

namespace sennit::signal {

struct Prepared {
    RemoteSignal remote;           // the signal at the block's owner, or none
    RemoteSignal local;            // the caller's own signal, or none
    Notified *notified = nullptr;  // the block's own; null: the call names another signal
    std::uint64_t epoch = 0;       // of `remote`
    sennit_gptr place = SENNIT_GPTR_NULL;

    bool is_current() const { return epoch == SENNIT_EPOCH_CURRENT; }
};

// Repeats a call that SIGNAL_EARLY refuses, for the time in its notice.
class EarlyWait {
  public:
    explicit EarlyWait(const sennit_notice *notice)
        : wait_ns_(notice == nullptr ? 0 : notice->wait_ns) {}
    // Makes progress until the next try is due, and preserves the thread's error. Warns after 10 s,
    // as waits do. False: no more tries; after a wait, the error's text tells how long it was.
    bool pause(Rank &rank);

  private:
    std::int64_t wait_ns_;
    std::int64_t started_ns_ = 0;  // at the first refusal; 0: there was none
    Deadline limit_ = Deadline::never();
    std::int64_t pause_ns_ = 20'000;  // doubles
};

// Checks place and notice, as far as this rank can without a message. Errors: ARG, RANGE, and those
// of check_lives().
sennit_status check_arguments(Rank &rank, const Attached &attached, const NotifyArgs &args);
// The same, and finds the signals. Errors: also those of reach(), SIGNAL_OVERFLOW (the local one
// has fired).
sennit_status prepare(Rank &rank, Attached &attached, const NotifyArgs &args, Prepared *prepared);
// Whether the data of a put goes with its event in tasks.
bool goes_with_event(Rank &rank, const Prepared &prepared, const NotifyArgs &args);
EventArgs event_with_data(const Prepared &prepared, const NotifyArgs &args, std::uint32_t messages);
// Starts a put or get by messages, and its event with it or after it. The data must not be empty,
// and the owner must accept the event, unless `how` holds the data until then. `how` is for the
// data.
sennit_status start_with_event(Rank &rank, const Prepared &prepared, const NotifyArgs &args,
                               op::Completion how);
inline op::Moved moved_by(const NotifyArgs &args) {
    return {args.local, args.bytes, args.layout};
}
// Called when the data is complete and the remote event counted.
sennit_status conclude(Rank &rank, const Prepared &prepared);
// The part of conclude() for the epochs of the block.
inline void advance_block_epoch(Rank &rank, const Prepared &prepared) {
    if (!prepared.remote.is_none() && !prepared.is_current())
        runtime::note_sent(rank, prepared.remote.signal, prepared.epoch);
    if (prepared.notified != nullptr && !prepared.remote.is_none() && !prepared.is_current())
        prepared.notified->set_next(prepared.epoch + 1);
}

}  // namespace sennit::signal
