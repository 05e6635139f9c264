// SPDX-License-Identifier: BSD-3-Clause
// Events that messages bring as tasks for the owner's processor: both ends. The owner judges the
// epoch first, so that nothing has moved where it refuses, then takes the data that came along, and
// counts. A task is carried out once, whatever is repeated. docs/design/signals.md has the trips.
#pragma once

#include "op/engine.hpp"
#include "signal/signals.hpp"
#include "signal/subscriptions.hpp"

namespace sennit::signal {

// So much data goes with an event to the peer; the rest goes before it.
std::size_t most_event_data(const Rank &rank, const RemoteSignal &remote);
// Do all runs of a put go in one task?
bool fits_in_task(const Rank &rank, const RemoteSignal &remote, const op::Layout &layout);
// Do all go with its event? In one task if they fit, or in several where these bring
// them faster than a write for each, and if they may be copied.
bool goes_packed(Rank &rank, const RemoteSignal &remote, const op::Layout &layout);

// `data` is for `place`, or null; with a layout, which is not empty, its runs are, and where these
// take several tasks the owner judges each, and counts with the last. No messages: it judges one,
// and counts nothing. `message`: which one the action is about, if any. `how` is
// op::kKept, or with a request and is_kept: then *answer is there when the operation is complete.
// Else `answer` is null, and what it says the operation ends with. Errors: those of a put,
// UNSUPPORTED (the path carries no tasks).
struct EventArgs {
    const RemoteSignal *remote;
    Messages messages;
    sennit_gptr place = SENNIT_GPTR_NULL;
    const void *data = nullptr;
    std::size_t bytes = 0;
    op::EventAction action = op::EventAction::count;
    NumberedMessage message = {};
    const op::Layout *layout = nullptr;
};
sennit_status start_event(Rank &rank, const EventArgs &args, std::uint64_t *answer,
                          const op::Completion &how);

// What the owner has answered, which is known from now on. Errors: SIGNAL_EARLY, SIGNAL_OVERFLOW
// (the epoch is over, or there were too many of them), NOT_REGISTERED, PEER_LOST (an owner that is
// gone never gets to the epoch).
sennit_status judge_answer(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                           std::uint64_t answer);

// Both, one after the other.
sennit_status send_event(Rank &rank, const EventArgs &args);
// The same, unless it is known that the owner lets the messages in: then the call
// is over when the message is on its way, and errors of the answer are flush's.
sennit_status post_event(Rank &rank, const EventArgs &args);
// Of one that is let in: the call is over as that one's then.
sennit_status post_let_in(Rank &rank, const EventArgs &args);
// The same; op::engine_await_sent() is the caller's.
sennit_status start_posted(Rank &rank, const EventArgs &args);
// Held until event->awaited operations that name it are over; what it then may be refused for is
// flush's. `message`: those are of one that completion data tells of, unless its index is 0.
sennit_status hold_event(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                         const NumberedMessage &message, op::Held *event);
// A put in tasks that count nothing, of an owner that lets it in; `how` is of all of them.
struct PackedPut {
    sennit_gptr place;
    const void *local;
    const op::Layout *layout;
};
sennit_status start_packed(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch,
                           const PackedPut &put, const op::Completion &how);
// Is it known that the owner lets the event in? If not, it is to be asked.
bool is_let_in(const Rank &rank, const RemoteSignal &remote, std::uint64_t epoch);
// The same, once what the owner is about to tell has come: it costs less than a question.
bool is_let_in_soon(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch);
// Would the owner count one message of the epoch?
sennit_status ask_owner(Rank &rank, const RemoteSignal &remote, std::uint64_t epoch);

// The owner's half: three of op::EventHandlers. Of an answer that said "counted" the epoch is
// renewed, and the sender hears it with any message of the owner's. So ranks that put to each
// other, and reset before they put again, need not ask.
std::uint64_t take_event(Rank &rank, const op::ArrivedEvent &arrived);
std::uint64_t renew_answer(Rank &rank, std::uint32_t handle, std::uint64_t answer);
void hear_answer(Rank &rank, int peer, std::uint32_t handle, std::uint64_t answer);

}  // namespace sennit::signal
