// SPDX-License-Identifier: BSD-3-Clause
// Checks the invariants of the op engine, for tests and for builds with checks.
#include "op/engine_state.hpp"

#include <initializer_list>

#include "base/invariant.hpp"

namespace sennit::op {

namespace {

const char *check_record(const OperationRecord &record) {
    if (record.cut > record.bytes) return "a record was cut beyond its end";
    switch (record.state) {
        case RecordState::free:
            break;
        case RecordState::held:
            if (record.awaited == 0) return "a held record waits for no operation";
            if (record.cut != 0 || record.open != 0) return "a part of a held record was submitted";
            break;
        case RecordState::pending:
            if (record.cut == record.bytes && record.bytes != 0)
                return "a pending record is cut to the end";
            if (record.status != SENNIT_OK) return "a failed record is still pending";
            break;
        case RecordState::in_flight:
            if (record.cut != record.bytes) return "a record in flight is not cut to the end";
            if (record.open == 0) return "a record in flight has no open piece";
            if (record.carried.uncut != 0 && record.status == SENNIT_OK)
                return "a record in flight has events without a piece";
            break;
        case RecordState::complete:
            if (record.open != 0) return "a complete record has open pieces";
            if (record.own_in_use) return "a complete record uses its own piece";
            if (record.on_flush_list) return "a complete record is on a flush list";
            if (record.mode == Completion::Mode::implicit)
                return "a complete implicit record was not freed";
            break;
    }
    return nullptr;
}

// The counts of the queue, recomputed from the records.
struct Counts {
    std::uint32_t puts_open;
    std::uint32_t answers_waited;
};

const char *check_queue(const PeerQueue &queue, const Counts &counts) {
    if (queue.puts_open != counts.puts_open)
        return "puts_open is not the number of open put pieces";
    if (queue.answers_waited != counts.answers_waited)
        return "answers_waited is not the number of tasks whose answers may wait";
    if (queue.is_hurried && queue.answers_waited == 0)
        return "a peer without delayed answers is hurried";
    std::uint32_t events_pending = 0;
    for (const OperationRecord *record = queue.released.first(); record != nullptr;
         record = record->next_pending) {
        if (record->may_wait) ++events_pending;
        if (record->state != RecordState::pending || record->cut != 0)
            return "a released event is not pending";
    }
    for (const RecordQueue *from : {&queue.pending, &queue.bulk})
        for (const OperationRecord *record = from->first(); record != nullptr;
             record = record->next_pending) {
            if (record->may_wait) ++events_pending;
            if (record->state != RecordState::pending) return "a queued record is not pending";
            if (record != from->first() && record->cut != 0)
                return "a record behind the head of its queue was cut";
            if (record->next_pending == nullptr && record != from->last())
                return "the end of a queue is not its last record";
        }
    const std::uint64_t tasks = queue.next_task - queue.first_task;
    if (tasks > kTaskWindow) return "more tasks are open than a window";
    if (tasks < kTaskWindow && queue.tasks_done >> tasks != 0)
        return "a task has ended that was never started";
    if (queue.events_pending != events_pending)
        return "events_pending is not the number of queued events";
    std::uint64_t number = 0;
    for (const OperationRecord *record = queue.open_first; record != nullptr;
         record = record->next_open) {
        if (record->number <= number) return "a flush list is not in the order of starting";
        if (record->state == RecordState::complete) return "a complete record is on a flush list";
        number = record->number;
    }
    if (has_work(queue) && !queue.active) return "a queue with work is not active";
    return nullptr;
}

const char *check_closing(const ClosingMessages &closing) {
    for (const OperationPiece *piece = closing.waiting.first(); piece != nullptr;
         piece = piece->next)
        if (!piece->has_event) return "a piece without an event waits for its message to be closed";
    return nullptr;
}

const char *check_rails(const Engine &engine) {
    if (engine.with_transports != 0 || !engine.done.is_empty()) return nullptr;
    for (unsigned i = 0; i < engine.path_count; ++i)
        for (unsigned rail = 0; rail < engine.paths[i].rails; ++rail)
            if (engine.paths[i].loads[rail].out_bytes != 0)
                return "a rail without open pieces has out_bytes";
    return nullptr;
}

}  // namespace

const char *engine_check(Engine &engine) {
    std::uint64_t open = 0;
    std::uint32_t in_use = 0;
    for (std::uint32_t i = 0; i < engine.records.made(); ++i) {
        const OperationRecord &record = engine.records.at(i);
        if (const char *fault = check_record(record)) return fault;
        if (record.state == RecordState::free) continue;
        open += record.open;
        ++in_use;
    }
    if (in_use != engine.records.in_use()) return "the count of records in use is wrong";
    if (const char *fault = check_rails(engine)) return fault;
    std::uint64_t waiting = 0;  // open pieces that no transport has
    for (const OperationPiece *piece = engine.done.first(); piece != nullptr; piece = piece->next)
        ++waiting;
    for (const int peer : engine.queues.used()) {
        for (const OperationPiece *piece = engine.queues[peer].retry.first(); piece;
             piece = piece->next)
            ++waiting;
        Counts counts{};
        if (const ClosingMessages *closing = engine.queues[peer].closing) {
            if (const char *fault = check_closing(*closing)) return fault;
            for (const OperationPiece *piece = closing->waiting.first(); piece; piece = piece->next)
                ++waiting;
            counts.puts_open = closing->question.open;
            open += closing->question.open;
        }
        for (std::uint32_t i = 0; i < engine.records.made(); ++i) {
            const OperationRecord &record = engine.records.at(i);
            if (record.state == RecordState::free || record.peer != peer) continue;
            if (record.direction != Direction::get) counts.puts_open += record.open;
            if (record.may_wait && record.state != RecordState::complete &&
                record.state != RecordState::held)
                ++counts.answers_waited;
        }
        if (const char *fault = check_queue(engine.queues[peer], counts)) return fault;
    }
    if (open != waiting + engine.with_transports)
        return "open pieces are neither submitted nor waiting";
    return nullptr;
}

void check_invariants(Engine &engine) {
    const std::uint64_t work = std::uint64_t{engine.records.made()} * engine.queues.used().size();
    if (++engine.unchecked_rounds * 64 < work) return;
    engine.unchecked_rounds = 0;
    if constexpr (kChecksInvariants) {
        const char *const broken = engine_check(engine);
        if (broken != nullptr) invariant_is_broken(broken, "op engine", 0);
    }
}

}  // namespace sennit::op
