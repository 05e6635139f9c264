// SPDX-License-Identifier: BSD-3-Clause
// The op engine: operations on peers that load and store do not reach. It cuts them into pieces,
// chooses rails, resubmits what a transport could not take or a failed rail lost, counts open
// operations, and keeps the requests. One engine per rank, made only if a peer needs a message
// transport; load/store peers never come here (op/rma.hpp).
//
// States of an operation: free -> pending (pieces to submit) -> in flight -> complete. A request
// stays in the table until wait or test takes it; implicit operations free themselves and leave
// their first error to flush. docs/design/engine.md has the invariants.
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
// Checks the answer to an event's task whose caller has continued: returns the status of the
// operation; flush reports the text of the thread's error. Called with the engine's mutex held.
using EventCheck = sennit_status (*)(Rank &rank, int peer, const EventTask &task,
                                     std::uint64_t answer);

enum class Direction : std::uint8_t { put, get, execute };

transport::Operation::Kind kind_of(Direction direction);

// An atomic operation on elements of the target, executed by its owner. `bytes` of the operation is
// the memory that it works on, `local` the operands: as long, or twice as long for kCompareSwap,
// which takes one element (expected, then the new value). Operands of one element are copied.
struct Work {
    std::uint8_t operation = 0;  // sennit_operator or kCompareSwap
    sennit_type type = SENNIT_INT64;
    std::uint32_t element_bytes = 0;
    void *result = nullptr;            // gets the old elements; null: not wanted
    const EventTask *event = nullptr;  // see kEventTask
    EventCheck check = nullptr;        // with `event`; for an answer that no caller takes
    const WordTask *word = nullptr;    // see kWordTask
};
inline constexpr std::uint8_t kCompareSwap = 64;

// Messages of an epoch for a signal of the peer: its processor checks the epoch, stores their data,
// and counts them. The operation's `local` is the data, of at most engine_most_event_data() bytes,
// or null; then `bytes` only says that the named memory exists. The engine keeps the data and the
// answer, a word from the owner's handler, until the operation has ended.
// Completion::Mode::implicit: the call ends when the message is sent, and the answer may wait for
// the owner's next one. With a layout, which says where the data goes, it takes as many tasks as
// necessary, and the last one to come counts. Without a signal (handle 0) there is only data: the
// op engine itself stores it, without a check.
inline constexpr std::uint8_t kEventTask = 67;
//
// The other actions are about messages whose events come in completion data (signal/carried.hpp).
enum class EventAction : std::uint8_t {
    count,
    confirm,    // the message is whole; it is counted if its events have not done so
    cancel,     // the message has failed: what its events have added is undone
    close,      // accepts no more events; the answer is 1 if all have come
    subscribe,  // asks for an index
    unsubscribe,
    scatter  // as count, with data in `number` runs (packed.hpp)
};
struct EventTask {
    std::uint32_t handle;
    std::uint32_t messages;  // 0: asks whether one would be counted
    std::uint64_t epoch;
    std::uint32_t index;   // of the subscription; scatter: parts_word(), 0: a single task
    std::uint32_t packed;  // action, and above it 24 bits of the message's number

    static constexpr std::uint32_t number_in(std::uint32_t number) { return number & 0xFFFFFF; }
    EventAction action() const { return static_cast<EventAction>(packed & 0xFF); }
    std::uint32_t number() const { return packed >> 8; }
    void set(EventAction what, std::uint32_t number) {
        packed = number_in(number) << 8 | static_cast<std::uint32_t>(what);
    }
    // The number of its tasks, 2 to 2^20, and above it 12 bits of the sender's message number.
    static constexpr std::uint32_t parts_word(std::uint32_t message, std::uint32_t parts) {
        return message << 20 | (parts - 1);
    }
    static constexpr std::uint32_t parts_in(std::uint32_t word) { return (word & 0xFFFFF) + 1; }
    static constexpr std::uint32_t message_in(std::uint32_t word) { return word >> 20; }
};
static_assert(sizeof(EventTask) == transport::kEventBytes);
// Data for the target, then an operation on a word of the same segment. Kept and sent like the task
// of an event; the operation's `local` is the data, of at most engine_most_word_data() bytes.
inline constexpr std::uint8_t kWordTask = 71;
struct WordTask {
    std::uint64_t value;
    std::int64_t from_data;   // distance of the word from the first byte of the data
    std::uint32_t operation;  // SENNIT_SUM or SENNIT_REPLACE
    std::uint32_t unused;
};
static_assert(sizeof(WordTask) == 24);
inline constexpr std::uint64_t kNoSuchSignal = 0;  // the answer of a rank without signals
// The answer that the check gets for a failed task; its result is ignored then.
inline constexpr std::uint64_t kNoAnswer = UINT64_MAX;

