// SPDX-License-Identifier: BSD-3-Clause
// The state of the op engine, shared by the sources engine*.cpp and task.cpp. docs/design/engine.md
// has states and invariants. Everything here needs the engine's mutex, unless noted.
#pragma once

#include <pthread.h>

#include <atomic>

#include "base/mutex.hpp"
#include "base/sparse_table.hpp"
#include "op/rail_load.hpp"
#include "op/request_table.hpp"

namespace sennit::op {

inline constexpr unsigned kMessagePaths = 4;
inline constexpr unsigned kRails = 64;  // further rails are not used
inline constexpr int kSubmitsPerProgress = 64;
inline constexpr std::uint32_t kPiecesPerRecord = 64;  // most open pieces of a record
// Operations of at least this size use all rails.
inline constexpr std::uint64_t kSharedFromBytes = 524288;
inline constexpr std::uint64_t kSpreadFromBytes = 16384;  // smaller operations use the home rail
// Open tasks to one peer have numbers in a window of this length, which starts at the oldest one.
// The target stores this many answers, to detect repetitions.
inline constexpr std::uint32_t kTaskWindow = 32;
inline constexpr std::uint64_t kCopyBudget = 4 << 20;  // see Completion::Mode::local

// One message transport.
struct MessagePath {
    transport::Transport *transport = nullptr;
    unsigned rails = 1;
    bool keeps_order = false;  // puts to one peer arrive in order
    std::uint64_t max_piece_bytes = 0;
    std::uint64_t bulk_bytes = 0;     // Traits::bulk_bytes
    std::uint64_t task_bytes = 0;     // a multiple of 8; 0: no tasks
    std::uint64_t payload_bytes = 0;  // of an event's task
    std::uint64_t eager_bytes = 0;    // of an event's contiguous data
    unsigned event_bits = 0;          // 0 without tasks
    unsigned last_rail = 0;           // of the last operation from kSpreadFromBytes on
    RailLoad loads[kRails];
};

// Pieces with an event whose rail failed. The target may have counted the event already and reused
// the memory. So before a piece is sent again, this rank asks the target to close the message
// (EventAction::close), one message at a time.
struct ClosingMessages {
    PieceQueue waiting;
    OperationRecord question{};  // in flight or complete; in no queue or table
};

// The status of a task that did not get the lock of its segment. The sender repeats it under the
// same number.
inline constexpr sennit_status kTaskIsToBeRepeated = SENNIT_ERR_TIMEOUT;

// The tasks that this rank has executed for one peer: entry i has the latest task whose number is i
// modulo kTaskWindow, and its answer. Almost all replies have one word.
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
    // Messages start in order and their open tasks fit in one window, so open messages have
    // different places.
    static constexpr std::uint32_t kMessages = 2 * kTaskWindow;

    Answer answers[kTaskWindow];
    LongReply *long_replies;  // [kTaskWindow], made with the first long reply
    ComingParts *messages;    // [kMessages], by number; made with the first message
};
static_assert(sizeof(TaskHistory) == 784);

using RecordQueue = LinkedQueue<OperationRecord, &OperationRecord::next_pending>;

