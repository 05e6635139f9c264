// SPDX-License-Identifier: BSD-3-Clause
// The inside of the op engine, shared by engine.cpp (what callers start and wait for) and
// engine_pump.cpp (cutting, submitting, completing). docs/design/engine.md has states and
// invariants. Everything here needs the engine's mutex.
#pragma once

#include <pthread.h>

#include <atomic>

#include "base/mutex.hpp"
#include "base/sparse_table.hpp"
#include "op/rail_load.hpp"
#include "op/request_table.hpp"

namespace sennit::op {

inline constexpr unsigned kMessagePaths = 4;
inline constexpr unsigned kRails = 64;  // a rail beyond is not used
inline constexpr int kSubmitsPerProgress = 64;
inline constexpr std::uint32_t kPiecesPerRecord = 64;  // out at a time
inline constexpr std::uint64_t kBulkPieces = 8;        // whole ones: longer puts let others pass
inline constexpr std::uint32_t kBulkOut = 8;           // of its pieces, for each rail
inline constexpr std::uint64_t kSharedFromBytes = 524288;  // from here all rails get a part
// Tasks open to one peer at a time, counted from the oldest, so that the target can tell a
// repetition by remembering as many.
inline constexpr std::uint32_t kTaskWindow = 32;
inline constexpr std::uint64_t kCopyBudget = 4 << 20;  // see engine_local_put()

// One message transport.
struct MessagePath {
    transport::Transport *transport = nullptr;
    unsigned rails = 1;
    bool keeps_order = false;  // puts to one peer arrive as submitted, so fence is free
    std::uint64_t max_piece_bytes = 0;
    std::uint64_t task_bytes = 0;     // a multiple of 8; 0: no tasks
    std::uint64_t payload_bytes = 0;  // of an event's task
    std::uint64_t eager_bytes = 0;    // of its data, where that lies together
    unsigned event_bits = 0;          // 0 where there are no tasks
    RailLoad loads[kRails];
};

// Pieces whose rail failed under an event. The event may be counted already, and its owner may have
// written to the memory since: the message is closed first (EventAction::close), one at a time.
struct ClosingMessages {
    PieceQueue waiting;
    OperationRecord question{};  // in flight, or complete; in no queue and no table
};

// A task found the lock of its segment taken. Its number is not used up, and its sender sends it
// again.
inline constexpr sennit_status kTaskIsToBeRepeated = SENNIT_ERR_TIMEOUT;

// What this rank has carried out for one peer: entry i holds the latest task whose number is i
// modulo kTaskWindow, and the answer it got. Nearly all replies are of one word.
struct TaskHistory {
    struct Answer {
        std::uint64_t sequence;  // 0: none yet
        sennit_status status;
        std::uint32_t reply_bytes;
        std::byte word[8];  // the reply, unless it is longer
    };
    struct LongReply {
        std::byte bytes[transport::kMostTaskBytes];
    };
    // Messages are begun in order, and a window of tasks is under way: so of two that are under
    // way none has the other's place.
    static constexpr std::uint32_t kMessages = 2 * kTaskWindow;

