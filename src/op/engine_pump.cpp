// SPDX-License-Identifier: BSD-3-Clause
// Cuts, submits and completes the pieces of operations.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "base/fail.hpp"
#include "base/invariant.hpp"
#include "observe/observer.hpp"
#include "op/engine_state.hpp"

namespace sennit::op {
namespace {

using transport::Submit;

bool is_gone(Engine &engine, int peer) {
    return known_gone(*engine.rank, peer) != Gone::no;
}

PeerQueue *next_active(Engine &engine) {
    PeerQueue *queue = engine.active.pop();
    if (queue != nullptr) queue->active = false;
    return queue;
}

bool changes(const OperationRecord &record) {
    return record.direction != Direction::get;
}

// Fills in the task of a piece, including its number.
void fill_task(PeerQueue &queue, const OperationRecord &record, transport::Operation *operation) {
    const std::uint64_t bytes = operation->bytes;
    std::uint64_t payload = bytes;
    if (record.operation == kCompareSwap) payload = 2 * bytes;
    if (record.operation == SENNIT_NO_OP) payload = 0;
    std::uint64_t reply = record.result == nullptr ? 0 : bytes;
    if (record.payload_bytes != 0) {
        payload = record.payload_bytes;
        reply = sizeof record.answer;
    }
    if (record.packed.count != 0) payload = packed_task(record, record.cut).payload_bytes;
    // With narrow completion data, few messages can be in progress without an answer.
    constexpr unsigned kWideBits = 64;
    const bool may_wait = record.may_wait && !queue.is_hurried &&
                          (!record.is_of_message || queue.path->event_bits >= kWideBits);
    operation->task = transport::Task{queue.next_task++,
                                      static_cast<std::uint32_t>(bytes / record.element_bytes),
                                      static_cast<std::uint32_t>(payload),
                                      static_cast<std::uint16_t>(reply),
                                      record.operation,
                                      record.type,
                                      std::uint8_t{may_wait},
                                      {}};
    operation->reply = record.result == nullptr ? nullptr : record.result + record.cut;
    if (record.packed.count != 0 && record.cut == 0) operation->reply = record.result;
    if (record.packed.count != 0 && record.cut != 0)
        operation->reply = &packed_task(record, record.cut).answer;
}

// Numbers a message of several tasks when its first task is sent, not when it is started: a held
// message is sent later.
void number_message(PeerQueue &queue, OperationRecord *record) {
    PackedTasks &packed = record->packed;
    if (!packed.is_numbered) return;
    if (packed.word == 0) packed.word = EventTask::parts_word(queue.next_message++, packed.count);
    std::memcpy(packed_task(*record, record->cut).payload + offsetof(EventTask, index),
                &packed.word, sizeof packed.word);
}

// Fills the operation of the next piece with the part of the record that it moves.
void place_piece(OperationRecord *record, transport::Operation *operation) {
    if (record->packed.count != 0) {
        operation->offset = record->offset;
        operation->local = packed_task(*record, record->cut).payload;
        operation->is_in_room = packed_task(*record, record->cut).is_in_room;
        operation->bytes = record->packed.hull;
        return;
    }
    LayoutPart part{static_cast<std::int64_t>(record->cut), static_cast<std::int64_t>(record->cut),
                    record->bytes - record->cut};
    if (record->layout != nullptr)
        part = layout_part(*record->layout, record->cut, &record->cursor);
    operation->is_in_room = record->rooms != nullptr;
    operation->offset = record->offset + static_cast<std::uint64_t>(part.remote);
    operation->local = record->local == nullptr ? nullptr : record->local + part.local;
    operation->bytes = std::min(record->piece_bytes, part.bytes);
}

// The amount by which the piece advances OperationRecord::cut.
std::uint64_t cut_bytes(const OperationPiece &piece) {
    return is_packed(piece) ? 1 : piece.operation.bytes;
}

// Called when a task has ended: moves the window to the oldest open task.
void end_task(PeerQueue &queue, std::uint64_t sequence) {
    SENNIT_INVARIANT(sequence - queue.first_task < kTaskWindow);
    queue.tasks_done |= 1u << (sequence - queue.first_task);
    while ((queue.tasks_done & 1) != 0) {
        queue.tasks_done >>= 1;
        ++queue.first_task;
    }
}

// Adds the record's next event to the piece.
void carry_event(OperationRecord *record, OperationPiece *piece) {
    CarriedEvents &carried = record->carried;
    piece->has_event = true;
    piece->operation.kind = transport::Operation::Kind::put_event;
    piece->operation.event = carried.uncut == carried.parts ? carried.first : carried.further;
    --carried.uncut;
}

// Whether the record's events must still wait for its data.
bool waits_for_data(const OperationRecord &record) {
    const CarriedEvents &carried = record.carried;
    return carried.parts != 0 && carried.uncut == carried.parts &&
           record.cut == carried.plain_bytes && record.open > 0;
}

// Cuts the next piece of a record. Null: the record has kPiecesPerRecord open pieces, the peer's
// window of tasks is full, or there is no memory for a piece.
OperationPiece *cut_piece(Engine &engine, PeerQueue &queue, OperationRecord *record) {
    OperationPiece *piece = nullptr;
    const bool is_task = record->direction == Direction::execute;
    if (is_task && queue.next_task - queue.first_task >= kTaskWindow) return nullptr;
    if (!record->own_in_use) {
        piece = &record->own;
        record->own_in_use = true;
    } else if (record->open < kPiecesPerRecord) {
        piece = engine.pieces.take();
    }
    if (piece == nullptr) return nullptr;
    *piece = OperationPiece{};
    piece->engine = &engine;
    piece->record = record;
    transport::Operation &operation = piece->operation;
    operation.kind = kind_of(record->direction);
    operation.is_hint = record->is_hint;
    operation.peer = record->peer;
    operation.remote = record->remote;
    number_message(queue, record);
    place_piece(record, &operation);
    operation.completed = piece_completed;
    if (is_task) fill_task(queue, *record, &operation);
    const CarriedEvents &carried = record->carried;
    if (carried.parts != 0 && record->cut >= carried.plain_bytes) {
        SENNIT_INVARIANT(carried.uncut != 0);  // there are as many pieces as events
        carry_event(record, piece);
    }
    record->cut += cut_bytes(*piece);
    ++record->open;
    if (changes(*record)) ++queue.puts_open;
    return piece;
}

void release_piece(Engine &engine, PeerQueue &queue, OperationPiece *piece) {
    OperationRecord *record = piece->record;
    SENNIT_INVARIANT(record->open > 0);
    SENNIT_INVARIANT(!changes(*record) || queue.puts_open > 0);
    --record->open;
    if (changes(*record)) --queue.puts_open;
    if (piece == &record->own) {
        record->own_in_use = false;
    } else {
        engine.pieces.give_back(piece);
    }
}

void uncut_piece(Engine &engine, PeerQueue &queue, OperationPiece *piece) {
    piece->record->cut -= cut_bytes(*piece);
    // The task was not submitted, so its number is free again.
    if (piece->operation.kind == transport::Operation::Kind::execute) --queue.next_task;
    if (piece->has_event) ++piece->record->carried.uncut;
    release_piece(engine, queue, piece);
}

void pop_pending(PeerQueue &queue, RecordQueue &from) {
    OperationRecord *record = from.pop();
    if (record->may_wait) --queue.events_pending;
    record->cut = record->bytes;
    record->state = RecordState::in_flight;
}

void end_question(Engine &engine, PeerQueue &queue);

void end_waiting_answer(PeerQueue &queue) {
    if (--queue.answers_waited == 0) queue.is_hurried = false;
}

}  // namespace

void finish(Engine &engine, PeerQueue &queue, OperationRecord *record) {
    const bool has_gone = record->state != RecordState::held;
    if (record->on_flush_list) leave_flush_list(queue, record);
    if (has_gone && record->direction == Direction::execute) --queue.tasks_started;
    if (has_gone && record->may_wait) end_waiting_answer(queue);
    if (has_gone && record->is_checked) end_event(engine, record);
    record->state = RecordState::complete;
    if (queue.closing != nullptr && record == &queue.closing->question) {
        end_question(engine, queue);
        if (has_to_close(queue)) activate(engine, queue);
    }
    if (record->mode == Completion::Mode::implicit) leave_error(queue, record);
    follow(engine, record);
    if (record->mode == Completion::Mode::implicit) engine.records.give_back(record);
}

namespace {

void complete_piece(Engine &engine, PeerQueue &queue, OperationPiece *piece, sennit_status status);

// Queues a piece to be submitted again. If no rail is left for it, it fails.
void repeat(Engine &engine, PeerQueue &queue, OperationPiece *piece) {
    if (!has_rail_left(*queue.path, *piece))
        return complete_piece(engine, queue, piece, SENNIT_ERR_FABRIC);
    queue.retry.push(piece);
    activate(engine, queue);
}

// Called when the question about a message has ended. If it failed, the message's pieces end with
// its status.
void end_question(Engine &engine, PeerQueue &queue) {
    const sennit_status status = queue.closing->question.status;
    // If the peer has no memory, the question is sent again.
    if (status == SENNIT_ERR_NOMEM) return;
    bool goes_again = false;
    PieceQueue closed = take_closed(queue, &goes_again);
    while (OperationPiece *piece = closed.pop()) {
        piece->operation.kind = transport::Operation::Kind::put;
        // The rail may still work for a put without an event.
        piece->tried_rails = 0;
        if (status == SENNIT_OK && goes_again)
            repeat(engine, queue, piece);
        else
            complete_piece(engine, queue, piece, status);
    }
}

// Ends a piece.
void complete_piece(Engine &engine, PeerQueue &queue, OperationPiece *piece, sennit_status status) {
    OperationRecord *record = piece->record;
    if (piece->operation.kind == transport::Operation::Kind::execute)
        end_task(queue, piece->operation.task.sequence);

    release_piece(engine, queue, piece);
    if (status != SENNIT_OK) {
        if (record->status == SENNIT_OK) record->status = status;
        // A record with open and uncut pieces is the first of its queue.
        if (record->state == RecordState::pending)
            pop_pending(queue, record == queue.bulk.first() ? queue.bulk : queue.pending);
    }
    if (record->open == 0 && record->state == RecordState::in_flight) finish(engine, queue, record);
}

// Submits the first piece that waits to be repeated. False: the pump must stop.
bool pump_retry(Engine &engine, PeerQueue &queue) {
    // Remove it first: a completion in submit() puts the piece on another list.
    OperationPiece *piece = queue.retry.pop();
    const Submit answer = submit_piece(engine, *queue.path, piece);
    if (answer == Submit::again) {
        queue.retry.push_front(piece);
        return false;
    }
    if (answer == Submit::failed) complete_piece(engine, queue, piece, piece->status);
    return true;
}

// Submits the question before pending records: they may wait for pieces that wait for the answer.
bool pump_question(Engine &engine, PeerQueue &queue) {
    prepare_question(engine, queue);
    OperationRecord &message = queue.closing->question;
    OperationPiece *piece = cut_piece(engine, queue, &message);
    if (piece == nullptr) return false;
    const Submit answer = submit_piece(engine, *queue.path, piece);
    if (answer == Submit::again) {
        uncut_piece(engine, queue, piece);
        return false;
    }
    ++queue.tasks_started;
    message.state = RecordState::in_flight;
    if (answer == Submit::failed) complete_piece(engine, queue, piece, piece->status);
    return answer == Submit::accepted;
}

// Submits the next piece of the first record. False: the pump must stop.
bool pump_first(Engine &engine, PeerQueue &queue, RecordQueue &from) {
    OperationRecord *record = from.first();
    OperationPiece *piece = cut_piece(engine, queue, record);
    if (piece == nullptr) return false;
    const Submit answer = submit_piece(engine, *queue.path, piece);
    if (answer == Submit::again) {
        uncut_piece(engine, queue, piece);
        return false;
    }
    if (record->cut == record->bytes) pop_pending(queue, from);
    if (answer == Submit::accepted) {
        record->moved = true;
    } else {
        complete_piece(engine, queue, piece, piece->status);
    }
    return true;
}

// Whether later operations may overtake the record, which would delay them. Not with ordered puts.
bool is_bulk(const MessagePath &path, const OperationRecord &record) {
    return !path.keeps_order && record.direction == Direction::put && record.layout == nullptr &&
           record.bytes > path.bulk_bytes;
}

bool pump_pending(Engine &engine, PeerQueue &queue) {
    OperationRecord *record = queue.pending.first();
    const bool is_new = record->cut == 0;
    if (record->barrier_put && is_new && (queue.puts_open > 0 || !queue.bulk.is_empty())) {
        hurry(engine, queue);
        return false;
    }
    if (is_new && is_bulk(*queue.path, *record)) {
        queue.bulk.push(queue.pending.pop());
        return true;
    }
    return !waits_for_data(*record) && pump_first(engine, queue, queue.pending);
}

bool may_cut_bulk(const PeerQueue &queue) {
    const OperationRecord *const record = queue.bulk.first();
    if (record == nullptr || waits_for_data(*record)) return false;
    const std::uint64_t next = std::min(record->piece_bytes, record->bytes - record->cut);
    return record->open == 0 ||
           record->open * record->piece_bytes + next <= queue.path->bulk_bytes * queue.path->rails;
}

// Released events and bulk records that cannot be submitted do not stop the others.
bool pump_records(Engine &engine, PeerQueue &queue) {
    if (!queue.released.is_empty() && pump_first(engine, queue, queue.released)) return true;
    if (may_cut_bulk(queue) && pump_first(engine, queue, queue.bulk)) return true;
    return !queue.pending.is_empty() && pump_pending(engine, queue);
}

}  // namespace

transport::Operation::Kind kind_of(Direction direction) {
    using Kind = transport::Operation::Kind;
    constexpr Kind kKinds[] = {Kind::put, Kind::get, Kind::execute};
    return kKinds[static_cast<std::size_t>(direction)];
}

bool has_work(const PeerQueue &queue) {
    return !queue.retry.is_empty() || !queue.pending.is_empty() || !queue.bulk.is_empty() ||
           !queue.released.is_empty() || has_to_close(queue);
}

void activate(Engine &engine, PeerQueue &queue) {
    if (queue.active) return;
    queue.active = true;
    engine.active.push(&queue);
}

namespace {

void count_task(PeerQueue &queue, const OperationRecord &record) {
    ++queue.tasks_started;
    if (!record.may_wait) return;
    ++queue.answers_waited;
    ++queue.events_pending;
}

}  // namespace

void enqueue_event(PeerQueue &queue, OperationRecord *record) {
    record->state = RecordState::pending;
    record->piece_bytes = record->bytes;
    count_task(queue, *record);
    queue.released.push(record);
}

void enqueue(Engine &engine, OperationRecord *record) {
    PeerQueue &queue = engine.queues[record->peer];
    MessagePath &path = *queue.path;
    record->state = RecordState::pending;
    const bool is_task = record->direction == Direction::execute;
    if (record->piece_bytes == 0 && record->payload_bytes != 0) record->piece_bytes = record->bytes;
    if (record->piece_bytes == 0)
        record->piece_bytes =
            is_task ? path.task_bytes
                    : piece_bytes_of(path, record->peer, record->bytes, record->direction);
    if (is_task) count_task(queue, *record);
    if (changes(*record) && queue.next_put_is_barrier) {
        record->barrier_put = true;
        queue.next_put_is_barrier = false;
    }
    queue.pending.push(record);
}

void work_off(Engine &engine) {
    while (OperationPiece *piece = engine.done.pop()) {
        PeerQueue &queue = engine.queues[piece->operation.peer];
        note_returned(*queue.path, *piece);
        if (piece->status == SENNIT_ERR_FABRIC && is_gone(engine, queue.peer))
            piece->status = SENNIT_ERR_PEER_LOST;
        if (piece->status == kTaskIsToBeRepeated &&
            piece->operation.kind == transport::Operation::Kind::execute) {
            repeat(engine, queue, piece);
            continue;
        }
        if (piece->status != SENNIT_ERR_FABRIC) {
            complete_piece(engine, queue, piece, piece->status);
            continue;
        }
        piece->avoid_rail();
        if (piece->operation.kind == transport::Operation::Kind::put_event) {
            queue.closing->waiting.push(piece);
            activate(engine, queue);
        } else {
            repeat(engine, queue, piece);
        }
    }
}

void fail_queued(Engine &engine, PeerQueue &queue, sennit_status status) {
    while (OperationPiece *piece = queue.retry.pop())
        complete_piece(engine, queue, piece, status);
    while (OperationPiece *piece =
               queue.closing == nullptr ? nullptr : queue.closing->waiting.pop())
        complete_piece(engine, queue, piece, status);
    for (RecordQueue *from : {&queue.released, &queue.bulk, &queue.pending})
        while (OperationRecord *record = from->first()) {
            pop_pending(queue, *from);
            if (record->status == SENNIT_OK) record->status = status;
            if (record->open == 0) finish(engine, queue, record);
        }
}

void pump(Engine &engine, PeerQueue &queue, int *budget) {
    if (has_work(queue) && is_gone(engine, queue.peer))
        fail_queued(engine, queue, SENNIT_ERR_PEER_LOST);
    while (*budget > 0 && has_work(queue)) {
        bool went_on = false;
        if (!queue.retry.is_empty()) {
            went_on = pump_retry(engine, queue);
        } else {
            went_on =
                has_to_close(queue) ? pump_question(engine, queue) : pump_records(engine, queue);
        }
        work_off(engine);
        if (!went_on) break;
        --*budget;
    }
    if (has_work(queue)) activate(engine, queue);
}

void progress(Engine &engine, bool may_postpone) {
    for (unsigned i = 0; i < engine.path_count; ++i) {
        finish_postponed(engine, engine.paths[i]);
        (void)engine.paths[i].transport->progress();
        if (!may_postpone) (void)engine.paths[i].transport->finish_postponed();
        work_off(engine);
    }
    int budget = kSubmitsPerProgress;
    // Pump each queue once that is active now. A queue that stays active is pumped again in the
    // next call.
    const PeerQueue *last = engine.active.last();
    while (last != nullptr && budget > 0) {
        PeerQueue *queue = next_active(engine);
        if (queue == last) last = nullptr;
        pump(engine, *queue, &budget);
    }
    // Rotates the queues: if there is room for one piece, each queue gets it in turn.
    if (engine.active.first() != engine.active.last()) activate(engine, *next_active(engine));
    if constexpr (kChecksInvariants) check_invariants(engine);
}

}  // namespace sennit::op