// The state of a peer to which this rank has started operations, or which has sent tasks or events.
struct PeerQueue {
    MessagePath *path = nullptr;  // null: a load/store peer, or none
    int peer = -1;
    bool is_used = true;  // for SparseTable
    bool active = false;  // in the engine's ring of queues with work
    bool next_put_is_barrier = false;
    sennit_status implicit_error = SENNIT_OK;
    Direction implicit_direction = Direction::put;  // of the failed operation
    char *implicit_why = nullptr;                   // its text, or null if unknown
    std::uint32_t puts_open = 0;                    // open pieces of puts and tasks
    std::uint32_t tasks_started = 0;   // records of Direction::execute that are not complete
    std::uint32_t answers_waited = 0;  // of these, those whose answers may wait
    std::uint32_t events_pending = 0;  // of these, those not submitted yet
    bool is_hurried = false;           // no answer may be delayed; reset if answers_waited is 0
    std::int64_t hurried_ns = 0;       // time of the last hurry by hurry_if_slow()
    std::int64_t slow_until_ns = 0;    // the peer counts as slow until then
    std::uint64_t tested_number = 0;   // number of the record tested last
    std::int64_t tested_ns = 0;        // time of its first test
    std::uint32_t tasks_done = 0;      // bit i: the task first_task + i has ended
    std::uint64_t first_task = 1;      // the oldest task that has not ended
    std::uint64_t next_task = 1;
    std::uint32_t next_message = 0;  // number of the next message of several tasks
    std::uint64_t last_number = 0;
    std::uint64_t last_lent = 0;  // number of the last record with a lent buffer
    RecordQueue pending;
    RecordQueue bulk;      // long puts, few pieces at a time; pending records overtake them
    RecordQueue released;  // events whose data has arrived; they precede pending records
    PieceQueue retry;
    OperationRecord *open_first = nullptr;  // the flush list
    OperationRecord *open_last = nullptr;
    PeerQueue *next_active = nullptr;
    TaskHistory *history = nullptr;      // made with its first task
    ClosingMessages *closing = nullptr;  // made with the first put that carries events
};

struct Engine {
    Rank *rank = nullptr;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    RequestTable records;
    PiecePool pieces;
    std::atomic<const EventHandlers *> handlers{nullptr};  // SYNC engine-handlers
    EventWidth width;                                      // of events to this rank
    MessagePath paths[kMessagePaths];
    unsigned path_count = 0;
    int size = 0;
    SparseTable<PeerQueue> queues;  // [size]
    LinkedQueue<PeerQueue, &PeerQueue::next_active> active;
    PieceQueue done;                     // completed, not processed yet
    std::uint64_t with_transports = 0;   // pieces accepted and not completed
    std::uint64_t unchecked_rounds = 0;  // for check_invariants()
    std::uint64_t started[3] = {};       // operations so far, by Direction
    bool outlived = false;  // engine_destroy() has returned; the last completion frees the engine
};

// While it exists, a progress thread avoids polling for the rank (ProgressBell::is_starting). With
// the engine's mutex held.
class Starting {
  public:
    // relaxed: a hint.
    explicit Starting(Rank &rank) : is_on_(rank.progress_bell.is_starting) {
        is_on_.store(true, std::memory_order_relaxed);
    }
    ~Starting() { is_on_.store(false, std::memory_order_relaxed); }  // relaxed: a hint
    Starting(const Starting &) = delete;
    Starting &operator=(const Starting &) = delete;

  private:
    std::atomic<bool> &is_on_;
};

// The message path to the peer; null: a load/store peer, or no path. Does not need the mutex.
MessagePath *path_to(Engine &engine, int peer);
[[gnu::cold]] PeerQueue &make_queue(Engine &engine, int peer);
inline PeerQueue &use_queue(Engine &engine, int peer) {
    PeerQueue *const known = engine.queues.find(peer);
    return known != nullptr ? *known : make_queue(engine, peer);
}

// The arguments of a start.
struct OperationArgs {
    Direction direction;
    const Target *target;
    void *local;
    std::size_t bytes;
    Completion completion;
};
void fill_record(OperationRecord *record, const OperationArgs &args);
// Copies the data of a task or of a buffered operation into memory of the record. False: no memory.
bool keep(Engine &engine, OperationRecord *record, const OperationArgs &args);
// Copies the data of an event's task behind the task in the record's operands; long data, with the
// task, into separate memory of the record. False: no memory.
bool keep_event(Engine &engine, OperationRecord *record, const void *data);
// The most data of an event's task.
std::size_t data_room(const MessagePath &path);
// The payload length of an event's task.
std::uint64_t payload_of_event(const OperationArgs &args);
// Whether the record is an event's task that counts no message.
bool is_question(const OperationRecord &record);
// The direction for error texts: tasks with an event or a word are puts.
inline Direction reported_direction(const OperationRecord &record) {
    return record.payload_bytes != 0 ? Direction::put : record.direction;
}
// Starts an operation. OK with *out null: it is complete. An error: it has ended, and there is no
// record.
sennit_status start(Engine &engine, const OperationArgs &args, OperationRecord **out);
// Waits for the record of start(). Called without the mutex. After TIMEOUT the operation continues
// as an implicit one.
sennit_status wait_for_record(Engine &engine, OperationRecord *record);

