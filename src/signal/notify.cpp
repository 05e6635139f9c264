// SPDX-License-Identifier: BSD-3-Clause
// Notified put and get in all cases that notify_at_once() does not handle. The order is the same:
// check the epoch, move the data, count the event.
#include <algorithm>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "op/strided.hpp"
#include "request/request.hpp"
#include "runtime/whole_call.hpp"
#include "signal/event_task.hpp"
#include "signal/prepared.hpp"

namespace sennit::signal {
namespace {

bool is_same(sennit_signal a, sennit_signal b) {
    return a.rank == b.rank && a.handle == b.handle;
}

// Whether the call names a signal other than the block's own.
bool names_another(const Notified &own, const sennit_notice *notice) {
    return notice != nullptr && notice->remote.handle != 0 &&
           !is_same(notice->remote, own.remote.signal);
}

const Notified &own_of(const Attached &attached, op::Direction direction) {
    return direction == op::Direction::put ? attached.put : attached.get;
}

sennit_status check_place(Rank &rank, const Attached &attached, const NotifyArgs &args) {
    if (args.local == nullptr && args.bytes != 0)
        return fail(SENNIT_ERR_ARG, "the private buffer is null");
    const sennit_status status = check_inside(attached, args.offset, args.bytes, args.layout);
    return status != SENNIT_OK ? status : check_lives(rank, attached);
}

sennit_status not_own(sennit_signal local) {
    return fail(SENNIT_ERR_ARG, "the local signal {%d, %#x} is not the caller's", local.rank,
                local.handle);
}

sennit_status check_notice(const Rank &rank, const Attached &attached, const NotifyArgs &args) {
    const sennit_notice *notice = args.notice;
    if (notice == nullptr) return SENNIT_OK;
    const bool is_another = names_another(own_of(attached, args.direction), notice);
    if (is_another && notice->remote.rank != attached.gptr.rank)
        return fail(SENNIT_ERR_ARG, "the signal is of rank %d, and the block of rank %d",
                    notice->remote.rank, attached.gptr.rank);
    if (is_another && notice->epoch == SENNIT_EPOCH_NEXT)
        return fail(SENNIT_ERR_ARG, "a signal that is not the block's own needs its epoch");
    if (notice->wait_ns < 0)
        return fail(SENNIT_ERR_ARG, "wait_ns is %lld; SENNIT_FOREVER waits without end",
                    static_cast<long long>(notice->wait_ns));
    if (notice->local.handle != 0 && find_own(rank, notice->local) == nullptr)
        return not_own(notice->local);
    return SENNIT_OK;
}

// Finds the local signal, and refuses it before anything moves if it has fired.
sennit_status reach_local(Rank &rank, const NotifyArgs &args, RemoteSignal *local) {
    if (args.notice == nullptr || args.notice->local.handle == 0) return SENNIT_OK;
    const Own *own = find_own(rank, args.notice->local);
    if (own == nullptr) return not_own(args.notice->local);
    if (has_fired(*own))
        return fail_surplus(args.notice->local, {own->events, own->event_bits},
                            {own_epoch(*own), 1}, 0);
    return reach(rank, args.notice->local, local);
}

}  // namespace

sennit_status check_arguments(Rank &rank, const Attached &attached, const NotifyArgs &args) {
    const sennit_status status = check_place(rank, attached, args);
    return status != SENNIT_OK ? status : check_notice(rank, attached, args);
}

sennit_status prepare(Rank &rank, Attached &attached, const NotifyArgs &args, Prepared *prepared) {
    sennit_status status = check_arguments(rank, attached, args);
    if (status != SENNIT_OK) return status;
    Notified &own = args.direction == op::Direction::put ? attached.put : attached.get;
    const bool is_another = names_another(own, args.notice);
    prepared->notified = is_another ? nullptr : &own;
    prepared->remote = own.remote;
    if (is_another) status = reach(rank, args.notice->remote, &prepared->remote);
    if (status == SENNIT_OK) status = reach_local(rank, args, &prepared->local);
    std::uint64_t epoch = args.notice == nullptr ? SENNIT_EPOCH_NEXT : args.notice->epoch;
    if (epoch == SENNIT_EPOCH_NEXT && !is_another) epoch = own.next();
    prepared->epoch = epoch;
    prepared->place = attached.gptr;
    prepared->place.offset += args.offset;
    return status;
}

bool goes_with_event(Rank &rank, const Prepared &prepared, const NotifyArgs &args) {
    if (args.direction != op::Direction::put) return false;
    return args.layout != nullptr ? goes_packed(rank, prepared.remote, *args.layout)
                                  : args.bytes <= most_event_data(rank, prepared.remote);
}

sennit_status check_inside(const Attached &attached, std::uint64_t offset, std::uint64_t bytes,
                           const op::Layout *layout) {
    const auto whole = static_cast<unsigned long long>(attached.bytes);
    if (layout != nullptr && !op::lies_inside(layout->remote, offset, attached.bytes))
        return fail_peer(SENNIT_ERR_RANGE, attached.gptr.rank, "",
                         "bytes %lld to %lld from offset %lld leave the block of %llu byte%s",
                         static_cast<long long>(layout->remote.begin),
                         static_cast<long long>(layout->remote.end), static_cast<long long>(offset),
                         whole, plural(whole));
    if (layout == nullptr && (offset > attached.bytes || bytes > attached.bytes - offset))
        return fail_peer(SENNIT_ERR_RANGE, attached.gptr.rank, "",
                         "%llu byte%s at offset %llu leave%s the block of %llu byte%s",
                         static_cast<unsigned long long>(bytes), plural(bytes),
                         static_cast<unsigned long long>(offset), singular(bytes), whole,
                         plural(whole));
    return SENNIT_OK;
}

NotifyArgs args_of_layout(op::Direction direction, std::size_t offset, void *local,
                          const op::Layout &layout, const sennit_notice *notice) {
    NotifyArgs args{direction, offset, local, layout.bytes, notice};
    if (layout.bytes == 0 || local == nullptr) return args;
    if (op::run_count(layout) != 1) {
        args.layout = &layout;
        return args;
    }
    // A plain call names the lowest byte; a box or list may name a higher one.
    args.offset += static_cast<std::size_t>(layout.remote.begin);
    args.local = static_cast<std::byte *>(local) + layout.local.begin;
    return args;
}

EventArgs event_with_data(const Prepared &prepared, const NotifyArgs &args,
                          std::uint32_t messages) {
    EventArgs event{
        &prepared.remote, {prepared.epoch, messages}, prepared.place, args.local, args.bytes};
    event.layout = args.layout;
    return event;
}

bool EarlyWait::pause(Rank &rank) {
    constexpr std::int64_t kMostNs = 1'000'000;
    if (wait_ns_ == 0) return false;
    if (started_ns_ == 0) {
        started_ns_ = now_ns();
        limit_ = Deadline::after(wait_ns_);
    }
    const Deadline whole = default_deadline();
    const std::int64_t left_ns = std::min(limit_.left_ns(), whole.left_ns());
    const std::int64_t lasted_ns = now_ns() - started_ns_;
    if (left_ns == 0) {
        const sennit_error early = *thread_error();
        (void)fail_peer(early.status, early.peer, early.path, "after a wait of %lld us: %s",
                        static_cast<long long>(lasted_ns / 1000), early.text);
        return false;
    }
    if (is_warning_due(rank, lasted_ns, left_ns))
        log(SENNIT_LOG_WARNING, "a notified put or get has waited for %d s: %s",
            static_cast<int>(lasted_ns / 1'000'000'000), thread_error()->text);
    const ErrorGuard early;
    (void)wait_until(rank, Deadline::after(std::min(pause_ns_, left_ns)), rank.world_rank,
                     [] { return false; });
    pause_ns_ = std::min(2 * pause_ns_, kMostNs);
    return true;
}

sennit_status conclude(Rank &rank, const Prepared &prepared) {
    advance_block_epoch(rank, prepared);
    if (prepared.local.is_none()) return SENNIT_OK;
    Seen seen{};
    const sennit_status status = read_signal(rank, prepared.local, &seen);
    return status != SENNIT_OK ? status : count_event(rank, prepared.local, seen.epoch, &seen);
}

namespace {

sennit_status move(Rank &rank, const Prepared &prepared, const NotifyArgs &args) {
    return op::transfer_moved(rank, args.direction, prepared.place, moved_by(args), {});
}

// For a signal that load and store reach, or none.
sennit_status notify_by_pointer(Rank &rank, const Prepared &prepared, const NotifyArgs &args) {
    const RemoteSignal &remote = prepared.remote;
    if (remote.is_none()) return move(rank, prepared, args);
    Seen seen{};
    sennit_status status = check_epoch(rank, remote, prepared.epoch, &seen);
    if (status == SENNIT_OK) status = move(rank, prepared, args);
    return status == SENNIT_OK ? count_event(rank, remote, prepared.epoch, &seen) : status;
}

// One message if the event goes with the data, as completion data or in a task; else the data goes
// first.
sennit_status notify_by_messages(Rank &rank, const Prepared &prepared, const NotifyArgs &args) {
    const RemoteSignal &remote = prepared.remote;
    const bool is_with_event = goes_with_event(rank, prepared, args);
    // The owner checks one task as a whole: its answer says whether the owner accepts it.
    const bool is_one_task =
        is_with_event && (args.layout == nullptr || fits_in_task(rank, remote, *args.layout));
    sennit_status status = SENNIT_OK;
    if (!is_one_task && !prepared.is_current() &&
        !is_known_accepted_soon(rank, remote, prepared.epoch))
        status = ask_owner(rank, remote, prepared.epoch);
    if (status != SENNIT_OK) return status;
    // The owner accepts the event, so it accepts each of the tasks.
    if (is_with_event && !is_one_task)
        return post_accepted(rank, event_with_data(prepared, args, 1));
    if (is_with_event || args.bytes == 0)
        return post_event(rank, event_with_data(prepared, args, 1));
    sennit_request data = SENNIT_REQUEST_NULL;
    status = start_with_event(rank, prepared, args, {op::Completion::Mode::request, &data});
    if (status != SENNIT_OK) return status;
    const Deadline deadline = default_deadline();
    status = request::wait(rank, &data, deadline);
    // If the wait has timed out, the message continues by itself.
    op::engine_abandon(rank, data, op::Abandoned::goes_on);
    return status == SENNIT_OK ? op::engine_await_sent(rank, prepared.place.rank, deadline)
                               : status;
}

// One try of the call. After SIGNAL_EARLY nothing has moved, and the next try must prepare again.
sennit_status try_to_notify(Rank &rank, Attached &attached, const NotifyArgs &args,
                            bool asks_first) {
    Prepared prepared;
    sennit_status status = prepare(rank, attached, args, &prepared);
    if (status != SENNIT_OK) return status;
    const bool is_by_message = prepared.remote.record == nullptr && !prepared.remote.is_none();
    // Later tries ask first, so that they do not send the data of a short put each time.
    if (is_by_message && asks_first) status = ask_owner(rank, prepared.remote, prepared.epoch);
    if (status == SENNIT_OK)
        status = is_by_message ? notify_by_messages(rank, prepared, args)
                               : notify_by_pointer(rank, prepared, args);
    return status != SENNIT_OK ? status : conclude(rank, prepared);
}

// A put of the block's next epoch whose data fits into one message, to an owner that accepts it.
// False: nothing was done.
bool notify_short(Rank &rank, Attached &attached, const NotifyArgs &args) {
    Notified &own = attached.put;
    const RemoteSignal &remote = own.remote;
    if (args.direction != op::Direction::put || args.notice != nullptr || args.layout != nullptr ||
        args.bytes == 0 || args.local == nullptr || args.offset > attached.bytes ||
        args.bytes > attached.bytes - args.offset || remote.record != nullptr || remote.is_none())
        return false;
    sennit_gptr place = attached.gptr;
    place.offset += args.offset;
    const std::uint64_t epoch = own.next();
    if (!is_known_accepted(rank, remote, epoch) ||
        !post_short(rank, remote, {epoch, 1}, {place, attached.live_value, args.local, args.bytes}))
        return false;
    runtime::note_sent(rank, remote.signal, epoch);
    own.set_next(epoch + 1);
    return true;
}

}  // namespace

sennit_status notify(Rank &rank, Attached &attached, const NotifyArgs &args) {
    if (notify_short(rank, attached, args)) return SENNIT_OK;
    const WholeCall call;
    EarlyWait wait(args.notice);
    sennit_status status = try_to_notify(rank, attached, args, false);
    while (status == SENNIT_ERR_SIGNAL_EARLY && wait.pause(rank))
        status = try_to_notify(rank, attached, args, true);
    return status;
}

}  // namespace sennit::signal
