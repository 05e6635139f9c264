// SPDX-License-Identifier: BSD-3-Clause
// The op engine: operations by messages. It cuts operations into pieces and chooses a rail for
// each. It submits a piece again if a transport's queue was full or a rail failed. It counts open
// operations and stores the requests. A rank has an engine only if a message transport reaches a
// peer, or carries a part of large copies to a load/store peer (op/rma.cpp).
//
// States of an operation: free -> (held ->) pending (pieces to submit) -> in flight -> complete. A
// request stays in the table until a wait or test takes it, or engine_abandon() releases it.
// Implicit operations free themselves; flush reports their first error. docs/design/engine.md has
// the invariants.
#pragma once

#include <sennit/rma.h>
#include <sennit/type.h>

#include "base/clock.hpp"
#include "rank/rank.hpp"
#include "transport/transport.hpp"

namespace sennit::op {
struct Engine;
}
template <>
struct sennit::PartType<sennit::Part::engine> {
    using Type = sennit::op::Engine;
};

namespace sennit::op {

struct Layout;
struct EventTask;
struct WordTask;
struct OperationRecord;
// Checks the answer to an event's task if no caller waits for it. Returns the status of the
// operation; the text of the thread's error becomes that of the operation. Called with the engine's
// mutex held.
using EventCheck = sennit_status (*)(Rank &rank, int peer, const EventTask &task,
                                     std::uint64_t answer);

enum class Direction : std::uint8_t { put, get, execute };

transport::Operation::Kind kind_of(Direction direction);

// An atomic operation on elements of the target, executed by their owner. The operation's `bytes`
// is the size of all elements, and `local` has the operands: one for each element, or for
// kCompareSwap the expected value and the new one of a single element. Operands of a single element
// are copied.
struct Work {
    std::uint8_t operation = 0;  // sennit_operator or kCompareSwap
    sennit_type type = SENNIT_INT64;
    std::uint32_t element_bytes = 0;
    void *result = nullptr;            // receives the old elements; may be null
    const EventTask *event = nullptr;  // see kEventTask
    EventCheck check = nullptr;        // with `event`: checks an answer for which no caller waits
    const WordTask *word = nullptr;    // see kWordTask
};
inline constexpr std::uint8_t kCompareSwap = 64;

// A task for messages of one epoch to a signal of the peer. The peer's processor checks the epoch,
// stores the messages' data, and counts the messages.
//   - The operation's `local` is the data, of at most engine_most_event_data() bytes. If it is
//     null, there is no data, and `bytes` is the size of memory that must exist.
//   - The engine keeps a copy of the data, and the answer (a word from the owner's handler), until
//     the operation has ended.
//   - With Completion::Mode::implicit the call does not wait for the answer, and the owner may send
//     the answer with its next message.
//   - With Target::layout the data is sent in as many tasks as necessary; the last one to arrive
//     counts the message.
//   - Without a signal (handle 0) the target's op engine only stores the data.
inline constexpr std::uint8_t kEventTask = 67;
//
// The actions other than count and scatter are for messages whose events are in completion data
// (signal/carried.hpp).
enum class EventAction : std::uint8_t {
    count,
    confirm,    // the message has arrived: it is counted unless its events have counted it
    cancel,     // the message has failed: the counts by its events are undone
    close,      // later events are refused; the answer is 1 if all have arrived
    subscribe,  // requests an index
    unsubscribe,
    scatter  // as count, with data in `number` runs (packed.hpp)
};
struct EventTask {
    std::uint32_t handle;
    std::uint32_t messages;  // 0: a question whether a message would be counted
    std::uint64_t epoch;
    std::uint32_t index;   // of the subscription, or 0; scatter: parts_word(), 0: a single task
    std::uint32_t packed;  // action in the low 8 bits, 24 bits of the message's number above

