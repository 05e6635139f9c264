// SPDX-License-Identifier: BSD-3-Clause
// The start of an event's task in the usual case: data that fits into its message, a peer without
// queued operations, and a caller that does not wait for the answer. Same steps and result as
// engine_start(), without the decisions for the other cases, which take longer than the rest.
#include <cstring>

#include "memory/entry.hpp"
#include "op/engine_state.hpp"
#include "path/router.hpp"
#include "runtime/detector.hpp"

namespace sennit::op {
namespace {

using transport::Submit;

// The live segment with the memory, if only messages reach it; else null.
const memory::SegmentEntry *find_remote(Rank &rank, const ShortEvent &event) {
    memory::SegmentEntry *const entry = memory::find(rank, size_of(rank), event.place);
    if (entry == nullptr || entry->base != nullptr || event.bytes > entry->bytes ||
        event.place.offset > entry->bytes - event.bytes ||
        path::immediate_of(rank, *entry) != nullptr)
        return nullptr;
    // relaxed: the entry was just found.
    const std::uint32_t live_value = entry->live_value.load(std::memory_order_relaxed);
    return live_value == event.live_value ? entry : nullptr;
}

bool may_start_now(const Rank &rank, const PeerQueue &queue, std::size_t bytes) {
    return queue.path != nullptr && bytes <= queue.path->eager_bytes &&
           queue.next_task - queue.first_task < kTaskWindow && !queue.next_put_is_barrier &&
           !has_work(queue) && known_gone(rank, queue.peer) == Gone::no;
}

void fill(OperationRecord *record, const ShortEvent &event, std::uint64_t segment) {
    record->state = RecordState::in_flight;
    record->mode = Completion::Mode::implicit;
    record->direction = Direction::execute;
    record->own_in_use = true;
    record->moved = true;
    record->operation = kEventTask;
    record->type = SENNIT_UINT64;
    record->element_bytes = sizeof(std::uint64_t);
    record->payload_bytes = static_cast<std::uint32_t>(sizeof *event.task + event.bytes);
    record->may_wait = true;
    record->is_checked = true;
    record->check = event.check;
    record->peer = event.place.rank;
    record->open = 1;
    record->remote.handle = segment;
    record->offset = event.place.offset;
    record->local = reinterpret_cast<std::byte *>(record->operands);
    record->result = reinterpret_cast<std::byte *>(&record->answer);
    static_assert(sizeof record->operands == sizeof *event.task + ShortEvent::kMostInside);
    std::memcpy(record->operands, event.task, sizeof *event.task);
    record->bytes = record->cut = record->piece_bytes = event.bytes;
}

void fill(OperationPiece *piece, Engine &engine, PeerQueue &queue, OperationRecord *record) {
    const transport::Task task{queue.next_task,
                               static_cast<std::uint32_t>(record->bytes / record->element_bytes),
                               record->payload_bytes,
                               sizeof record->answer,
                               record->operation,
                               record->type,
                               std::uint8_t{!queue.is_hurried},
                               {}};
    *piece = OperationPiece{.operation = {.kind = transport::Operation::Kind::execute,
                                          .peer = record->peer,
                                          .remote = record->remote,
                                          .offset = record->offset,
                                          .local = record->local,
                                          .is_in_room = record->rooms != nullptr,
                                          .bytes = record->bytes,
                                          .event = {},
                                          .completed = piece_completed,
                                          .task = task,
                                          .reply = record->result},
                            .engine = &engine,
                            .record = record,
                            .next = nullptr,
                            .tried_rails = 0,
                            .status = SENNIT_OK};
}

}  // namespace

bool engine_post_short(Rank &rank, const ShortEvent &event) {
    const memory::SegmentEntry *const entry = find_remote(rank, event);
    if (entry == nullptr) return false;
    Engine &engine = *rank.engine;
    const MutexLock locked(engine.lock);
    PeerQueue *const queue = engine.queues.find(event.place.rank);
    if (queue == nullptr || !may_start_now(rank, *queue, event.bytes)) return false;
    OperationRecord *const record = engine.records.take();
    if (record == nullptr) return false;
    const Starting starting(rank);
    fill(record, event, entry->handle);
    const bool is_kept = keep_event(engine, record, event.data);
    if (is_kept) fill(&record->own, engine, *queue, record);
    if (!is_kept || submit_piece(engine, *queue->path, &record->own) != Submit::accepted) {
        // engine_start() will queue it, or report the error.
        record->open = 0;
        engine.records.give_back(record);
        return false;
    }
    ++queue->next_task;
    ++queue->puts_open;
    ++queue->tasks_started;
    ++queue->answers_waited;
    ++engine.started[static_cast<std::size_t>(Direction::execute)];
    append_to_flush_list(*queue, record);
    work_off(engine);
    return true;
}

}  // namespace sennit::op
