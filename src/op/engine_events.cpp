// SPDX-License-Identifier: BSD-3-Clause
// Events: in completion data of puts, and in tasks. engine_pump.cpp cuts and completes the
// operations.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "base/fail.hpp"
#include "op/engine_state.hpp"
#include "runtime/wait.hpp"

namespace sennit::op {
namespace {

bool is_of_message(const OperationPiece &piece, const CarriedEvents &message) {
    const CarriedEvents &carried = piece.record->carried;
    return carried.index == message.index && carried.number == message.number;
}

}  // namespace

unsigned engine_event_bits(const Rank &rank, int peer) {
    if (rank.engine == nullptr || peer < 0 || peer >= rank.engine->size) return 0;
    const MessagePath *const path = path_to(*rank.engine, peer);
    return path == nullptr || path->event_bits == 0 ? 0 : path->transport->event_bits_to(peer);
}

EventWidth engine_own_event_width(const Rank &rank) {
    return rank.engine == nullptr ? EventWidth{} : rank.engine->width;
}

void engine_expect_events(Rank &rank) {
    const Engine &engine = *rank.engine;
    for (unsigned i = 0; i < engine.path_count; ++i)
        if (engine.paths[i].event_bits != 0) engine.paths[i].transport->expect_events();
}

void engine_read_events(Rank &rank) {
    Engine &engine = *rank.engine;
    const MutexLock locked(engine.lock);
    for (unsigned i = 0; i < engine.path_count; ++i)
        if (engine.paths[i].event_bits != 0) engine.paths[i].transport->read_events();
    progress(engine);
}

std::uint64_t engine_piece_bytes(const Rank &rank, int peer, std::uint64_t bytes) {
    const MutexLock locked(rank.engine->lock);
    return piece_bytes_of(*path_to(*rank.engine, peer), peer, bytes, Direction::put);
}

bool carry_events(Engine &engine, OperationRecord *record, const EventForm &form) {
    PeerQueue &queue = engine.queues[record->peer];
    if (queue.closing == nullptr) queue.closing = new (std::nothrow) ClosingMessages;
    if (queue.closing == nullptr) return false;
    const bool is_alone = form.parts == 0;
    record->piece_bytes =
        is_alone ? piece_bytes_of(*queue.path, record->peer, record->bytes, Direction::put)
                 : form.piece_bytes;
    const std::uint64_t pieces = piece_count(record->layout, record->bytes, record->piece_bytes);
    const std::uint64_t parts =
        is_alone ? std::min<std::uint64_t>(pieces, form.most_parts) : pieces;
    CarriedEvents &carried = record->carried;
    carried = CarriedEvents{};
    carried.first = form.is_continued ? form.further : form.first;
    if (!form.is_continued)
        carried.first.low += ((is_alone ? parts : form.parts) - 1) << form.code_shift;
    carried.further = form.further;
    carried.parts = carried.uncut = static_cast<std::uint32_t>(parts);
    carried.index = form.index;
    carried.number = form.number;
    carried.plain_bytes = (pieces - parts) * record->piece_bytes;
    return true;
}

bool has_to_close(const PeerQueue &queue) {
    const ClosingMessages *const closing = queue.closing;
    return closing != nullptr && !closing->waiting.is_empty() &&
           closing->question.state != RecordState::in_flight;
}

void prepare_question(Engine &engine, PeerQueue &queue) {
    ClosingMessages &closing = *queue.closing;
    const CarriedEvents &carried = closing.waiting.first()->record->carried;
    OperationRecord &question = *new (&closing.question) OperationRecord{};
    question.state = RecordState::complete;
    question.mode = Completion::Mode::blocking;
    question.direction = Direction::execute;
    question.peer = queue.peer;
    question.remote =
        transport::RemoteMemory{nullptr, engine.rank->peers[queue.peer].control_handle};
    EventTask task{};
    task.index = carried.index;
    task.set(EventAction::close, carried.number);
    std::memcpy(question.operands, &task, sizeof task);
    question.local = reinterpret_cast<std::byte *>(question.operands);
    question.operation = kEventTask;
    question.type = SENNIT_UINT64;
    question.element_bytes = sizeof(std::uint64_t);
    question.payload_bytes = sizeof task;
    question.result = reinterpret_cast<std::byte *>(&question.answer);
    question.bytes = question.piece_bytes = sizeof(std::uint64_t);
    question.carried = carried;
    question.carried.parts = question.carried.uncut = 0;
}

PieceQueue take_closed(PeerQueue &queue, bool *goes_again) {
    ClosingMessages &closing = *queue.closing;
    *goes_again = closing.question.answer == 0;
    PieceQueue closed;
    PieceQueue others;
    while (OperationPiece *piece = closing.waiting.pop())
        (is_of_message(*piece, closing.question.carried) ? closed : others).push(piece);
    closing.waiting = others;
    return closed;
}

std::size_t engine_most_event_data(const Rank &rank, int peer) {
    const MessagePath *const path = path_to(*rank.engine, peer);
    return path == nullptr ? 0 : path->eager_bytes;
}

std::size_t engine_packed_room(const Rank &rank, int peer) {
    const MessagePath *const path = path_to(*rank.engine, peer);
    return path == nullptr ? 0 : data_room(*path);
}

bool engine_puts_in_software(const Rank &rank, int peer) {
    const MessagePath *const path = path_to(*rank.engine, peer);
    return path != nullptr && path->transport->traits().in_software;
}

void finish_postponed(Engine &engine, MessagePath &path) {
    if (path.transport->finish_postponed() != 0) work_off(engine);
}

void hurry(Engine &engine, PeerQueue &queue) {
    if (queue.answers_waited == 0 || queue.is_hurried) return;
    finish_postponed(engine, *queue.path);
    if (queue.answers_waited == 0) return;
    queue.is_hurried = true;
    queue.path->transport->hurry(queue.peer);
}

void hurry_if_slow(PeerQueue &queue, std::int64_t since_ns) {
    constexpr std::int64_t kSlowNs = 2'000'000;
    constexpr std::int64_t kSlowForNs = 200'000'000;
    constexpr std::int64_t kBetweenNs = 20'000'000;
    if (queue.path == nullptr) return;
    const std::int64_t now = boot_ns();
    if (now - since_ns > kSlowNs) queue.slow_until_ns = now + kSlowForNs;
    if (now > queue.slow_until_ns || now - queue.hurried_ns < kBetweenNs) return;
    queue.hurried_ns = now;
    queue.path->transport->hurry(queue.peer);
}

// Any thread may run this, so restore that thread's last error.
void end_event(Engine &engine, OperationRecord *record) {
    EventTask task;
    std::memcpy(&task, record->operands, sizeof task);
    if (record->status != SENNIT_OK) {
        char why[160];
        (void)std::snprintf(why, sizeof why, "an event for signal %#x of rank %d failed: %s",
                            task.handle, record->peer, sennit_status_string(record->status));
        record->why = strdup(why);
        (void)record->check(*engine.rank, record->peer, task, kNoAnswer);
        return;
    }
    const ErrorGuard unrelated;
    record->status = record->check(*engine.rank, record->peer, task, record->answer);
    for (std::uint32_t i = 1; i < record->packed.count && record->status == SENNIT_OK; ++i)
        record->status =
            record->check(*engine.rank, record->peer, task, packed_task(*record, i).answer);
    if (record->status != SENNIT_OK) record->why = strdup(thread_error()->text);
}

sennit_status engine_await_sent(Rank &rank, int peer, const Deadline &deadline) {
    Engine &engine = *rank.engine;
    const auto is_sent = [&] {
        const PeerQueue *const queue = engine.queues.find(peer);
        return queue == nullptr || queue->events_pending == 0;
    };
    {
        const MutexLock locked(engine.lock);
        if (is_sent()) return SENNIT_OK;
    }
    const std::int64_t since_ns = boot_ns();
    return wait_until(rank, deadline, peer, [&] {
        const MutexLock locked(engine.lock);
        if (is_sent()) return true;
        hurry_if_slow(engine.queues[peer], since_ns);
        progress(engine);
        return is_sent();
    });
}

void engine_finish_postponed(Rank &rank) {
    Engine &engine = *rank.engine;
    const MutexLock locked(engine.lock);
    for (unsigned i = 0; i < engine.path_count; ++i)
        finish_postponed(engine, engine.paths[i]);
}

sennit_status engine_await_answers(Rank &rank, int peer, const Deadline &deadline,
                                   bool (*is_enough)(const void *context), const void *context) {
    Engine &engine = *rank.engine;
    return wait_until(rank, deadline, peer, [&] {
        if (is_enough(context)) return true;
        const MutexLock locked(engine.lock);
        PeerQueue *const queue = engine.queues.find(peer);
        if (queue == nullptr || queue->answers_waited == 0) return true;
        hurry(engine, *queue);
        progress(engine);
        return false;
    });
}

void engine_take_events(Rank &rank, const EventHandlers *handlers) {
    // SYNC engine-handlers: pairs with the acquire in handlers_of(); the signals are made before.
    if (rank.engine != nullptr) rank.engine->handlers.store(handlers, std::memory_order_release);
}

// Null: the rank has no signals, or is closing.
const EventHandlers *handlers_of(const Rank &rank) {
    // SYNC engine-handlers: pairs with the release in engine_take_events().
    return rank.engine == nullptr ? nullptr : rank.engine->handlers.load(std::memory_order_acquire);
}

void engine_event_arrived(void *context, const transport::EventData &event) {
    Rank &rank = *static_cast<Rank *>(context);
    // Without handlers no peer has an index of this rank, so the event is dropped.
    if (const EventHandlers *const all = handlers_of(rank); all != nullptr)
        all->take(rank, rank.engine->width, event);
}

std::uint32_t engine_subject(const transport::Task &task, const std::byte *payload) {
    if (task.operation != kEventTask) return 0;
    EventTask event;
    std::memcpy(&event, payload, sizeof event);
    const bool is_of_messages = event.action() == EventAction::count ||
                                event.action() == EventAction::scatter ||
                                event.action() == EventAction::confirm;
    return is_of_messages ? event.handle : 0;
}

std::uint64_t engine_renew(void *context, std::uint32_t subject, std::uint64_t reply) {
    Rank &rank = *static_cast<Rank *>(context);
    const EventHandlers *const all = handlers_of(rank);
    return all == nullptr ? reply : all->renew(rank, subject, reply);
}

void engine_renewed(void *context, int from, std::uint32_t subject, std::uint64_t reply) {
    Rank &rank = *static_cast<Rank *>(context);
    if (const EventHandlers *const all = handlers_of(rank); all != nullptr)
        all->renewed(rank, from, subject, reply);
}

}  // namespace sennit::op