// The target of an operation, already checked: peer alive or not, range inside the segment.
struct Target {
    int peer = -1;
    transport::RemoteMemory remote;
    std::uint64_t offset = 0;
    const Layout *layout = nullptr;  // which bytes, if they do not lie together; copied. Of
                                     // Direction::execute only for an event's data
    const Work *work = nullptr;      // Direction::execute
};

// Makes rank.engine and adds its progress hook. Called at start-up after the paths are chosen, only
// if a message transport is used. Errors: NOMEM.
sennit_status engine_create(Rank &rank);
// Completes or abandons everything by the deadline, removes the hook, frees the engine. Does
// nothing without an engine. Called before the transports' close(), which completes what a
// transport still holds.
void engine_destroy(Rank &rank, const Deadline &deadline);

// The events of a message, in completion data of its last pieces. If such a piece fails, the
// message is closed, and its data is sent again only if not all of its events have come.
struct EventForm {
    transport::EventData first;    // of the first of K pieces with an event, (K - 1) << code_shift
                                   // less
    transport::EventData further;  // of each other piece
    unsigned code_shift;
    unsigned most_parts;  // most pieces with an event; earlier ones have none
    std::uint32_t index;  // identifies the message
    std::uint32_t number;
    // For a message of several operations, each in pieces of this many bytes; 0: of one operation.
    std::uint64_t piece_bytes = 0;
    std::uint32_t parts = 0;    // of all of them
    bool is_continued = false;  // another operation has the first piece
};

// The function that an operation calls at its end, whatever its result, once: with the engine's
// mutex held, on the thread that makes progress, perhaps inside the start.
struct AtEnd {
    void (*call)(Rank &rank, std::uint64_t context, int peer, sennit_status status) = nullptr;
    std::uint64_t context = 0;
    bool takes_error =
        false;  // takes the error of an implicit operation, so that flush does not report it
};

// A held operation is started but not sent before all operations that name it as `then` have ended.
// If one of them has failed, it ends with that error: nothing of it moves, and the reported reason
// is theirs; for an event nothing is reported.
struct Held {
    OperationRecord *record = nullptr;
    std::uint32_t awaited = 1;
};

// Who takes the result of an operation.
struct Completion {
    enum class Mode : std::uint8_t {
        blocking,  // the waiting caller (default deadline)
        request,   // wait or test; {0} if the operation is complete at once
        implicit,  // flush
        local  // of puts alone: flush, but the buffer is the caller's again at once. It is copied
               // as long as copies take less than kCopyBudget; beyond that the caller waits
    };
    Mode mode = Mode::blocking;
    sennit_request *request = nullptr;
    // For local variables of a function: the engine keeps the moving data until the operation has
    // ended, and only a call that returns OK writes to `local` of a get or to Work::result. So
    // nothing is lent to an operation that outlives the call. Tasks have one element, bytes are
    // contiguous. Not with Mode::implicit; a request is completed by engine_test or released by
    // engine_abandon.
    bool is_buffered = false;
    // For a put: it may complete when sent, and then be lost, or arrive later than operations that
    // were started after it.
    bool is_hint = false;
    const EventForm *events = nullptr;  // carried by a put of at least one byte
    // For requests and implicit operations; both are used once, whatever the start returns.
    OperationRecord *then = nullptr;  // the operation that is held until this one has also ended
    AtEnd at_end = {};
    Held *held = nullptr;  // this operation is held: filled in
};
inline constexpr Completion kBuffered{Completion::Mode::blocking, nullptr, true};

// Starts the operation. Puts and operands only read `local`. Errors: UNSUPPORTED (the path carries
// no tasks), PEER_LOST, FABRIC, TIMEOUT, NOMEM and the transport's. If the wait ends first
// (TIMEOUT, or a death that the transport has not detected yet), the operation continues as an
// implicit one, and the buffer stays lent until flush.
sennit_status engine_start(Rank &rank, Direction direction, const Target &target, void *local,
                           std::size_t bytes, const Completion &completion);
// Whether the data of one more call may be copied; else its caller lends it.
bool engine_may_copy(Rank &rank, std::size_t bytes);
// Called for an operation that is not started: `then` and `at_end` treat it as failed.
void engine_skip(Rank &rank, const Completion &completion, int peer, sennit_status status);
// A counter that the ends of operations (AtEnd) decrement: incremented before they start, then
// awaited to be 0. `call`: named in the warning of a long wait. Errors: TIMEOUT.
void engine_count_up(Rank &rank, std::uint32_t *counter, std::uint32_t operations);
sennit_status engine_await_zero(Rank &rank, const std::uint32_t &counter, const char *call,
                                const Deadline &deadline);
// Waits until all events to the peer without a waiter are sent: the program may next wait, outside
// of Sennit, for what their owner does then. After TIMEOUT or PEER_LOST they continue all the same.
sennit_status engine_await_sent(Rank &rank, int peer, const Deadline &deadline);
// Waits until is_enough() holds, or until no event without a waiter has an open answer. After
// TIMEOUT or PEER_LOST they are still to come.
sennit_status engine_await_answers(Rank &rank, int peer, const Deadline &deadline,
                                   bool (*is_enough)(const void *context), const void *context);