    static constexpr std::uint32_t number_in(std::uint32_t number) { return number & 0xFFFFFF; }
    EventAction action() const { return static_cast<EventAction>(packed & 0xFF); }
    std::uint32_t number() const { return packed >> 8; }
    void set(EventAction what, std::uint32_t number) {
        packed = number_in(number) << 8 | static_cast<std::uint32_t>(what);
    }
    // The number of the message's tasks, 2 to 2^20, and above it 12 bits of the sender's message
    // number.
    static constexpr std::uint32_t parts_word(std::uint32_t message, std::uint32_t parts) {
        return message << 20 | (parts - 1);
    }
    static constexpr std::uint32_t parts_in(std::uint32_t word) { return (word & 0xFFFFF) + 1; }
    static constexpr std::uint32_t message_in(std::uint32_t word) { return word >> 20; }
};
static_assert(sizeof(EventTask) == transport::kEventBytes);
// A task that stores data at the target, then executes an operation on a word of the same segment.
// The engine copies and sends it like an event's task. The operation's `local` is the data, of at
// most engine_most_word_data() bytes.
inline constexpr std::uint8_t kWordTask = 71;
struct WordTask {
    std::uint64_t value;
    std::int64_t from_data;   // offset of the word from the first byte of the data
    std::uint32_t operation;  // SENNIT_SUM or SENNIT_REPLACE
    std::uint32_t unused;
};
static_assert(sizeof(WordTask) == 24);
inline constexpr std::uint64_t kNoSuchSignal = 0;  // the answer of a rank without signals
// Passed to an EventCheck as the answer to a failed task; its result is then ignored.
inline constexpr std::uint64_t kNoAnswer = UINT64_MAX;

// The target of an operation. The range is inside the segment; the peer may be dead.
struct Target {
    int peer = -1;
    transport::RemoteMemory remote;
    std::uint64_t offset = 0;
    const Layout *layout = nullptr;  // runs of the bytes; null: contiguous. Copied. For
                                     // Direction::execute only with an event's data
    const Work *work = nullptr;      // Direction::execute
};

// Makes rank.engine and adds its progress hook. Called at start-up after the paths are chosen, if
// path::router_needs_engine(). Errors: NOMEM.
sennit_status engine_create(Rank &rank);
// Completes or abandons everything by the deadline, removes the hook, and frees the engine. Does
// nothing without an engine. The transports' close(), called afterwards, completes the operations
// that they still have; the last completion then frees the engine.
void engine_destroy(Rank &rank, const Deadline &deadline);

// The events of a message, sent in completion data of its last pieces. If such a piece fails, the
// message is closed, and its data is sent again only if not all events have arrived.
struct EventForm {
    transport::EventData first;    // of the first of K pieces with an event; the engine adds
                                   // (K - 1) << code_shift
    transport::EventData further;  // of each other piece with an event
    unsigned code_shift;
    unsigned most_parts;  // most pieces with an event; earlier pieces have none
    std::uint32_t index;  // identifies the message, together with `number`
    std::uint32_t number;
    // For a message of several operations: the length of their pieces; 0: one operation.
    std::uint64_t piece_bytes = 0;
    std::uint32_t parts = 0;    // pieces of all its operations
    bool is_continued = false;  // another operation has the first piece
};

// A function that is called once when an operation ends, with any result: with the engine's mutex
// held, on the thread that makes progress, perhaps inside the start.
struct AtEnd {
    void (*call)(Rank &rank, std::uint64_t context, int peer, sennit_status status) = nullptr;
    std::uint64_t context = 0;
    // `call` reports the error of an implicit operation, so flush does not.
    bool takes_error = false;
};

// A held operation is started, but not sent until all operations that name it as `then` have ended.
// If one of them failed, the held operation is not sent and ends with the same status; flush does
// not report this for an event. A task that would confirm a message is sent all the same, but
// cancels the message.
struct Held {
    OperationRecord *record = nullptr;
    std::uint32_t awaited = 1;  // number of operations that name it as `then`
};

// How an operation's result is taken.
struct Completion {
    enum class Mode : std::uint8_t {
        blocking,  // by the caller, which waits (default deadline)
        request,   // by wait or test; {0} if the operation is complete at once
        implicit,  // by flush
        local      // for puts: by flush, but the caller may reuse the buffer at once. It is copied
                   // while copies use less than kCopyBudget; else the caller waits
    };
    Mode mode = Mode::blocking;
    sennit_request *request = nullptr;
    // For buffers that are local variables. The engine keeps a copy of the data until the operation
    // has ended. It writes `local` of a get, or Work::result, only in a call that returns OK. So no
    // buffer is lent after the call. Callers set this only for contiguous bytes and for tasks of
    // one element, and not with Mode::implicit. A request is completed by engine_test() or released
    // by engine_abandon().
    bool is_buffered = false;
    // For a put: it may complete when sent, and then be lost, or arrive after later operations.
    bool is_hint = false;
    const EventForm *events = nullptr;  // for a put of at least one byte
    // `then` and `at_end` are for requests and implicit operations. Each takes effect once, also if
    // the start fails.
    OperationRecord *then = nullptr;  // a held operation that waits for this one
    AtEnd at_end = {};
    Held *held = nullptr;  // not null: this operation is held; sets `record`
};
inline constexpr Completion kBuffered{Completion::Mode::blocking, nullptr, true};

// Starts the operation. Puts and atomic operations only read `local`. Errors: OTHER_NODE (no
// message path), UNSUPPORTED (the path carries no such task), PEER_LOST, FABRIC, TIMEOUT, NOMEM and
// the transport's. After TIMEOUT the operation continues as an implicit one, and the buffer stays
// lent until flush.
sennit_status engine_start(Rank &rank, Direction direction, const Target &target, void *local,
                           std::size_t bytes, const Completion &completion);
// An event's task with contiguous data that its owner is known to accept. Flush reports its errors.
struct ShortEvent {
    // The most data inside the record. More is in separate memory.
    static constexpr std::size_t kMostInside = 64 - sizeof(EventTask);

