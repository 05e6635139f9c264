// SPDX-License-Identifier: BSD-3-Clause
// The effects of an operation's end: it counts down held records, calls AtEnd, leaves the flush
// list, and stores its error for flush. docs/design/engine.md has the states.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/invariant.hpp"
#include "base/log.hpp"
#include "op/engine_state.hpp"
#include "runtime/wait.hpp"

namespace sennit::op {

void leave_flush_list(PeerQueue &queue, OperationRecord *record) {
    SENNIT_INVARIANT(record->on_flush_list);
    (record->previous_open != nullptr ? record->previous_open->next_open : queue.open_first) =
        record->next_open;
    (record->next_open != nullptr ? record->next_open->previous_open : queue.open_last) =
        record->previous_open;
    record->on_flush_list = false;
}

void append_to_flush_list(PeerQueue &queue, OperationRecord *record) {
    record->number = ++queue.last_number;
    if (record->buffer == nullptr && record->payload_bytes == 0) queue.last_lent = record->number;
    record->on_flush_list = true;
    record->previous_open = queue.open_last;
    record->next_open = nullptr;
    (queue.open_last != nullptr ? queue.open_last->next_open : queue.open_first) = record;
    queue.open_last = record;
}

namespace {

// Turns the task that would confirm a message into one that cancels it, since some of its events
// may have arrived. False: `held` is not such a task.
bool cancel_message(OperationRecord *held) {
    if (held->payload_bytes == 0 || held->operation != kEventTask) return false;
    EventTask task;
    std::memcpy(&task, held->operands, sizeof task);
    if (task.index == 0) return false;
    task.set(EventAction::cancel, task.number());
    task.messages = 0;
    std::memcpy(held->operands, &task, sizeof task);
    held->status = SENNIT_OK;
    return true;
}

}  // namespace

void follow(Engine &engine, OperationRecord *record) {
    if (record->at_end.call != nullptr)
        record->at_end.call(*engine.rank, record->at_end.context, record->peer, record->status);
    if (record->then == nullptr) return;
    // A record that is held for a question gets the text of the question's failure.
    const bool passes_text = record->is_forgotten && record->why != nullptr;
    char *const why = passes_text ? strdup(record->why) : nullptr;
    const bool is_cancelled = record->cancels_then && record->status == SENNIT_OK;
    count_down(engine, record->then, is_cancelled ? SENNIT_ERR_TIMEOUT : record->status, why);
}

void leave_error(PeerQueue &queue, OperationRecord *record) {
    if (record->status == SENNIT_OK || queue.implicit_error != SENNIT_OK || record->is_forgotten)
        return;
    queue.implicit_error = record->status;
    queue.implicit_direction = reported_direction(*record);
    std::swap(queue.implicit_why, record->why);
}

void count_down(Engine &engine, OperationRecord *held, sennit_status status, char *why) {
    SENNIT_INVARIANT(held->state == RecordState::held && held->awaited > 0);
    if (status != SENNIT_OK && held->status == SENNIT_OK) {
        held->status = status;
        std::swap(held->why, why);
    }
    std::free(why);
    if (--held->awaited != 0) return;
    PeerQueue &queue = engine.queues[held->peer];
    const bool is_event = held->payload_bytes != 0 && held->packed.count == 0;
    if (held->status == SENNIT_OK) {
        if (is_event)
            enqueue_event(queue, held);
        else
            enqueue(engine, held);
        activate(engine, queue);
        return;
    }
    held->is_forgotten |= is_event;  // the error of its data is reported
    if (cancel_message(held)) {
        enqueue_event(queue, held);
        activate(engine, queue);
        return;
    }
    held->cut = held->bytes;
    finish(engine, queue, held);
}

void end_at_once(Engine &engine, const Completion &completion, int peer, sennit_status status) {
    if (completion.at_end.call != nullptr)
        completion.at_end.call(*engine.rank, completion.at_end.context, peer, status);
    if (completion.then != nullptr) count_down(engine, completion.then, status, nullptr);
}

bool engine_may_copy(Rank &rank, std::size_t bytes) {
    const MutexLock locked(rank.engine->lock);
    return rank.engine->records.may_copy(bytes, kCopyBudget);
}

void engine_skip(Rank &rank, const Completion &completion, int peer, sennit_status status) {
    const MutexLock locked(rank.engine->lock);
    end_at_once(*rank.engine, completion, peer, status);
}

void engine_count_up(Rank &rank, std::uint32_t *counter, std::uint32_t operations) {
    const MutexLock locked(rank.engine->lock);
    *counter += operations;
}

namespace {

// A LostSearch::warn; `call` is the name of the call.
void warn_of_open(Rank &rank, const void *call, int seconds) {
    Engine &engine = *rank.engine;
    int first = -1;
    unsigned more = 0;
    {
        const MutexLock locked(engine.lock);
        for (const int peer : engine.queues.used()) {
            const PeerQueue &queue = engine.queues[peer];
            if (queue.puts_open == 0 && !has_work(queue)) continue;
            if (first < 0)
                first = peer;
            else
                ++more;
        }
    }
    char others[32] = "";
    if (more != 0) (void)std::snprintf(others, sizeof others, " and %u more", more);
    if (first >= 0)
        log(SENNIT_LOG_WARNING,
            "%s has waited for %d s: operations with rank %d%s are not complete",
            static_cast<const char *>(call), seconds, first, others);
}

}  // namespace

sennit_status engine_await_zero(Rank &rank, const std::uint32_t &counter, const char *call,
                                const Deadline &deadline) {
    Engine &engine = *rank.engine;
    constexpr std::uint32_t kChecksPerHurry = 64;  // rarely, since there may be many peers
    const std::int64_t since_ns = boot_ns();
    std::uint32_t checks = 0;
    // No rank is searched: the transports end operations to a lost rank.
    const LostSearch search{nullptr, call, warn_of_open};
    return wait_until(rank, deadline, search, [&] {
        const MutexLock locked(engine.lock);
        if (counter == 0) return true;
        if (++checks % kChecksPerHurry == 0)
            for (const int peer : engine.queues.used())
                if (engine.queues[peer].puts_open != 0)
                    hurry_if_slow(engine.queues[peer], since_ns);
        progress(engine);
        return counter == 0;
    });
}

}  // namespace sennit::op