// Releases the request: it continues as an implicit operation. The program's flush waits for it and
// reports its error, unless the library has started it for itself. Ignores {0} and invalid
// requests. Cancels operations that are held for it, except with goes_on.
enum class Abandoned : std::uint8_t { program_s, library_s, goes_on };
void engine_abandon(Rank &rank, sennit_request request, Abandoned kind = Abandoned::program_s);

// The test of RequestCalls (rank/rank.hpp). A rank without engine has no requests: every handle
// except {0} is ARG. {0} is complete and OK.
sennit_status engine_test(Rank &rank, sennit_request request, bool progress, int *done);
// The warn of RequestCalls.
void engine_warn(Rank &rank, sennit_request request, int seconds);

// Waits until all implicit operations and puts to `peer` (kAnyPeer: to all) are complete. Reports
// the first error of implicit operations since the last flush of that peer, once.
sennit_status engine_flush(Rank &rank, int peer, const Deadline &deadline);
// The same only for private buffers: the caller may reuse all buffers lent so far.
sennit_status engine_flush_local(Rank &rank, int peer, const Deadline &deadline);
// The same as engine_flush() without waiting, in two steps: notes the open operations to each rank
// of the world, and later tests, with some progress, whether all of them have ended. True: *status
// is the result of engine_flush().
void engine_note_open(Rank &rank, std::uint64_t numbers[]);
bool engine_try_flush(Rank &rank, const std::uint64_t numbers[], sennit_status *status);
// Orders earlier puts against later puts, to the peer or to each: does nothing on ordered
// single-rail transports.
sennit_status engine_fence(Rank &rank, int peer);

// Events in completion data of puts: the number of bits that reach the peer; 0: none, or another
// path.
unsigned engine_event_bits(const Rank &rank, int peer);
// The width of events to this rank.
struct EventWidth {
    unsigned bits = 0;
    unsigned index_bits = 0;  // as in Traits
};
EventWidth engine_own_event_width(const Rank &rank);
// From now on events may come. With the engine's mutex held.
void engine_expect_events(Rank &rank);
// Takes all arrived events of this rank before it returns.
void engine_read_events(Rank &rank);
// The longest suitable pieces for this many bytes.
std::uint64_t engine_piece_bytes(const Rank &rank, int peer, std::uint64_t bytes);
// The most data of an event's task to the peer, which is reached by messages.
std::size_t engine_most_event_data(const Rank &rank, int peer);
// The same for runs with their words, in each of their tasks.
std::size_t engine_packed_room(const Rank &rank, int peer);
// Whether the peer's processor executes each put.
bool engine_puts_in_software(const Rank &rank, int peer);
// The same for a WordTask, which has the same size.
inline std::size_t engine_most_word_data(const Rank &rank, int peer) {
    static_assert(sizeof(WordTask) == sizeof(EventTask));
    return engine_most_event_data(rank, peer);
}

// The receiver of events to this rank; called from progress with the engine's mutex held. Set
// before any peer knows of a word for events.
using EventConsumer = void (*)(Rank &rank, const EventWidth &width,
                               const transport::EventData &event);
// The state of a message of several tasks.
struct ComingParts {
    std::uint32_t word;  // EventTask::index of each of them
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
// Stores its data at the destination. False: more tasks must come before its messages are counted.
bool store_arrived(const ArrivedEvent &arrived);
// The handlers of signals. The first two are called like an EventConsumer; the others at any time.
struct EventHandlers {
    EventConsumer take = nullptr;
    // Executes an event's task, once each, and returns the answer.
    std::uint64_t (*take_task)(Rank &rank, const ArrivedEvent &arrived) = nullptr;
    // Updates an answer to a task for this rank's signal to the current state.
    std::uint64_t (*renew)(Rank &rank, std::uint32_t handle, std::uint64_t answer) = nullptr;
    // Takes an updated answer to a task for the peer's signal, which this rank has received.
    void (*renewed)(Rank &rank, int peer, std::uint32_t handle, std::uint64_t answer) = nullptr;
};
void engine_take_events(Rank &rank, const EventHandlers *handlers);  // which must stay valid
// The sink for opening message transports. Transports call the first two from progress(), which
// only the engine calls; the others at any time, with their own locks held.
void engine_event_arrived(void *rank, const transport::EventData &event);
// The other half: executes a task of a peer once, even if repeated. Errors: ARG, NOMEM.
sennit_status engine_execute(void *rank, const transport::Arrived &arrived);
// The signal of an event's task.
std::uint32_t engine_subject(const transport::Task &task, const std::byte *payload);
std::uint64_t engine_renew(void *rank, std::uint32_t subject, std::uint64_t reply);
void engine_renewed(void *rank, int from, std::uint32_t subject, std::uint64_t reply);

}  // namespace sennit::op
