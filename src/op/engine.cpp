// SPDX-License-Identifier: BSD-3-Clause
// The calls of the op engine: start, wait, test, flush. engine_pump.cpp moves the operations;
// docs/design/engine.md has the reasons.
#include "op/engine.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "op/engine_state.hpp"
#include "op/packed.hpp"
#include "path/router.hpp"
#include "request/request.hpp"
#include "runtime/wait.hpp"

namespace sennit::op {
namespace {

const char *name_of(Direction direction) {
    constexpr const char *kNames[] = {"put", "get", "atomic operation"};
    return kNames[static_cast<std::size_t>(direction)];
}

const char *path_name(const MessagePath *path) {
    return path == nullptr ? "" : path->transport->traits().name;
}

// The reason of a failed operation on the peer, if more than the status is known.
struct Trouble {
    char text[160] = "";

    Trouble(Engine &engine, int peer, sennit_status status) {
        const MessagePath *const path = path_to(engine, peer);
        if (status == SENNIT_ERR_PEER_LOST)
            (void)std::snprintf(text, sizeof text, "; it %s", how_lost(*engine.rank, peer));
        if (status != SENNIT_ERR_FABRIC || path == nullptr) return;
        path->transport->describe_trouble(peer, text + 2, sizeof text - 2);
        if (text[2] != '\0') std::memcpy(text, "; ", 2);
    }
};

// Sets the error of a failed operation for the thread that returns its status.
sennit_status report(Engine &engine, const OperationRecord &record) {
    if (record.why != nullptr)
        return fail_peer(record.status, record.peer, path_name(path_to(engine, record.peer)), "%s",
                         record.why);
    const unsigned long long bytes = record.packed.count != 0 ? record.packed.hull : record.bytes;
    return fail_peer(record.status, record.peer, path_name(path_to(engine, record.peer)),
                     "%s of %llu byte%s at offset %llu of rank %d failed: %s%s",
                     record.check != nullptr ? "event" : name_of(reported_direction(record)), bytes,
                     plural(bytes), static_cast<unsigned long long>(record.offset), record.peer,
                     sennit_status_string(record.status),
                     Trouble(engine, record.peer, record.status).text);
}

// Passes the answer of a complete record to its caller, if the caller still waits.
void hand_over_answer(const OperationRecord &record) {
    if (record.answer_to == nullptr || record.status != SENNIT_OK) return;
    if (record.payload_bytes != 0) {
        std::memcpy(record.answer_to, &record.answer, sizeof record.answer);
    } else {
        std::memcpy(record.answer_to, record.buffer, record.bytes);
    }
}

sennit_status take_status(Engine &engine, OperationRecord *record) {
    const sennit_status status = record->status == SENNIT_OK ? SENNIT_OK : report(engine, *record);
    hand_over_answer(*record);
    engine.records.give_back(record);
    return status;
}

// Decides whether flush ignores the error of a released record: it does for the library's own
// operations, for questions, and for a get into the record's buffer, whose data nobody reads.
void forget(OperationRecord *record, Abandoned kind) {
    record->is_forgotten = kind == Abandoned::library_s || is_question(*record) ||
                           (record->direction == Direction::get && record->buffer != nullptr);
}

// Releases a record whose operation continues. The record frees itself at the end, and flush
// reports its error.
void let_go_on(Engine &engine, OperationRecord *record, Abandoned kind = Abandoned::program_s) {
    record->answer_to = nullptr;
    record->mode = Completion::Mode::implicit;
    forget(record, kind);
    const bool cancels = record->then != nullptr && kind != Abandoned::goes_on;
    // Events in progress may still arrive, so the task that undoes them must be last.
    if (cancels && record->carried.parts != 0)
        record->cancels_then = true;
    else if (cancels)
        count_down(engine, std::exchange(record->then, nullptr), SENNIT_ERR_TIMEOUT, nullptr);
    if (!record->on_flush_list && !record->is_forgotten)
        append_to_flush_list(engine.queues[record->peer], record);
}

bool covers(const PeerQueue &queue, std::uint64_t number) {
    return queue.open_first == nullptr || queue.open_first->number > number;
}

// The part of a peer's flush list for which a flush waits.
enum class FlushScope : std::uint8_t { all, lent };

// If the peer is gone, continues to wait until the transport has ended the operations, which may
// write to the caller's memory until then. This second wait is for this rank itself, so another
// rank's death does not end it.
template <class Ready>
sennit_status wait_until_ended(Engine &engine, const Deadline &deadline, int peer, Ready ready) {
    Rank &rank = *engine.rank;
    const sennit_status status = wait_until(rank, deadline, peer, ready);
    return status == SENNIT_ERR_PEER_LOST ? wait_until(rank, deadline, rank.world_rank, ready)
                                          : status;
}

// Errors: TIMEOUT.
sennit_status wait_for_queue(Engine &engine, int peer, FlushScope scope, const Deadline &deadline) {
    std::uint64_t number = 0;
    const PeerQueue *queue = nullptr;
    {
        const MutexLock locked(engine.lock);
        queue = engine.queues.find(peer);
        if (queue == nullptr) return SENNIT_OK;
        number = scope == FlushScope::all ? queue->last_number : queue->last_lent;
        if (covers(*queue, number)) return SENNIT_OK;
    }
    const std::int64_t since_ns = boot_ns();
    return wait_until_ended(engine, deadline, peer, [&] {
        const MutexLock locked(engine.lock);
        if (!covers(*queue, number)) {
            hurry(engine, engine.queues[peer]);
            hurry_if_slow(engine.queues[peer], since_ns);
            progress(engine);
        }
        return covers(*queue, number);
    });
}

void poll(Engine &engine, bool may_postpone = false) {
    // If another thread has the mutex, it makes progress or is about to release it.
    if (pthread_mutex_trylock(&engine.lock) != 0) return;
    progress(engine, may_postpone);
    (void)pthread_mutex_unlock(&engine.lock);
}

// A ProgressHook: its caller waits for an arrival, or tests its own operation afterwards.
void poll_hook(void *engine) {
    poll(*static_cast<Engine *>(engine), true);
}

sennit_status fill_paths(Engine &engine) {
    constexpr std::uint64_t kBulkPieces = 8;  // Traits::bulk_bytes if a transport does not set it
    Rank &rank = *engine.rank;
    for (int peer = 0; peer < engine.size; ++peer) {
        transport::Transport *const transport = path::message_transport_of(rank, peer);
        if (transport == nullptr || path_to(engine, peer) != nullptr) continue;
        const transport::Traits &traits = transport->traits();
        if (engine.path_count == kMessagePaths || traits.max_piece_bytes == 0 || traits.rails == 0)
            return fail(SENNIT_ERR_INTERNAL, "the op engine cannot use the path %s", traits.name);
        MessagePath *const path = &engine.paths[engine.path_count++];
        path->transport = transport;
        path->rails = traits.rails < kRails ? traits.rails : kRails;
        path->keeps_order = traits.ordered && path->rails == 1;
        path->max_piece_bytes = traits.max_piece_bytes;
        path->bulk_bytes =
            traits.bulk_bytes != 0 ? traits.bulk_bytes : kBulkPieces * traits.max_piece_bytes;
        path->task_bytes = std::min(traits.task_bytes, transport::kMostTaskBytes) & ~7ull;
        if (path->task_bytes != 0)
            path->payload_bytes =
                traits.payload_bytes == 0
                    ? path->task_bytes
                    : std::min(traits.payload_bytes, transport::kMostPayloadBytes);
        path->eager_bytes = std::min(data_room(*path), traits.eager_bytes);
        // Events need tasks, which confirm them. Only one path can have events, since they do not
        // name their path.
        if (path->payload_bytes < sizeof(EventTask) || traits.event_bits == 0 ||
            engine.width.bits != 0)
            continue;
        path->event_bits = traits.event_bits;
        engine.width = {traits.event_bits, traits.event_index_bits};
    }
    return SENNIT_OK;
}

}  // namespace

MessagePath *path_to(Engine &engine, int peer) {
    const transport::Transport *const transport = path::message_transport_of(*engine.rank, peer);
    if (transport == nullptr) return nullptr;
    for (unsigned i = 0; i < engine.path_count; ++i)
        if (engine.paths[i].transport == transport) return &engine.paths[i];
    return nullptr;
}

PeerQueue &make_queue(Engine &engine, int peer) {
    PeerQueue &queue = engine.queues.make(peer);
    queue.peer = peer;
    queue.path = path_to(engine, peer);
    return queue;
}

namespace {

bool carries_task(const MessagePath &path, const OperationArgs &args) {
    const Work &work = *args.target->work;
    if (work.event == nullptr && work.word == nullptr) return path.task_bytes != 0;
    if (args.target->layout != nullptr)
        return packed_size(*args.target->layout, data_room(path)).tasks != 0;
    return path.payload_bytes >= payload_of_event(args);
}

// Sets *is_recorded if a record was made. *out stays null if the record has already ended.
sennit_status start_record(Engine &engine, const OperationArgs &args, OperationRecord **out,
                           bool *is_recorded) {
    const int peer = args.target->peer;
    PeerQueue &queue = use_queue(engine, peer);
    if (queue.path == nullptr)
        return fail_peer(SENNIT_ERR_OTHER_NODE, peer, "", "no message path leads to rank %d", peer);
    if (known_gone(*engine.rank, peer) != Gone::no) return fail_lost(*engine.rank, peer);
    if (args.direction == Direction::execute && !carries_task(*queue.path, args))
        return fail_peer(SENNIT_ERR_UNSUPPORTED, peer, path_name(queue.path),
                         "the path %s carries no %s", path_name(queue.path),
                         args.target->work->event == nullptr ? "atomic operations" : "such events");
    if (args.bytes == 0) return SENNIT_OK;
    OperationRecord *record = engine.records.take();
    if (record == nullptr)
        return fail_peer(SENNIT_ERR_NOMEM, peer, path_name(queue.path),
                         "no memory to record an operation; %u are open", engine.records.in_use());
    ++engine.started[static_cast<std::size_t>(args.direction)];
    if (args.target->layout != nullptr && args.direction != Direction::execute) {
        record->layout = layout_copy(*args.target->layout);
        if (record->layout == nullptr) {
            engine.records.give_back(record);
            return fail_peer(SENNIT_ERR_NOMEM, peer, path_name(queue.path),
                             "no memory for the list of pieces");
        }
    }
    fill_record(record, args);
    const EventForm *const events = args.completion.events;
    if (!keep(engine, record, args) ||
        (events != nullptr && !carry_events(engine, record, *events))) {
        engine.records.give_back(record);
        return fail_peer(SENNIT_ERR_NOMEM, peer, path_name(queue.path),
                         "no memory for the operation's data");
    }
    *is_recorded = true;
    record->is_forgotten = args.completion.mode == Completion::Mode::implicit &&
                           (is_question(*record) || args.completion.at_end.takes_error);
    // The program does not wait for the library's own requests.
    const bool is_own =
        args.completion.mode == Completion::Mode::request && args.completion.is_buffered;
    if (args.completion.mode == Completion::Mode::implicit ||
        (args.direction != Direction::get && !is_own))
        append_to_flush_list(queue, record);
    // Move the event after its data in the list, so that a flush of private buffers does not wait
    // for the event.
    if (record->then != nullptr && record->then->on_flush_list) {
        leave_flush_list(queue, record->then);
        append_to_flush_list(queue, record->then);
    }
    if (args.completion.held != nullptr) {
        record->state = RecordState::held;
        record->awaited = args.completion.held->awaited;
        record->mode = args.completion.mode;
        args.completion.held->record = *out = record;
        return SENNIT_OK;
    }
    enqueue(engine, record);
    int budget = kSubmitsPerProgress;
    pump(engine, queue, &budget);
    if (record->state == RecordState::pending) progress(engine);
    if (record->state != RecordState::complete) {
        record->mode = args.completion.mode;
        *out = record;
        return SENNIT_OK;
    }
    const sennit_status status = record->status;
    // If the first piece was refused, the thread's error has the transport's own text.
    if (status != SENNIT_OK && (record->moved || thread_error()->status != status))
        (void)report(engine, *record);
    hand_over_answer(*record);
    engine.records.give_back(record);
    return status;
}

}  // namespace

sennit_status start(Engine &engine, const OperationArgs &args, OperationRecord **out) {
    *out = nullptr;
    bool is_recorded = false;
    const sennit_status status = start_record(engine, args, out, &is_recorded);
    if (is_recorded) return status;
    end_at_once(engine, args.completion, args.target->peer, status);
    return status;
}

sennit_status wait_for_record(Engine &engine, OperationRecord *record) {
    const std::int64_t since_ns = boot_ns();
    const sennit_status waited = wait_until_ended(engine, default_deadline(), record->peer, [&] {
        const MutexLock locked(engine.lock);
        if (record->state == RecordState::pending) hurry(engine, engine.queues[record->peer]);
        if (record->state != RecordState::complete) {
            hurry_if_slow(engine.queues[record->peer], since_ns);
            progress(engine);
        }
        return record->state == RecordState::complete;
    });
    const MutexLock locked(engine.lock);
    if (record->state == RecordState::complete) return take_status(engine, record);
    let_go_on(engine, record);
    return waited;
}

void engine_free(Engine *engine) {
    engine->records.close();
    engine->pieces.close();
    for (const int peer : engine->queues.used()) {
        free_history(engine->queues[peer].history);
        std::free(engine->queues[peer].implicit_why);
        delete engine->queues[peer].closing;
    }
    (void)pthread_mutex_destroy(&engine->lock);
    delete engine;
}

sennit_status engine_create(Rank &rank) {
    // relaxed: only one thread runs at start.
    const unsigned hooks = rank.hook_count.load(std::memory_order_relaxed);
    if (hooks == kProgressHooks) return fail(SENNIT_ERR_INTERNAL, "too many progress hooks");
    auto *engine = new (std::nothrow) Engine;
    if (engine == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the op engine");
    engine->rank = &rank;
    engine->size = rank.bootstrap.size;
    const sennit_status status = engine->queues.open(static_cast<std::size_t>(engine->size))
                                     ? fill_paths(*engine)
                                     : fail(SENNIT_ERR_NOMEM, "no memory for the op engine");
    if (status != SENNIT_OK) {
        engine_free(engine);
        return status;
    }
    rank.engine = engine;
    if (rank.rail_share != 0) rank.split_from_bytes = kSharedFromBytes;
    request::register_kind(rank, request::RequestKind::operation,
                           {engine_test, engine_flush, engine_flush_local, engine_warn});
    rank.hooks[hooks] = ProgressHook{poll_hook, engine};
    rank.progress_yields = engine->path_count != 0;
    for (unsigned i = 0; i < engine->path_count; ++i)
        rank.progress_yields &= engine->paths[i].transport->traits().yields;
    // relaxed: only one thread runs at start.
    rank.hook_count.store(hooks + 1, std::memory_order_relaxed);
    return SENNIT_OK;
}

void engine_destroy(Rank &rank, const Deadline &deadline) {
    Engine *engine = rank.engine;
    if (engine == nullptr) return;
    // Wait for this rank itself, so that another rank's death does not end the wait.
    (void)wait_until(rank, deadline, rank.world_rank, [&] {
        const MutexLock locked(engine->lock);
        if (engine->records.in_use() == 0) return true;
        for (const int peer : engine->queues.used())
            hurry(*engine, engine->queues[peer]);
        progress(*engine);
        for (const int peer : engine->queues.used())
            if (has_work(engine->queues[peer])) return false;
        return engine->with_transports == 0;
    });
    // All relaxed: no other thread of the rank is in Sennit now.
    unsigned hooks = rank.hook_count.load(std::memory_order_relaxed);
    for (unsigned i = 0; i < hooks; ++i) {
        if (rank.hooks[i].context != engine) continue;
        rank.hooks[i] = rank.hooks[--hooks];
    }
    rank.hook_count.store(hooks, std::memory_order_relaxed);
    rank.engine = nullptr;
    rank.split_from_bytes = SIZE_MAX;
    request::register_kind(rank, request::RequestKind::operation, {});
    rank.progress_yields = false;
    for (const int peer : engine->queues.used())
        fail_queued(*engine, engine->queues[peer], SENNIT_ERR_TIMEOUT);
    engine->outlived = true;
    if (engine->with_transports == 0) engine_free(engine);
}

sennit_status engine_start(Rank &rank, Direction direction, const Target &target, void *local,
                           std::size_t bytes, const Completion &completion) {
    Engine &engine = *rank.engine;
    OperationRecord *record = nullptr;
    Completion::Mode mode = completion.mode;
    {
        const MutexLock locked(engine.lock);
        const Starting starting(rank);
        OperationArgs args{direction, &target, local, bytes, completion};
        if (mode == Completion::Mode::local) {
            args.completion.is_buffered = engine.records.may_copy(bytes, kCopyBudget);
            mode = args.completion.is_buffered ? Completion::Mode::implicit
                                               : Completion::Mode::blocking;
            args.completion.mode = mode;
        }
        const sennit_status status = start(engine, args, &record);
        if (status != SENNIT_OK) return status;
        if (mode == Completion::Mode::request)
            *completion.request =
                record == nullptr ? SENNIT_REQUEST_NULL : RequestTable::request_of(*record);
    }
    const bool waits = mode == Completion::Mode::blocking && record != nullptr;
    return waits ? wait_for_record(engine, record) : SENNIT_OK;
}

namespace {

// The record of a caller's request, or null.
OperationRecord *find_request(Engine &engine, sennit_request request) {
    OperationRecord *record = engine.records.find(request);
    return record != nullptr && record->mode == Completion::Mode::request ? record : nullptr;
}

}  // namespace

void engine_warn(Rank &rank, sennit_request request, int seconds) {
    int peer = -1;
    {
        const MutexLock locked(rank.engine->lock);
        const OperationRecord *record = find_request(*rank.engine, request);
        if (record != nullptr) peer = record->peer;
    }
    if (peer >= 0)
        log(SENNIT_LOG_WARNING,
            "a wait for a request has lasted %d s: the operation with rank %d is not complete",
            seconds, peer);
}

sennit_status engine_test(Rank &rank, sennit_request request, bool makes_progress, int *done) {
    if (request.handle == 0) {
        // Make progress: other ranks may wait for tasks that this rank must execute.
        if (makes_progress && rank.engine != nullptr) poll(*rank.engine);
        *done = 1;
        return SENNIT_OK;
    }
    if (rank.engine == nullptr) return request::no_request(request);
    Engine &engine = *rank.engine;
    const MutexLock locked(engine.lock);
    OperationRecord *record = find_request(engine, request);
    if (record == nullptr) return request::no_request(request);
    if (makes_progress && record->state != RecordState::complete) {
        PeerQueue &queue = engine.queues[record->peer];
        if (queue.tested_number != record->number) {
            queue.tested_number = record->number;
            queue.tested_ns = boot_ns();
        }
        hurry_if_slow(queue, queue.tested_ns);
        progress(engine);
    } else if (record->state != RecordState::complete) {
        // The caller has polled.
        finish_postponed(engine, *engine.queues[record->peer].path);
    }
    *done = record->state == RecordState::complete ? 1 : 0;
    return *done != 0 ? take_status(engine, record) : SENNIT_OK;
}

void engine_abandon(Rank &rank, sennit_request request, Abandoned kind) {
    if (rank.engine == nullptr || request.handle == 0) return;
    Engine &engine = *rank.engine;
    const MutexLock locked(engine.lock);
    OperationRecord *record = find_request(engine, request);
    if (record == nullptr) return;
    if (record->state == RecordState::complete) {
        forget(record, kind);
        leave_error(engine.queues[record->peer], record);
        engine.records.give_back(record);
    } else {
        let_go_on(engine, record, kind);
    }
}

namespace {

// The error of implicit operations to the lowest peer that has one. Later calls do not return it
// again.
sennit_status take_implicit_error(Engine &engine, std::span<const int> peers) {
    const MutexLock locked(engine.lock);
    int failed = -1;
    sennit_status error = SENNIT_OK;
    Direction direction = Direction::put;
    char *why = nullptr;
    for (const int peer : peers) {
        PeerQueue *const queue = engine.queues.find(peer);
        if (queue == nullptr || queue->implicit_error == SENNIT_OK) continue;
        const sennit_status status = std::exchange(queue->implicit_error, SENNIT_OK);
        char *const words = std::exchange(queue->implicit_why, nullptr);
        const bool is_lower = failed < 0 || peer <= failed;
        std::free(is_lower ? why : words);
        if (!is_lower) continue;
        why = words;
        failed = peer;
        error = status;
        direction = queue->implicit_direction;
    }
    if (failed < 0) return SENNIT_OK;
    const char *const path = path_name(path_to(engine, failed));
    if (why == nullptr)
        return fail_peer(error, failed, path, "an implicit %s of rank %d failed: %s%s",
                         name_of(direction), failed, sennit_status_string(error),
                         Trouble(engine, failed, error).text);
    (void)fail_peer(error, failed, path, "%s", why);
    std::free(why);
    return error;
}

// The peer, or all peers used so far.
std::span<const int> peers_to_flush(Engine &engine, const int *peer) {
    if (*peer != kAnyPeer) return std::span(peer, 1);
    const MutexLock locked(engine.lock);
    return engine.queues.used();
}

sennit_status flush(Rank &rank, int peer, FlushScope scope, const Deadline &deadline) {
    if (rank.engine == nullptr) return SENNIT_OK;
    Engine &engine = *rank.engine;
    // Make progress even if nothing is open: a program may loop over flushes while other ranks wait
    // for this rank to execute their tasks.
    poll(engine);
    const std::span<const int> peers = peers_to_flush(engine, &peer);
    for (const int each : peers) {
        const sennit_status status = wait_for_queue(engine, each, scope, deadline);
        if (status != SENNIT_OK) return status;
    }
    return take_implicit_error(engine, peers);
}

}  // namespace

sennit_status engine_flush(Rank &rank, int peer, const Deadline &deadline) {
    return flush(rank, peer, FlushScope::all, deadline);
}

sennit_status engine_flush_local(Rank &rank, int peer, const Deadline &deadline) {
    return flush(rank, peer, FlushScope::lent, deadline);
}

void engine_note_open(Rank &rank, std::uint64_t numbers[]) {
    Engine &engine = *rank.engine;
    const MutexLock locked(engine.lock);
    std::fill_n(numbers, engine.size, std::uint64_t{0});
    for (const int peer : engine.queues.used())
        numbers[peer] = engine.queues[peer].last_number;
}

bool engine_try_flush(Rank &rank, const std::uint64_t numbers[], sennit_status *status) {
    Engine &engine = *rank.engine;
    poll(engine);
    std::span<const int> peers;
    {
        const MutexLock locked(engine.lock);
        peers = engine.queues.used();
        bool all = true;
        for (const int peer : peers) {
            if (covers(engine.queues[peer], numbers[peer])) continue;
            hurry(engine, engine.queues[peer]);
            all = false;
        }
        if (!all) return false;
    }
    *status = take_implicit_error(engine, peers);
    return true;
}

sennit_status engine_fence(Rank &rank, int to) {
    if (rank.engine == nullptr) return SENNIT_OK;
    Engine &engine = *rank.engine;
    const MutexLock locked(engine.lock);
    for (const int peer : engine.queues.used()) {
        PeerQueue &queue = engine.queues[peer];
        if (queue.path == nullptr || (to != kAnyPeer && peer != to)) continue;
        // Ordered rails deliver puts in order, but a put may arrive before an earlier task is
        // executed.
        if (queue.path->keeps_order && queue.tasks_started == 0) continue;
        // Queued records may be puts; an unnecessary barrier put only costs time.
        if (queue.puts_open > 0 || !queue.pending.is_empty() || !queue.bulk.is_empty())
            queue.next_put_is_barrier = true;
    }
    return SENNIT_OK;
}

}  // namespace sennit::op
