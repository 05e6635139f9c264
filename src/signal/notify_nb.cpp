// SPDX-License-Identifier: BSD-3-Clause
// Notified puts and gets that continue after their call has returned.
#include "base/fail.hpp"
#include "observe/observer.hpp"
#include "runtime/whole_call.hpp"
#include "signal/carried.hpp"
#include "signal/event_task.hpp"
#include "signal/prepared.hpp"

namespace sennit::signal {
namespace {

using op::Completion;

// An op::AtEnd: counts in the caller's local signal that the private buffer may be reused. Any
// thread of the rank may run this, so its last error is restored; a wait for the signal reports
// errors.
void count_local(Rank &rank, std::uint64_t handle, int, sennit_status status) {
    const sennit_signal signal{rank.world_rank, static_cast<std::uint32_t>(handle)};
    const Own *own = find_own(rank, signal);
    if (status != SENNIT_OK || own == nullptr) return;
    const ErrorGuard unrelated;
    RemoteSignal self;
    if (reach(rank, signal, &self) == SENNIT_OK)
        (void)count_current(self, {own->events, own->event_bits});
}

Completion completion_of(const Prepared &prepared, sennit_request *request) {
    Completion how;
    how.mode = request == nullptr ? Completion::Mode::implicit : Completion::Mode::request;
    how.request = request;
    if (!prepared.local.is_none()) how.at_end = {count_local, prepared.local.signal.handle};
    return how;
}

// Whether tasks carry the data, copied, and the event.
bool is_by_tasks(Rank &rank, const Prepared &prepared, const NotifyArgs &args) {
    return !prepared.remote.is_none() && goes_with_event(rank, prepared, args) &&
           op::engine_may_copy(rank, args.bytes);
}

// Starts one task, or several if the owner is known to accept them. If that is unknown, the request
// completes with the owner's answer.
sennit_status start_task(Rank &rank, const Prepared &prepared, const NotifyArgs &args,
                         bool is_known_accepted, sennit_request *request) {
    const EventArgs event = event_with_data(prepared, args, 1);
    if (!is_known_accepted) {
        const sennit_status status =
            start_event(rank, event, nullptr, completion_of(prepared, request));
        if (status == SENNIT_OK) advance_block_epoch(rank, prepared);
        return status;
    }
    const sennit_status status = start_posted(rank, event);
    return status == SENNIT_OK ? conclude(rank, prepared) : status;
}

// Asks the owner; the data is held, and moves only if the owner accepts the event.
sennit_status start_behind_question(Rank &rank, const Prepared &prepared, const NotifyArgs &args,
                                    sennit_request *request) {
    sennit_request of_data = SENNIT_REQUEST_NULL;
    op::Held data;
    Completion how = completion_of(prepared, &of_data);
    how.held = &data;
    sennit_status status = is_by_tasks(rank, prepared, args)
                               ? start_event(rank, event_with_data(prepared, args, 1), nullptr, how)
                               : start_with_event(rank, prepared, args, how);
    if (status != SENNIT_OK) return status;
    Completion question;
    question.mode = Completion::Mode::implicit;
    question.then = data.record;
    status = start_event(rank, {.remote = &prepared.remote, .messages = {prepared.epoch, 0}},
                         nullptr, question);
    if (status == SENNIT_OK && request != nullptr) {
        *request = of_data;
    } else {
        // Nothing waits for the data. This call reports errors now, and flush reports later ones.
        op::engine_abandon(rank, of_data,
                           status == SENNIT_OK ? op::Abandoned::goes_on : op::Abandoned::library_s);
    }
    return status;
}

sennit_status start_by_messages(Rank &rank, const Prepared &prepared, const NotifyArgs &args,
                                sennit_request *request) {
    const RemoteSignal &remote = prepared.remote;
    const bool is_in = remote.is_none() || prepared.is_current() ||
                       is_known_accepted(rank, remote, prepared.epoch);
    const bool is_one_task =
        args.layout == nullptr || remote.is_none() || fits_in_task(rank, remote, *args.layout);
    const bool goes_at_once = (is_in || is_one_task) && is_by_tasks(rank, prepared, args);
    if (goes_at_once || args.bytes == 0) return start_task(rank, prepared, args, is_in, request);
    const sennit_status status =
        is_in ? start_with_event(rank, prepared, args, completion_of(prepared, request))
              : start_behind_question(rank, prepared, args, request);
    if (status == SENNIT_OK) advance_block_epoch(rank, prepared);
    return status;
}

}  // namespace

sennit_status hold_event(Rank &rank, const RemoteSignal &remote, const Messages &messages,
                         const NumberedMessage &message, op::Held *event) {
    Completion how;
    how.mode = Completion::Mode::implicit;
    how.held = event;
    if (message.index != 0) runtime::note_message(rank, runtime::CountedMessage::carried, 0);
    const op::EventAction action =
        message.index != 0 ? op::EventAction::confirm : op::EventAction::count;
    return start_event(
        rank, {.remote = &remote, .messages = messages, .action = action, .message = message},
        nullptr, how);
}

namespace {

// Divides a message of many runs. False: it has more pieces than completion data can express.
bool divide(Rank &rank, const Prepared &prepared, const NotifyArgs &args, op::EventForm *form) {
    if (args.layout == nullptr) return true;
    form->piece_bytes = op::engine_piece_bytes(rank, prepared.place.rank, args.bytes);
    const std::uint64_t pieces = op::piece_count(*args.layout, form->piece_bytes);
    form->parts = static_cast<std::uint32_t>(pieces);
    return pieces <= form->most_parts;
}

}  // namespace

sennit_status start_with_event(Rank &rank, const Prepared &prepared, const NotifyArgs &args,
                               Completion how) {
    const RemoteSignal &remote = prepared.remote;
    op::Held event;
    op::EventForm form{};
    if (!remote.is_none()) {
        const Messages messages{prepared.epoch, 1};
        const auto divides = [&](op::EventForm *made) {
            return divide(rank, prepared, args, made);
        };
        const sennit_status status =
            args.direction == op::Direction::put
                ? hold_message(rank, remote, messages, &event, &form, divides)
                : hold_event(rank, remote, messages, {}, &event);
        if (status != SENNIT_OK) return status;
        how.then = event.record;
        if (form.index != 0) how.events = &form;
    }
    return op::start_by_message(rank, args.direction, prepared.place, moved_by(args), how);
}

sennit_status notify_nb(Rank &rank, Attached &attached, const NotifyArgs &args,
                        sennit_request *request) {
    const WholeCall call;
    if (request != nullptr) *request = SENNIT_REQUEST_NULL;
    if (args.notice != nullptr && args.notice->wait_ns != 0)
        return fail(SENNIT_ERR_ARG, "a call that returns at once has no time to wait: wait_ns");
    Prepared prepared;
    sennit_status status = prepare(rank, attached, args, &prepared);
    if (status != SENNIT_OK) return status;
    // Without messages the blocking call does the same.
    bool is_by_message = prepared.remote.record == nullptr && !prepared.remote.is_none();
    if (prepared.remote.is_none() && args.bytes != 0) {
        op::Target target;
        status = op::target_of_moved(rank, prepared.place, moved_by(args), &target, &is_by_message);
        if (status != SENNIT_OK) return status;
    }
    return is_by_message ? start_by_messages(rank, prepared, args, request)
                         : notify(rank, attached, args);
}

}  // namespace sennit::signal
