// Events that messages bring as tasks for the owner's processor: both ends. The owner judges the
// epoch first, so that nothing has moved where it refuses, then takes the data that came along, and
// counts. A task is carried out once, whatever is repeated. docs/design/signals.md has the trips.
#pragma once

#include "op/engine.hpp"
#include "signal/signals.hpp"

namespace sennit::signal {

// So much data goes with an event to the peer; the rest goes before it.
std::size_t most_event_data(const Rank &rank, const RemoteSignal &remote);

// `data` is for `place`, or null. No messages: the owner judges one, and counts nothing. *answer is
// there when the operation is complete; `how` is op::kKept, or with a request and is_kept. Errors:
// those of a put, UNSUPPORTED (the path carries no tasks).
struct EventArgs {
    const RemoteSignal *remote;
    Messages messages;
    sennit_gptr place = SENNIT_GPTR_NULL;
    const void *data = nullptr;
    std::size_t bytes = 0;
};
sennit_status start_event(Rank &rank, const EventArgs &args, std::uint64_t *answer,
                          const op::Completion &how);

// What the owner has answered; *known, if not null, becomes its epoch if that is later. Errors:
// SIGNAL_EARLY, SIGNAL_OVERFLOW (the epoch is over, or there were too many of them),
// NOT_REGISTERED, PEER_LOST (an owner that is gone never gets to the epoch).
sennit_status judge_answer(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                           std::uint64_t answer, std::uint64_t *known);

// Both, one after the other.
sennit_status send_event(Rank &rank, const EventArgs &args, std::uint64_t *known);
// Would the owner count one message of the epoch?
sennit_status ask_owner(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch,
                        std::uint64_t *known);

// Where the event would ride in completion data, the record is fetched in place of a question.
// `how` is as for start_event(). What check_epoch() makes of what was seen: judge_epoch().
sennit_status start_look(Rank &rank, const RemoteSignal &remote, SignalRecord *copy,
                         const op::Completion &how);
Seen seen_in(const SignalRecord &copy);
sennit_status judge_epoch(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch, Seen *seen);

// The owner's half, an op::EventTaskConsumer.
std::uint64_t take_event(Rank &rank, const op::ArrivedEvent &arrived);

}  // namespace sennit::signal