    sennit_gptr place;         // of the data
    std::uint32_t live_value;  // of the segment
    const void *data;
    std::size_t bytes;                // at least 1
    const EventTask *task = nullptr;  // counts messages
    EventCheck check = nullptr;
};
// Sends the task now, if the data fits into its message and the peer's queue is empty. False: it
// was not sent, use engine_start().
bool engine_post_short(Rank &rank, const ShortEvent &event);
// Whether the engine may copy this many more bytes of data; else the caller must lend its buffer.
bool engine_may_copy(Rank &rank, std::size_t bytes);
// For an operation that will not be started: `then` and `at_end` take effect as if it had ended
// with `status`.
void engine_skip(Rank &rank, const Completion &completion, int peer, sennit_status status);
// A counter of open operations. engine_count_up() adds operations before they start; the AtEnd of
// each decrements it; engine_await_zero() waits until it is 0. The warning of a long wait names
// `call`. Errors: TIMEOUT.
void engine_count_up(Rank &rank, std::uint32_t *counter, std::uint32_t operations);
sennit_status engine_await_zero(Rank &rank, const std::uint32_t &counter, const char *call,
                                const Deadline &deadline);
// Waits until all tasks to the peer whose answers may wait (implicit events, word tasks) are sent.
// Needed if the program may next wait outside of Sennit for the peer's reaction. After TIMEOUT or
// PEER_LOST these tasks stay open.
sennit_status engine_await_sent(Rank &rank, int peer, const Deadline &deadline);
// Processes the completions that the last progress has postponed. Reads no queue.
void engine_finish_postponed(Rank &rank);
// Waits until is_enough() is true, or until all tasks to the peer whose answers may wait are
// answered. After TIMEOUT or PEER_LOST answers may still arrive.
sennit_status engine_await_answers(Rank &rank, int peer, const Deadline &deadline,
                                   bool (*is_enough)(const void *context), const void *context);
// Releases the request: the operation continues as an implicit one. Ignores {0} and invalid
// requests.
enum class Abandoned : std::uint8_t {
    program_s,  // flush waits for it and reports its error; operations held for it are cancelled
    library_s,  // the library started it for itself: as program_s, but flush does neither
    goes_on     // as program_s, but operations held for it are not cancelled
};
void engine_abandon(Rank &rank, sennit_request request, Abandoned kind = Abandoned::program_s);

// The test of RequestCalls (rank/rank.hpp). {0} is complete and OK. A rank without an engine has no
// requests, so every other handle gives ARG.
sennit_status engine_test(Rank &rank, sennit_request request, bool makes_progress, int *done);
// The warn of RequestCalls.
void engine_warn(Rank &rank, sennit_request request, int seconds);

// Waits until all implicit operations and puts to `peer` (kAnyPeer: to all) are complete. Reports,
// once, the first error of implicit operations since the last flush of that peer.
sennit_status engine_flush(Rank &rank, int peer, const Deadline &deadline);
// Waits only until the caller may reuse all buffers lent so far.
sennit_status engine_flush_local(Rank &rank, int peer, const Deadline &deadline);
// engine_flush() without waiting, in two steps. engine_note_open() notes the open operations to
// each rank of the world. engine_try_flush() makes some progress and tests whether all of these
// have ended; if so, it returns true and sets *status to the result of engine_flush().
void engine_note_open(Rank &rank, std::uint64_t numbers[]);
bool engine_try_flush(Rank &rank, const std::uint64_t numbers[], sennit_status *status);
// Orders earlier puts and tasks before later ones, to the peer (kAnyPeer: to each). Does not wait.
// Does nothing on an ordered path of one rail without open tasks.
sennit_status engine_fence(Rank &rank, int peer);

// The bits of completion data for events to the peer; 0: its path has none.
unsigned engine_event_bits(const Rank &rank, int peer);
// The width of events to this rank.
struct EventWidth {
    unsigned bits = 0;
    unsigned index_bits = 0;  // as in Traits
};
EventWidth engine_own_event_width(const Rank &rank);
// Announces that events may arrive. With the engine's mutex held.
void engine_expect_events(Rank &rank);
// Processes all arrived events of this rank before it returns.
void engine_read_events(Rank &rank);
// The length of the pieces for a transfer of this many bytes.
std::uint64_t engine_piece_bytes(const Rank &rank, int peer, std::uint64_t bytes);
// The most contiguous data of an event's task to the peer; 0: no messages reach it.
std::size_t engine_most_event_data(const Rank &rank, int peer);
// The most bytes of packed runs, with their words, in one task to the peer; 0: no messages reach
// it.
std::size_t engine_packed_room(const Rank &rank, int peer);
// Whether the peer's processor executes each put.
bool engine_puts_in_software(const Rank &rank, int peer);
// The most data of a word task to the peer: as much as of an event's task.
inline std::size_t engine_most_word_data(const Rank &rank, int peer) {
    static_assert(sizeof(WordTask) == sizeof(EventTask));
    return engine_most_event_data(rank, peer);
}

// The receiver of events to this rank; called from progress with the engine's mutex held. Set
// before any peer has an index for events.
using EventConsumer = void (*)(Rank &rank, const EventWidth &width,
                               const transport::EventData &event);
// The number of arrived tasks of a message of several tasks.
struct ComingParts {
    std::uint32_t word;  // EventTask::index of its tasks
    std::uint32_t come;
};
struct ArrivedEvent {
    int from;
    EventTask task;
    std::byte *memory;  // destination of the data
    const std::byte *data;
    std::size_t bytes;             // 0: none
    ComingParts *parts = nullptr;  // null: a single task
};
// Stores the event's data at its destination. False: the message must not be counted yet, since
// more of its tasks must arrive.
bool store_arrived(const ArrivedEvent &arrived);
// The handlers of signals. The first two are called like an EventConsumer; the others at any time.
struct EventHandlers {
    EventConsumer take = nullptr;
    // Executes an event's task and returns the answer. Called once per task.
    std::uint64_t (*take_task)(Rank &rank, const ArrivedEvent &arrived) = nullptr;
    // The current answer to a task for this rank's signal, given an earlier answer.
    std::uint64_t (*renew)(Rank &rank, std::uint32_t handle, std::uint64_t answer) = nullptr;
    // Receives an updated answer to a task for the peer's signal.
    void (*renewed)(Rank &rank, int peer, std::uint32_t handle, std::uint64_t answer) = nullptr;
};
void engine_take_events(Rank &rank, const EventHandlers *handlers);  // must stay valid
// The functions of the EventSink for message transports. Transports call the first two from
// progress(), which only the engine calls; the others at any time, with their own locks held.
void engine_event_arrived(void *rank, const transport::EventData &event);
// Executes a peer's task once, even if it is received several times. Errors: ARG, NOMEM,
// NOT_REGISTERED (the segment was freed), PEER_LOST (this rank is leaving), FABRIC (a late copy,
// for which the sender no longer waits), kTaskIsToBeRepeated.
sennit_status engine_execute(void *rank, const transport::Arrived &arrived);
// The handle of the signal of an event's task; 0: none.
std::uint32_t engine_subject(const transport::Task &task, const std::byte *payload);
std::uint64_t engine_renew(void *rank, std::uint32_t subject, std::uint64_t reply);
void engine_renewed(void *rank, int from, std::uint32_t subject, std::uint64_t reply);

}  // namespace sennit::op
