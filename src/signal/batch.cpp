// SPDX-License-Identifier: BSD-3-Clause
// Parts that load and store reach are executed one by one. Up to kTogether parts by messages are
// executed together, in steps: ask the owners that may refuse the event, move the data, count the
// events. So they take as many round trips as one long put. The data of a part moves only after all
// earlier parts were accepted. The event of a short put is in the same message; any other event
// follows its data. An event is ordered after the data of its own part only.
#include "signal/batch.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "op/engine.hpp"
#include "op/rma.hpp"
#include "request/request.hpp"
#include "runtime/whole_call.hpp"
#include "signal/event_task.hpp"
#include "signal/prepared.hpp"

namespace sennit::signal {
namespace {

using op::Completion;
using op::Direction;

constexpr std::size_t kTogether = 32;  // parts in progress at a time
// The status of a part that has not ended yet.
constexpr sennit_status kNoneYet = SENNIT_ERR_INTERNAL;

// The answer of an owner that was not asked in this step.
constexpr std::uint64_t kNoAnswer = UINT64_MAX;

struct PartInProgress {
    Prepared prepared;
    Seen seen{};
    std::uint64_t answer = kNoAnswer;
    bool is_sent = false;              // the engine sends its event, with the data or after it
    sennit_status status = SENNIT_OK;  // of its steps so far
    sennit_request request{};          // of the current step

    bool is_by_message() const {
        return prepared.remote.record == nullptr && !prepared.remote.is_none();
    }
};

// The parts by messages that are executed together.
struct BatchSlice {
    Rank &rank;
    const Batch &batch;
    const std::size_t first;  // number of its first part in the batch
    std::size_t gathered = 0;
    std::size_t count = 0;  // number of parts, from the first on, that continue
    PartInProgress parts[kTogether];
    std::size_t failed = kTogether;  // the first part that failed
    sennit_status status = SENNIT_OK;
    sennit_error why{};

