// SPDX-License-Identifier: BSD-3-Clause
// Runs of plans.
#include <initializer_list>

#include "base/fail.hpp"
#include "observe/observer.hpp"
#include "op/packed.hpp"
#include "op/rma.hpp"
#include "op/strided.hpp"
#include "plan/plan.hpp"
#include "runtime/whole_call.hpp"
#include "signal/carried.hpp"
#include "signal/event_task.hpp"

namespace sennit::plan {
namespace {

template <class Copy>
void move_each(const Move *move, const MoveRange &range, Copy copy) {
    const std::uint64_t bytes = range.bytes;  // a copy that no move can change
    for (const Move *const end = move + range.moves; move != end; ++move)
        copy(move->to, move->from, bytes);
}

// Checks the size once for the range. Returns the end of the range.
const Move *move_range(const Move *move, const MoveRange &range) {
    const Move *const end = move + range.moves;
    if (range.bytes == sizeof(std::uint64_t)) {
        // Unrolled, since moving a word takes one cycle, as long as the loop's own counting.
#pragma GCC unroll 8
        for (; move != end; ++move)
            copy_any(move->to, move->from, sizeof(std::uint64_t));
    } else if (range.bytes <= kShortBytes) {
        move_each(move, range, copy_short);
    } else if (range.bytes <= kMiddleBytes) {
        move_each(move, range, copy_middle);
    } else {
        move_each(move, range, copy_bytes);
    }
    return end;
}

// Returns false if there are too many messages; the count was then undone.
bool count_group(const BlockGroup &group, std::uint64_t epoch) {
    const signal::RemoteSignal &remote = group.notified->remote;
    if (signal::is_unchecked(remote.signal.handle)) [[unlikely]]
        return signal::count_unchecked(remote, group.notified->expected, {epoch, group.messages});
    return remote.is_none() ||
           signal::count_whole(remote, group.notified->expected, epoch, group.messages);
}

bool count_group_in_current(const BlockGroup &group, std::uint64_t) {
    const signal::RemoteSignal &remote = group.notified->remote;
    return remote.is_none() ||
           signal::count_current(remote, group.notified->expected, group.messages);
}

template <bool (*kCount)(const BlockGroup &, std::uint64_t)>
bool run_each_group(Plan &plan) {
    const std::uint64_t epoch = plan.next_epoch;
    plan.next_epoch = epoch + plan.epoch_step;
    bool is_counted = true;
    const Move *move = plan.moves;
    const MoveRange *range = plan.ranges;
    for (std::uint32_t i = 0; i < plan.group_count; ++i) {
        const BlockGroup &group = plan.groups[i];
        for (const MoveRange *end = range + group.range_count; range != end; ++range)
            move = move_range(move, *range);
        is_counted &= kCount(group, epoch);
    }
    if (is_counted) plan.state = PlanState::running;
    return is_counted;
}

signal::Batch batch_of(const BatchParts &parts) {
    return {op::Direction::put, parts.parts, parts.count, parts.directions};
}

// Checks all groups before any data moves.
sennit_status check_start(Rank &rank, Plan &plan) {
    if (plan.next_epoch >= SENNIT_EPOCH_CURRENT && !plan.is_current())
        return fail(SENNIT_ERR_ARG, "the plan has no epochs left");
    for (std::uint32_t i = 0; i < plan.group_count; ++i) {
        const BlockGroup &group = plan.groups[i];
        const signal::Attached *attached = signal::find_attached(rank, group.block);
        if (attached == nullptr) return fail_not_attached(plan);
        sennit_status status = signal::check_lives(rank, *attached);
        if (status != SENNIT_OK) return status;
        const signal::RemoteSignal &remote = group.notified->remote;
        if (remote.is_none() || group.goes_by_message) continue;
        signal::Seen seen{};
        status = signal::check_epoch(rank, remote, plan.next_epoch, &seen);
        if (status != SENNIT_OK) return status;
    }
    const sennit_status status = check_local(rank, plan);
    if (status != SENNIT_OK || plan.is_by_pointer) return status;
    for (std::uint32_t i = 0; i < plan.group_count; ++i)
        plan.notices[i].epoch = plan.next_epoch;
    return signal::check_batch(rank, batch_of(plan.checked_parts));
}

}  // namespace

bool run_groups(Plan &plan) {
    return run_each_group<count_group>(plan);
}

bool run_groups_in_current(Plan &plan) {
    return run_each_group<count_group_in_current>(plan);
}

bool count_words(Plan &plan) {
    const std::uint64_t epoch = plan.next_epoch;
    plan.next_epoch = epoch + plan.epoch_step;
    const bool is_counted = count_group(plan.groups[0], epoch);
    if (is_counted) plan.state = PlanState::running;
    return is_counted;
}

namespace {

// A run of a plan, group by group. Starts the groups with messages first, then executes the others.
class Run {
  public:
    Run(Rank &rank, Plan &plan) : rank_(rank), plan_(plan) {}
    // Errors: as sennit_plan_start(). After an error the plan is idle, or running if the program
    // must still wait for it.
    sennit_status start();