// Submits a piece on the best of its rails. If the result is Submit::failed, piece->status and the
// thread's error have the reason.
transport::Submit submit_piece(Engine &engine, MessagePath &path, OperationPiece *piece);
bool has_rail_left(const MessagePath &path, const OperationPiece &piece);
// Counts a piece that a transport has returned.
void note_returned(MessagePath &path, const OperationPiece &piece);
// For Operation::completed.
void piece_completed(transport::Operation *operation, sennit_status status);
// The length of the pieces of a transfer.
std::uint64_t piece_bytes_of(MessagePath &path, int peer, std::uint64_t bytes, Direction direction);

// Appends a new record to its peer's queue.
void enqueue(Engine &engine, OperationRecord *record);
// Appends an event that was held to PeerQueue::released.
void enqueue_event(PeerQueue &queue, OperationRecord *record);
// Cuts and submits the queued records of one peer; decreases `budget`. Processes completions.
void pump(Engine &engine, PeerQueue &queue, int *budget);
// One round: progress of every transport, then the queues with work. `may_postpone`: the caller
// waits for no completion, so transports may leave some to the next round.
void progress(Engine &engine, bool may_postpone = false);
// Processes the pieces that transports have completed.
void work_off(Engine &engine);
void activate(Engine &engine, PeerQueue &queue);
const EventHandlers *handlers_of(const Rank &rank);
// Processes the completions that the path has postponed.
void finish_postponed(Engine &engine, MessagePath &path);
// Asks the peer for delayed answers, since a wait for them has started.
void hurry(Engine &engine, PeerQueue &queue);
// Notifies the peer if it is slow, or was lately: a computing peer's thread may sleep. `since_ns`
// is the start of the wait for the peer.
void hurry_if_slow(PeerQueue &queue, std::int64_t since_ns);
// Checks the answer to an event's task if no caller waits for it, and stores the reason of a
// failure in the record.
void end_event(Engine &engine, OperationRecord *record);
// Stores the record's failure for flush, unless there is an earlier one.
void leave_error(PeerQueue &queue, OperationRecord *record);
// Makes the record complete.
void finish(Engine &engine, PeerQueue &queue, OperationRecord *record);
// Calls the record's AtEnd, and count_down() for the record that is held until its end.
void follow(Engine &engine, OperationRecord *record);
// follow() for an operation without a record.
void end_at_once(Engine &engine, const Completion &completion, int peer, sennit_status status);
// Called when an operation that a held record awaits has ended; after the last one the held record
// continues. `why` is the allocated text of a failure, or null; this function stores or frees it.
void count_down(Engine &engine, OperationRecord *held, sennit_status status, char *why);
// Whether the peer must be asked to close a message.
bool has_to_close(const PeerQueue &queue);
bool has_work(const PeerQueue &queue);

// Prepares a record that carries events. False: no memory.
bool carry_events(Engine &engine, OperationRecord *record, const EventForm &form);
// Fills the record of the next question, which asks the peer to close a message.
void prepare_question(Engine &engine, PeerQueue &queue);
// Called after the question: returns the pieces of the closed message, and whether their data must
// be sent again.
PieceQueue take_closed(PeerQueue &queue, bool *goes_again);
// Ends everything that is queued for the peer and not submitted.
void fail_queued(Engine &engine, PeerQueue &queue, sennit_status status);
void append_to_flush_list(PeerQueue &queue, OperationRecord *record);
void leave_flush_list(PeerQueue &queue, OperationRecord *record);
void free_history(TaskHistory *history);  // may be null
// Frees the engine; no transport may have a piece.
void engine_free(Engine *engine);

// Checks the invariants of docs/design/engine.md. Returns null, or the text of the first broken
// one.
const char *engine_check(Engine &engine);
// Ends the process if an invariant is broken. Checks less often with more records and queues.
void check_invariants(Engine &engine);

}  // namespace sennit::op