    Answer answers[kTaskWindow];
    LongReply *long_replies;  // [kTaskWindow], made with the first task that has one
    ComingParts *messages;    // [kMessages], by number; made with the first one
};
static_assert(sizeof(TaskHistory) == 784);

using RecordQueue = LinkedQueue<OperationRecord, &OperationRecord::next_pending>;

// Of a peer that this rank has started an operation to, or that has sent tasks or events.
struct PeerQueue {
    MessagePath *path = nullptr;  // null: a load/store peer, or none
    int peer = -1;
    bool is_used = true;  // see SparseTable
    bool active = false;  // in the engine's ring of queues with work
    bool next_put_is_barrier = false;
    sennit_status implicit_error = SENNIT_OK;
    Direction implicit_direction = Direction::put;  // of the operation that had it
    char *implicit_why = nullptr;                   // in words, or null: nothing is known
    std::uint32_t puts_open = 0;                    // pieces of puts and of tasks
    std::uint32_t tasks_started = 0;   // records of Direction::execute that are not complete
    std::uint32_t answers_waited = 0;  // of those, the ones whose answers may wait
    std::uint32_t events_pending = 0;  // of those, the ones that no transport has seen
    bool is_hurried = false;  // until all of these are there: the peer knows, and new ones may not
    std::int64_t hurried_ns = 0;      // hurry_if_slow() told it
    std::int64_t slow_until_ns = 0;   // it is taken to be
    std::uint64_t tested_number = 0;  // of the record that was asked about last,
    std::int64_t tested_ns = 0;       // and when that began
    std::uint32_t tasks_done = 0;     // bit i: the task numbered first_task + i is over
    std::uint64_t first_task = 1;     // the oldest that is not over
    std::uint64_t next_task = 1;
    std::uint32_t next_message = 0;  // of those that several tasks bring
    std::uint64_t last_number = 0;
    std::uint64_t last_lent = 0;  // the number of the last record whose caller lends a buffer
    RecordQueue pending;
    RecordQueue bulk;      // long puts, few pieces at a time, while pending records pass them
    RecordQueue released;  // events whose data is there; before what is pending
    PieceQueue retry;
    OperationRecord *open_first = nullptr;  // the flush list
    OperationRecord *open_last = nullptr;
    PeerQueue *next_active = nullptr;
    // What came from the peer.
    TaskHistory *history = nullptr;      // made with its first task
    ClosingMessages *closing = nullptr;  // made with the first put that carries events
};

struct Engine {
    Rank *rank = nullptr;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    RequestTable records;
    PiecePool pieces;
    std::atomic<const EventHandlers *> handlers{nullptr};  // SYNC engine-handlers
    EventWidth width;                                      // of events that come here
    MessagePath paths[kMessagePaths];
    unsigned path_count = 0;
    int size = 0;
    SparseTable<PeerQueue> queues;  // [size]
    LinkedQueue<PeerQueue, &PeerQueue::next_active> active;
    PieceQueue done;                     // completed, not yet worked off
    std::uint64_t with_transports = 0;   // pieces accepted and not completed
    std::uint64_t unchecked_rounds = 0;  // see check_invariants()
    std::uint64_t started[3] = {};       // operations so far, by Direction
    bool outlived = false;               // engine_destroy() is over; the last completion frees
};

// How messages go to the peer; null: it is a load/store peer, or none. Without the mutex too.
MessagePath *path_to(Engine &engine, int peer);
// A peer has its queue from its first use on.
[[gnu::cold]] PeerQueue &make_queue(Engine &engine, int peer);
inline PeerQueue &use_queue(Engine &engine, int peer) {
    PeerQueue *const known = engine.queues.find(peer);
    return known != nullptr ? *known : make_queue(engine, peer);
}

// What a caller starts.
struct OperationArgs {
    Direction direction;
    const Target *target;
    void *local;
    std::size_t bytes;
    Completion completion;
};
void fill_record(OperationRecord *record, const OperationArgs &args);
// What the caller has in variables of its own goes through memory of the record's. False: there is
// none.
bool keep(Engine &engine, OperationRecord *record, const OperationArgs &args);
// How much data an event's task brings, at most.
std::size_t data_room(const MessagePath &path);
// An event's task, and one that counts nothing.
std::uint64_t payload_of_event(const OperationArgs &args);
bool is_question(const OperationRecord &record);
// What its caller would call it: tasks that bring data are puts.
inline Direction told_direction(const OperationRecord &record) {
    return record.payload_bytes != 0 ? Direction::put : record.direction;
}
// OK and *out null: complete already. An error: over, and nothing to take.
sennit_status start(Engine &engine, const OperationArgs &args, OperationRecord **out);
// Waits for what start() has given. Without the mutex. Where the wait ends first the operation goes
// on as an implicit one.
sennit_status wait_for_record(Engine &engine, OperationRecord *record);

// How long the pieces of a transfer are.
std::uint64_t piece_bytes_of(MessagePath &path, int peer, std::uint64_t bytes);

// Appends a new record to its peer's queue, which need not be empty.
void enqueue(Engine &engine, OperationRecord *record);
// The same of an event that was held, to those that go first.
void enqueue_event(PeerQueue &queue, OperationRecord *record);
// Cuts and submits what is queued for one peer; takes from `budget`. Works off completions.
void pump(Engine &engine, PeerQueue &queue, int *budget);
// One round: every transport, then the queues with work.
void progress(Engine &engine);
// Works off the pieces that transports have completed.
void work_off(Engine &engine);
// From now on the queue is pumped; it has work.
void activate(Engine &engine, PeerQueue &queue);
const EventHandlers *handlers_of(const Rank &rank);
// Somebody waits for answers that may wait.
void hurry(PeerQueue &queue);
// Somebody waits for the peer, and has done so since then. Its thread may leave it alone while it
// computes, so it is told where it is slow, or was lately.
void hurry_if_slow(PeerQueue &queue, std::int64_t since_ns);
// Of an event's task whose answer no caller judges: it is judged, and the record says why it has
// failed.
void end_event(Engine &engine, OperationRecord *record);
// What failed is told by flush, if nothing else is yet.
void leave_error(PeerQueue &queue, OperationRecord *record);
// The record is over.
void finish(Engine &engine, PeerQueue &queue, OperationRecord *record);
// Who asked to be called at its end, and what is held until then.
void follow(Engine &engine, OperationRecord *record);
// The same of an operation without a record.
void end_at_once(Engine &engine, const Completion &completion, int peer, sennit_status status);
// One of those that the record waits for is over; `why`, which is taken over, says in words what
// has failed, or is null.
void count_down(Engine &engine, OperationRecord *held, sennit_status status, char *why);
// Must the peer be asked about a message?
bool has_to_close(const PeerQueue &queue);
bool has_work(const PeerQueue &queue);

// Divides a record that carries events. False: no memory.
bool carry_events(Engine &engine, OperationRecord *record, const EventForm &form);
// Fills the record of the next question.
void prepare_question(Engine &engine, PeerQueue &queue);
// It is over: the pieces that it was about, and whether their data has to go again.
PieceQueue take_closed(PeerQueue &queue, bool *goes_again);
// Everything that is queued for the peer and not with a transport fails with `status`.
void fail_queued(Engine &engine, PeerQueue &queue, sennit_status status);
void append_to_flush_list(PeerQueue &queue, OperationRecord *record);
void leave_flush_list(PeerQueue &queue, OperationRecord *record);
void free_history(TaskHistory *history);  // or null
// Frees the memory of the engine; no transport may hold a piece.
void engine_free(Engine *engine);

// Compares the state with the invariants of docs/design/engine.md; null if they hold, else the
// first that does not.
const char *engine_check(Engine &engine);
// Ends the process if one is broken. The more records and queues there are, the rarer it looks.
void check_invariants(Engine &engine);

}  // namespace sennit::op