  private:
    struct Part {
        const sennit_notify_part &part;
        op::Direction direction;
        sennit_gptr place;
        const op::Layout *layout;

        op::Moved moved() const { return {part.local, part.bytes, layout}; }
    };
    Part part_of(const BlockGroup &group, std::uint32_t number) const {
        const sennit_notify_part &part = plan_.executed_parts.parts[number];
        sennit_gptr place = group.attached->gptr;
        place.offset += part.offset;
        return {part, plan_.executed_parts.directions[number], place,
                plan_.executed_parts.layouts[number]};
    }
    bool goes_packed(const BlockGroup &group) const;
    bool goes_packed(const BlockGroup &group, std::uint32_t number) const;
    bool goes_with_event(const BlockGroup &group, std::uint32_t first) const;
    sennit_status execute();
    sennit_status start_group(const BlockGroup &group, std::uint32_t first);
    sennit_status start_pieces(const BlockGroup &group, std::uint32_t first,
                               op::OperationRecord *event, op::EventForm *form);
    sennit_status start_packed(const BlockGroup &group, std::uint32_t first);
    bool divide(const BlockGroup &group, std::uint32_t first, op::EventForm *form) const;
    sennit_status do_group(const BlockGroup &group, std::uint32_t first);

    Rank &rank_;
    Plan &plan_;
    const std::uint64_t epoch_ = plan_.next_epoch;
};

// An op::AtEnd. The last piece counts the local events. Any thread of the rank may run this, so the
// thread's last error is restored.
void end_piece(Rank &rank, std::uint64_t context, int peer, sennit_status status) {
    Plan &plan = *reinterpret_cast<Plan *>(context);
    if (plan.failure == SENNIT_OK && status != SENNIT_OK) {
        plan.failure = status;
        plan.failed_peer = peer;
    }
    if (--plan.open != 0 || plan.failure != SENNIT_OK || plan.local_count == 0) return;
    const ErrorGuard unrelated;
    (void)count_local(rank, plan);
}

op::Completion of_piece(Plan &plan) {
    op::Completion how;
    how.mode = op::Completion::Mode::implicit;
    how.at_end = {end_piece, reinterpret_cast<std::uint64_t>(&plan), true};
    return how;
}

// Whether the group's data, if any, is sent with its event, in one or more tasks.
bool Run::goes_with_event(const BlockGroup &group, std::uint32_t first) const {
    const signal::RemoteSignal &remote = group.notified->remote;
    if (remote.is_none()) return false;
    if (group.part_count == 0) return true;
    if (group.packed != nullptr)
        return op::engine_may_copy(rank_, op::bytes_with_words(*group.packed));
    if (group.part_count > 1 || plan_.executed_parts.layouts[first] != nullptr) return false;
    return plan_.executed_parts.directions[first] == op::Direction::put &&
           plan_.executed_parts.parts[first].bytes <= signal::most_event_data(rank_, remote) &&
           op::engine_may_copy(rank_, plan_.executed_parts.parts[first].bytes);
}

// Whether tasks carry the runs of all parts together, without an event.
bool Run::goes_packed(const BlockGroup &group) const {
    return group.packed != nullptr && group.notified->remote.is_none() &&
           op::goes_packed(rank_, group.attached->gptr.rank, *group.packed);
}

// Whether tasks carry the runs of one part, before the event.
bool Run::goes_packed(const BlockGroup &group, std::uint32_t number) const {
    const op::Layout *const layout = plan_.executed_parts.layouts[number];
    return layout != nullptr && plan_.executed_parts.directions[number] == op::Direction::put &&
           signal::goes_packed(rank_, group.notified->remote, *layout);
}

// Divides the puts of a group into the pieces of one message. Returns false if completion data
// cannot carry its events.
bool Run::divide(const BlockGroup &group, std::uint32_t first, op::EventForm *form) const {
    const auto &all = plan_.executed_parts;
    std::uint64_t bytes = 0;
    for (std::uint32_t i = first; i < first + group.part_count; ++i) {
        if (all.directions[i] != op::Direction::put || goes_packed(group, i)) return false;
        bytes += all.parts[i].bytes;
    }
    if (bytes == 0) return false;
    form->piece_bytes = op::engine_piece_bytes(rank_, group.attached->gptr.rank, bytes);
    std::uint64_t parts = 0;
    for (std::uint32_t i = first; i < first + group.part_count; ++i)
        parts += op::piece_count(all.layouts[i], all.parts[i].bytes, form->piece_bytes);
    form->parts = static_cast<std::uint32_t>(parts);
    return parts <= form->most_parts;
}

// Starts all pieces of a group. If form->index is not 0, each piece carries its part of the event
// in completion data. Otherwise the event is `event`, which follows the last piece.
sennit_status Run::start_pieces(const BlockGroup &group, std::uint32_t first,
                                op::OperationRecord *event, op::EventForm *form) {
    op::Completion how = of_piece(plan_);
    how.then = event;
    sennit_status status = SENNIT_OK;
    for (std::uint32_t i = first; i < first + group.part_count; ++i) {
        const Part part = part_of(group, i);
        const bool has_events = form->index != 0;
        how.events = has_events ? form : nullptr;
        if (status != SENNIT_OK)
            op::engine_skip(rank_, how, part.place.rank, status);
        else if (!has_events && goes_packed(group, i))
            status = signal::start_packed(rank_, group.notified->remote, epoch_,
                                          {part.place, part.part.local, part.layout}, how);
        else
            status = op::start_by_message(rank_, part.direction, part.place, part.moved(), how);
        form->is_continued = true;
    }
    return status;
}

sennit_status Run::start_packed(const BlockGroup &group, std::uint32_t first) {
    return op::start_by_message(
        rank_, op::Direction::put, group.attached->gptr,
        {plan_.executed_parts.parts[first].local, group.packed->bytes, group.packed},
        of_piece(plan_));
}

sennit_status Run::start_group(const BlockGroup &group, std::uint32_t first) {
    const signal::RemoteSignal &remote = group.notified->remote;
    const signal::Messages messages{epoch_, group.messages};
    if (goes_with_event(group, first)) {
        signal::EventArgs event{.remote = &remote, .messages = messages};
        if (group.part_count != 0) {
            const Part part = part_of(group, first);
            event.place = part.place;
            event.data = part.part.local;
            event.bytes = part.part.bytes;
            if (group.packed != nullptr) {
                event.place = group.attached->gptr;
                event.bytes = group.packed->bytes;
                event.layout = group.packed;
            } else if (event.bytes != 0 &&
                       signal::post_short(
                           rank_, remote, messages,
                           {part.place, group.attached->live_value, event.data, event.bytes})) {
                return SENNIT_OK;
            }
        }
        return signal::start_posted(rank_, event);
    }
    if (goes_packed(group)) {
        op::engine_count_up(rank_, &plan_.open, 1);
        return start_packed(group, first);
    }
    op::Held event{nullptr, group.part_count};
    op::EventForm form{};
    if (!remote.is_none()) {
        const sennit_status status =
            signal::hold_message(rank_, remote, messages, &event, &form,
                                 [&](op::EventForm *made) { return divide(group, first, made); });
        if (status != SENNIT_OK) return status;
    }
    op::engine_count_up(rank_, &plan_.open, group.part_count);
    return start_pieces(group, first, event.record, &form);
}

// Executes a group without messages; it is complete on return.
sennit_status Run::do_group(const BlockGroup &group, std::uint32_t first) {
    for (std::uint32_t i = first; i < first + group.part_count; ++i) {
        const Part part = part_of(group, i);
        const sennit_status status =
            op::transfer_moved(rank_, part.direction, part.place, part.moved(), {});
        if (status != SENNIT_OK) return status;
    }
    const signal::RemoteSignal &remote = group.notified->remote;
    if (!remote.is_none() && remote.record == nullptr)
        return signal::post_event(rank_, {.remote = &remote, .messages = {epoch_, group.messages}});
    const bool is_counted =
        plan_.is_current() ? count_group_in_current(group, epoch_) : count_group(group, epoch_);
    return is_counted ? SENNIT_OK : SENNIT_ERR_SIGNAL_OVERFLOW;
}

sennit_status Run::execute() {
    for (const bool by_message : {true, false}) {
        std::uint32_t first = 0;
        for (std::uint32_t i = 0; i < plan_.group_count; first += plan_.groups[i++].part_count) {
            const BlockGroup &group = plan_.groups[i];
            if (group.goes_by_message != by_message) continue;
            const sennit_status status =
                by_message ? start_group(group, first) : do_group(group, first);
            if (status != SENNIT_OK) return status;
        }
    }
    return SENNIT_OK;
}

sennit_status Run::start() {
    plan_.failure = SENNIT_OK;
    if (rank_.engine == nullptr) {
        sennit_status status = execute();
        if (status == SENNIT_OK) status = count_local(rank_, plan_);
        if (status != SENNIT_OK) plan_.state = PlanState::idle;
        return status;
    }
    // The extra count keeps `open` above 0 until all pieces have been started.
    op::engine_count_up(rank_, &plan_.open, 1);
    const sennit_status status = execute();
    const sennit_error why = *thread_error();
    op::engine_skip(rank_, of_piece(plan_), why.peer, status);
    if (status == SENNIT_OK) return status;
    const bool is_over = op::engine_await_zero(rank_, plan_.open, "sennit_plan_start",
                                               default_deadline()) == SENNIT_OK;
    *thread_error() = why;
    // Running: the program must still wait for the pieces.
    plan_.state = is_over ? PlanState::idle : PlanState::running;
    return status;
}

// Waits until all pieces are complete and all events are sent, since the program may next wait
// outside of Sennit for a reaction to the events.
sennit_status await_run(Rank &rank, const Plan &plan, const Deadline &deadline) {
    sennit_status status = op::engine_await_zero(rank, plan.open, "sennit_plan_wait", deadline);
    for (std::uint32_t i = 0; status == SENNIT_OK && i < plan.group_count; ++i)
        if (plan.groups[i].goes_by_message)
            status = op::engine_await_sent(rank, plan.groups[i].attached->gptr.rank, deadline);
    // PEER_LOST can only come from an event, and flush reports it; the pieces are complete.
    return status == SENNIT_ERR_PEER_LOST ? SENNIT_OK : status;
}

void note_run(Rank &rank, const Plan &plan) {
    for (std::uint32_t i = 0; i < plan.group_count; ++i) {
        const signal::RemoteSignal &remote = plan.groups[i].notified->remote;
        if (!remote.is_none()) runtime::note_sent(rank, remote.signal, plan.next_epoch);
    }
}

// Errors: as sennit_plan_start().
sennit_status run(Rank &rank, Plan &plan) {
    // If the rank has an observer, no plan is_by_pointer.
    if (!plan.is_by_pointer) {
        plan.state = PlanState::running;
        const sennit_status status = Run(rank, plan).start();
        if (rank.observer != nullptr && status == SENNIT_OK && !plan.is_current()) [[unlikely]]
            note_run(rank, plan);
        plan.next_epoch += plan.epoch_step;
        return status;
    }
    const bool is_counted = plan.is_current() ? run_groups_in_current(plan) : run_groups(plan);
    const sennit_status status = is_counted ? count_local(rank, plan) : SENNIT_ERR_SIGNAL_OVERFLOW;
    plan.state = status == SENNIT_OK ? PlanState::running : PlanState::idle;
    return status;
}

}  // namespace

sennit_status start(Rank &rank, Plan &plan) {
    if (plan.state != PlanState::idle)
        return check_state(plan, PlanState::idle,
                           plan.state == PlanState::recording ? "it was not committed"
                                                              : "its last run was not waited for");
    const WholeCall call;
    sennit_status status = check_start(rank, plan);
    if (status != SENNIT_OK) return status;
    return run(rank, plan);
}

sennit_status wait(Rank &rank, Plan &plan, const Deadline &deadline) {
    sennit_status status = check_state(plan, PlanState::running, "no run was started");
    if (status == SENNIT_OK && !plan.is_by_pointer && rank.engine != nullptr)
        status = await_run(rank, plan, deadline);
    if (status != SENNIT_OK) return status;
    plan.state = PlanState::idle;
    // No lock: nothing is in progress any more.
    if (plan.failure == SENNIT_OK) return SENNIT_OK;
    return fail_peer(plan.failure, plan.failed_peer, "", "an operation of plan %#x failed: %s",
                     handle_of(plan), sennit_status_string(plan.failure));
}

}  // namespace sennit::plan
