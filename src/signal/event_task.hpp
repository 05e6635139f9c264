// SPDX-License-Identifier: BSD-3-Clause
// Events as tasks for the owner's processor: the sender's side and the owner's. The owner first
// checks the epoch, so a refused event has moved no data; then it stores the data of the task, and
// counts. A task is executed once, even if messages are repeated. docs/design/signals.md has the
// number of trips.
#pragma once

#include "op/engine.hpp"
#include "signal/signals.hpp"
#include "signal/subscriptions.hpp"

namespace sennit::signal {

// The most data that fits into the event's message; more is put beforehand.
std::size_t most_event_data(const Rank &rank, const RemoteSignal &remote);
// Whether all runs of a put fit into one task.
bool fits_in_task(const Rank &rank, const RemoteSignal &remote, const op::Layout &layout);
// Whether all runs of a put go with its event, in tasks: the data may be copied, and either the
// runs fit into one task, or several tasks are faster than a write for each run.
bool goes_packed(Rank &rank, const RemoteSignal &remote, const op::Layout &layout);

struct EventArgs {
    const RemoteSignal *remote;
    Messages messages;  // their count 0: the owner checks one event and counts nothing
    sennit_gptr place = SENNIT_GPTR_NULL;  // of the data
    const void *data = nullptr;            // or null
    std::size_t bytes = 0;
    op::EventAction action = op::EventAction::count;
    NumberedMessage message = {};  // of the action, if it has one
    // The runs of the data, if not null; not empty. If they take several tasks, the owner checks
    // each one and counts with the last.
    const op::Layout *layout = nullptr;
};
// If `how` is op::kBuffered, or has a request and is_buffered, *answer is set when the operation is
// complete. Else `answer` is null, and the operation ends with the answer's status. Errors: those
// of a put, UNSUPPORTED (the path carries no tasks).
sennit_status start_event(Rank &rank, const EventArgs &args, std::uint64_t *answer,
                          const op::Completion &how);

// Returns the status in the owner's answer and caches its epoch. Errors: SIGNAL_EARLY,
// SIGNAL_OVERFLOW (the epoch is over, or too many messages), NOT_REGISTERED, PEER_LOST (a dead
// owner never reaches the epoch).
sennit_status check_answer(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                           std::uint64_t answer);

// Sends the event and checks the answer.
sennit_status send_event(Rank &rank, const EventArgs &args);
// As post_accepted() if the owner is known to accept the messages, else as send_event().
sennit_status post_event(Rank &rank, const EventArgs &args);
// For an event that the owner is known to accept: the call ends when the message is sent, and flush
// reports errors of the answer.
sennit_status post_accepted(Rank &rank, const EventArgs &args);
// As post_accepted() for messages with the put's data; sets the put's task and check. False:
// nothing was sent, use post_accepted().
bool post_short(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                op::ShortEvent put);
// As post_accepted(), but the caller waits until the message is sent: op::engine_await_sent().
sennit_status start_posted(Rank &rank, const EventArgs &args);
// Starts the event's task, but holds it until the operations that name it are complete; their
// number is event->awaited. Flush reports a later refusal. If message.index is not 0, these
// operations carry the events in completion data, and the held task confirms them.
sennit_status hold_event(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                         const NumberedMessage &message, op::Held *event);
// A put in tasks that count nothing, to an owner that accepts it; `how` is for all tasks together.
struct PackedPut {
    sennit_gptr place;
    const void *local;
    const op::Layout *layout;
};
sennit_status start_packed(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch,
                           const PackedPut &put, const op::Completion &how);
// Whether the owner is known to accept the event. If not, it must be asked.
bool is_known_accepted(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch);
// The same after waiting for an answer that is already on its way: that costs less than a question.
bool is_known_accepted_soon(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch);
// Asks the owner whether it would count one message of the epoch.
sennit_status ask_owner(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch);

// Three of op::EventHandlers. Owner: execute_event_task, renew_answer. Sender: learn_answer. An
// answer "counted" gets the owner's epoch at the time when it is sent, and travels with any message
// of the owner. So ranks that put to each other, and reset before they put again, need not ask.
std::uint64_t execute_event_task(Rank &rank, const op::ArrivedEvent &arrived);
std::uint64_t renew_answer(Rank &rank, std::uint32_t handle, std::uint64_t answer);
void learn_answer(Rank &rank, int peer, std::uint32_t handle, std::uint64_t answer);

}  // namespace sennit::signal