    BatchSlice(Rank &the_rank, const Batch &the_batch, std::size_t the_first)
        : rank(the_rank), batch(the_batch), first(the_first) {}
};

NotifyArgs args_of(const Batch &batch, std::size_t number) {
    const sennit_notify_part &part = batch.parts[number];
    const Direction direction =
        batch.directions != nullptr ? batch.directions[number] : batch.direction;
    return {direction, part.offset, part.local, part.bytes, part.notice};
}

// Notes a part's failure; the thread's error has its reason.
void note_failure(BatchSlice &slice, std::size_t number, sennit_status status) {
    slice.parts[number].status = status;
    if (number >= slice.failed) return;
    slice.failed = number;
    slice.status = status;
    slice.why = *thread_error();
}

// The parts that continue after a part has failed: only those before it, or all.
enum class After : std::uint8_t { earlier_only, all };

// Starts an operation for each part that needs it, and waits for all of these operations.
template <class Wants, class Start>
void run_step(BatchSlice &slice, After after, bool is_buffered, Wants wants, Start start) {
    std::size_t begun = 0;
    for (; begun < slice.count; ++begun) {
        PartInProgress &part = slice.parts[begun];
        part.request = SENNIT_REQUEST_NULL;
        if (part.status != SENNIT_OK || !wants(part)) continue;
        const sennit_status status =
            start(part, begun, Completion{Completion::Mode::request, &part.request, is_buffered});
        if (status == SENNIT_OK) continue;
        note_failure(slice, begun, status);
        if (after == After::earlier_only) break;
    }
    const Deadline deadline = default_deadline();
    for (std::size_t i = 0; i < begun; ++i) {
        PartInProgress &part = slice.parts[i];
        if (part.request.handle == 0) continue;
        const sennit_status status = request::wait(slice.rank, &part.request, deadline);
        // If the wait has timed out, the operation continues by itself.
        op::engine_abandon(slice.rank, part.request, op::Abandoned::goes_on);
        if (status != SENNIT_OK) note_failure(slice, i, status);
    }
    if (after == After::earlier_only) slice.count = std::min(slice.count, slice.failed);
}

// Whether the part must wait for the parts already in the slice: they may change its epoch, or fill
// its local signal.
bool depends_on_slice(const BatchSlice &slice, const Prepared &next, const sennit_notice *notice) {
    std::uint32_t local_events = 0;
    for (std::size_t i = 0; i < slice.count; ++i) {
        const Prepared &before = slice.parts[i].prepared;
        if (next.notified != nullptr && !next.remote.is_none() &&
            next.notified == before.notified &&
            (notice == nullptr || notice->epoch != before.epoch))
            return true;
        if (!next.local.is_none() && before.local.signal.handle == next.local.signal.handle)
            ++local_events;
    }
    if (local_events == 0) return false;
    const Own *own = find_own(slice.rank, next.local.signal);
    std::uint32_t left = 0;
    return own == nullptr || remaining(*own, &left) != SENNIT_OK || left <= local_events;
}

void gather(BatchSlice &slice) {
    const Batch &batch = slice.batch;
    const std::size_t most = std::min(kTogether, batch.count - slice.first);
    for (; slice.count < most; ++slice.count) {
        const std::size_t number = slice.first + slice.count;
        const sennit_peer_block block = batch.parts[number].block;
        Attached *attached = find_attached(slice.rank, block);
        if (attached != nullptr && attached->base != nullptr) return;
        PartInProgress &part = slice.parts[slice.count];
        const sennit_status status =
            attached == nullptr
                ? fail_not_attached(block)
                : prepare(slice.rank, *attached, args_of(batch, number), &part.prepared);
        if (status != SENNIT_OK) return note_failure(slice, slice.count, status);
        if (depends_on_slice(slice, part.prepared, batch.parts[number].notice)) return;
    }
}

sennit_status start_question(BatchSlice &slice, PartInProgress &part, const Completion &how) {
    const Prepared &prepared = part.prepared;
    return start_event(slice.rank, {.remote = &prepared.remote, .messages = {prepared.epoch, 0}},
                       &part.answer, how);
}
sennit_status check_answer_of(BatchSlice &slice, const PartInProgress &part) {
    if (part.status != SENNIT_OK || part.answer == kNoAnswer) return SENNIT_OK;
    const Prepared &prepared = part.prepared;
    return check_answer(slice.rank, prepared.remote, {prepared.epoch, 0}, part.answer);
}

bool is_part_known_accepted(const BatchSlice &slice, const PartInProgress &part) {
    const Prepared &prepared = part.prepared;
    return prepared.is_current() ||
           is_known_accepted_soon(slice.rank, prepared.remote, prepared.epoch);
}

// Stops the slice before the first part whose event is refused. Asks the owners where the answer is
// unknown.
void check_epochs(BatchSlice &slice) {
    run_step(
        slice, After::earlier_only, true,
        [&](const PartInProgress &part) {
            return !part.prepared.remote.is_none() &&
                   !(part.is_by_message() && is_part_known_accepted(slice, part));
        },
        [&](PartInProgress &part, std::size_t, const Completion &how) {
            const Prepared &prepared = part.prepared;
            return part.is_by_message()
                       ? start_question(slice, part, how)
                       : check_epoch(slice.rank, prepared.remote, prepared.epoch, &part.seen);
        });
    for (std::size_t i = 0; i < slice.count; ++i) {
        const sennit_status status = check_answer_of(slice, slice.parts[i]);
        if (status == SENNIT_OK) continue;
        note_failure(slice, i, status);
        slice.count = i;
        return;
    }
}

// Moves the data; all owners have accepted their events.
void move_all(BatchSlice &slice) {
    run_step(
        slice, After::earlier_only, false, [](const PartInProgress &) { return true; },
        [&](PartInProgress &part, std::size_t number, const Completion &how) {
            const NotifyArgs args = args_of(slice.batch, slice.first + number);
            const Prepared &prepared = part.prepared;
            part.is_sent = part.is_by_message();
            if (!part.is_sent)
                return op::transfer(slice.rank, args.direction, prepared.place, args.local,
                                    args.bytes, how);
            return args.bytes == 0 || goes_with_event(slice.rank, prepared, args)
                       ? start_posted(slice.rank, event_with_data(prepared, args, 1))
                       : start_with_event(slice.rank, prepared, args, how);
        });
}

// Counts the events of signals that load and store reach. From here on each part ends separately,
// since a counted event stays counted.
void count_all(BatchSlice &slice) {
    run_step(
        slice, After::all, true,
        [](const PartInProgress &part) {
            return !part.prepared.remote.is_none() && !part.is_by_message();
        },
        [&](PartInProgress &part, std::size_t, const Completion &) {
            return count_event(slice.rank, part.prepared.remote, part.prepared.epoch, &part.seen);
        });
}

// Waits until all messages are sent. After a timeout they continue by themselves.
void await_sent(const BatchSlice &slice) {
    for (std::size_t i = 0; i < slice.gathered; ++i)
        if (slice.parts[i].is_by_message())
            (void)op::engine_await_sent(slice.rank, slice.parts[i].prepared.place.rank,
                                        default_deadline());
}

// Ends all parts that were sent, also those after a failed one.
void conclude_all(BatchSlice &slice) {
    for (std::size_t i = 0; i < slice.gathered; ++i) {
        PartInProgress &part = slice.parts[i];
        if (i >= slice.count && !part.is_sent) continue;
        if (part.status == SENNIT_OK) {
            const sennit_status status = conclude(slice.rank, part.prepared);
            if (status != SENNIT_OK) note_failure(slice, i, status);
        }
        slice.batch.parts[slice.first + i].status = part.status;
    }
}

// After a timeout no part continues: the call has no time left to wait for it.
void stop_if_late(BatchSlice &slice) {
    if (slice.status == SENNIT_ERR_TIMEOUT) slice.count = 0;
}

// Handles the parts from *at on that need messages; at least the first one does.
sennit_status notify_by_messages_from(Rank &rank, const Batch &batch, std::size_t *at) {
    BatchSlice slice(rank, batch, *at);
    gather(slice);
    slice.gathered = slice.count;
    if (slice.count != 0) check_epochs(slice);
    stop_if_late(slice);
    move_all(slice);
    count_all(slice);
    await_sent(slice);
    conclude_all(slice);
    *at += std::min(slice.count, slice.failed);
    if (slice.status != SENNIT_OK) *thread_error() = slice.why;
    return slice.status;
}

sennit_status notify_one(Rank &rank, Attached &attached, const Batch &batch, std::size_t number) {
    const NotifyArgs args = args_of(batch, number);
    if (args.notice != nullptr || find_short(batch.parts[number].block) == nullptr)
        return notify(rank, attached, args);
    const bool is_put = args.direction == Direction::put;
    const AtOnce how =
        is_put ? notify_at_once<Direction::put>(attached, args.offset, args.local, args.bytes)
               : notify_at_once<Direction::get>(attached, args.offset, args.local, args.bytes);
    if (how == AtOnce::done) return SENNIT_OK;
    return how == AtOnce::surplus ? SENNIT_ERR_SIGNAL_OVERFLOW : notify(rank, attached, args);
}

sennit_status notify_next(Rank &rank, const Batch &batch, std::size_t *at) {
    const sennit_peer_block block = batch.parts[*at].block;
    Attached *attached = find_attached(rank, block);
    if (attached == nullptr) return fail_not_attached(block);
    if (attached->base == nullptr) return notify_by_messages_from(rank, batch, at);
    const sennit_status status = notify_one(rank, *attached, batch, *at);
    batch.parts[*at].status = status;
    if (status == SENNIT_OK) ++*at;
    return status;
}

// Checks all parts as far as possible before anything moves.
sennit_status check_all(Rank &rank, const Batch &batch) {
    for (std::size_t i = 0; i < batch.count; ++i) {
        const sennit_peer_block block = batch.parts[i].block;
        const Attached *attached = find_attached(rank, block);
        const sennit_status status = attached == nullptr
                                         ? fail_not_attached(block)
                                         : check_arguments(rank, *attached, args_of(batch, i));
        if (status == SENNIT_OK) continue;
        const sennit_error why = *thread_error();
        return fail_peer(status, why.peer, why.path, "part %zu: %s", i, why.text);
    }
    return SENNIT_OK;
}

}  // namespace

sennit_status notify_batch(Rank &rank, const Batch &batch, std::size_t *done) {
    const WholeCall call;
    *done = 0;
    for (std::size_t i = 0; i < batch.count; ++i)
        batch.parts[i].status = kNoneYet;
    sennit_status status = check_all(rank, batch);
    while (status == SENNIT_OK && *done < batch.count) {
        EarlyWait wait(batch.parts[*done].notice);
        const std::size_t first = *done;
        do
            status = notify_next(rank, batch, done);
        while (status == SENNIT_ERR_SIGNAL_EARLY && *done == first && wait.pause(rank));
        // The refused part is a later one, which has its own time limit.
        if (status == SENNIT_ERR_SIGNAL_EARLY && *done != first) status = SENNIT_OK;
    }
    for (std::size_t i = *done; i < batch.count; ++i)
        if (batch.parts[i].status == kNoneYet) batch.parts[i].status = status;
    return status;
}

sennit_status check_batch(Rank &rank, const Batch &batch) {
    for (std::size_t at = 0; at < batch.count;) {
        BatchSlice slice(rank, batch, at);
        gather(slice);
        check_epochs(slice);
        if (slice.status != SENNIT_OK) {
            *thread_error() = slice.why;
            return slice.status;
        }
        if (slice.count == 0)
            return fail(SENNIT_ERR_INTERNAL,
                        "a part needed messages before, and is now reached without them");
        at += slice.count;
    }
    return SENNIT_OK;
}

}  // namespace sennit::signal
