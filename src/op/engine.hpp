// SPDX-License-Identifier: BSD-3-Clause
// The op engine: operations on peers that load and store do not reach. It cuts them into pieces,
// picks rails, resubmits what a transport could not take or a failed rail lost, counts what is
// outstanding, and keeps the requests. One engine per rank, made only when some peer needs a
// message transport; load/store peers never come here (see op/rma.hpp).
//
// States of an operation: free -> pending (pieces to submit) -> in flight -> complete; a request
// stays in the table until wait or test takes it, implicit operations free themselves and leave
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
// What the answer to an event's task means, where its caller has gone on: the operation ends so,
// and flush says why in the words of the thread's error. With the engine's mutex held.
using EventJudge = sennit_status (*)(Rank &rank, int peer, const EventTask &task,
                                     std::uint64_t answer);

enum class Direction : std::uint8_t { put, get, execute };

transport::Operation::Kind kind_of(Direction direction);

// An atomic operation on elements of the target, carried out by its owner. `bytes` of the operation
// is then what it works on, `local` the operands: as long, or twice as long for kCompareSwap, which
// takes one element (expected, then the new value). Operands of one element are copied.
struct Work {
    std::uint8_t operation = 0;  // sennit_operator or kCompareSwap
    sennit_type type = SENNIT_INT64;
    std::uint32_t element_bytes = 0;
    void *result = nullptr;            // the old elements go there; null: not wanted
    const EventTask *event = nullptr;  // see kEventTask
    EventJudge judge = nullptr;        // with it; of an answer that no caller takes
    const WordTask *word = nullptr;    // see kWordTask
};
inline constexpr std::uint8_t kCompareSwap = 64;

// Messages of an epoch for a signal of the peer: its processor judges the epoch, takes the data
// that they bring, and counts them. The operation's `local` is the data, of
// engine_most_event_data() bytes at most, or null; then `bytes` only says that the memory it names
// is there. Both and the answer, a word that the EventTaskConsumer makes, are kept by the engine
// until it is over. Completion::Mode::implicit: the call is over when the message is on its way,
// and the answer may wait for the owner's next one.
// With a layout, which says where the data goes, as many tasks bring it as it takes, and the last
// one that comes counts. Without a signal (handle 0) the data is all: the op engine itself takes
// it, and there is no judge.
inline constexpr std::uint8_t kEventTask = 67;
//
// The other actions are about messages whose events come in completion data (signal/carried.hpp).
enum class EventAction : std::uint8_t {
    count,
    confirm,    // the message is whole, and is counted if its events have not done so
    cancel,     // the message has failed: what its events have added is taken back
    close,      // its events are not taken any more; the answer is 1 if all have come
    subscribe,  // for an index
    unsubscribe,
    scatter  // as count, of data in runs (packed.hpp), of which `number` says how many
};
struct EventTask {
    std::uint32_t handle;
    std::uint32_t messages;  // 0: would one be counted? Nothing is
    std::uint64_t epoch;
    std::uint32_t index;   // of the subscription; scatter: parts_word(), 0: there are no others
    std::uint32_t packed;  // action, and above it 24 bits of the message's number

    static constexpr std::uint32_t number_in(std::uint32_t number) { return number & 0xFFFFFF; }
    EventAction action() const { return static_cast<EventAction>(packed & 0xFF); }
    std::uint32_t number() const { return packed >> 8; }
    void set(EventAction what, std::uint32_t number) {
        packed = number_in(number) << 8 | static_cast<std::uint32_t>(what);
    }
    // In how many tasks it comes, 2 to 2^20, and above that 12 bits of which one of its sender's.
    static constexpr std::uint32_t parts_word(std::uint32_t message, std::uint32_t parts) {
        return message << 20 | (parts - 1);
    }
    static constexpr std::uint32_t parts_in(std::uint32_t word) { return (word & 0xFFFFF) + 1; }
    static constexpr std::uint32_t message_in(std::uint32_t word) { return word >> 20; }
};
static_assert(sizeof(EventTask) == transport::kEventBytes);
// Data for the target, and then an operation on a word of the same segment. Kept, and sent, as the
// task of an event is; the operation's `local` is the data, of engine_most_word_data() bytes at
// most.
inline constexpr std::uint8_t kWordTask = 71;
struct WordTask {
    std::uint64_t value;
    std::int64_t from_data;   // where the word is, from the first byte of the data
    std::uint32_t operation;  // SENNIT_SUM or SENNIT_REPLACE
    std::uint32_t unused;
};
static_assert(sizeof(WordTask) == 24);
inline constexpr std::uint64_t kNoSuchSignal = 0;  // the answer where there are no signals
// What a judge gets of a task that has failed; what it returns does not matter then.
inline constexpr std::uint64_t kNoAnswer = UINT64_MAX;

// Where an operation goes, already checked: peer alive or not, range inside the segment.
struct Target {
    int peer = -1;
    transport::RemoteMemory remote;
    std::uint64_t offset = 0;
    const Layout *layout = nullptr;  // which bytes, if they do not lie together; copied. Of
                                     // Direction::execute only for an event's data
    const Work *work = nullptr;      // Direction::execute
};

// Makes rank.engine and adds its progress hook. Called in start-up once paths are chosen, only if a
// message transport is in use. Errors: NOMEM.
sennit_status engine_create(Rank &rank);
// Completes or abandons everything by the deadline, removes the hook, frees. Null engine: nothing.
// Comes before the transports' close(), which completes what a transport still holds.
void engine_destroy(Rank &rank, const Deadline &deadline);

// The events of a message, in completion data of its last pieces. Where such a piece fails by the
// way, the message is closed, and its data goes again only if not all of its events have come.
struct EventForm {
    transport::EventData first;    // of the first of K pieces with an event, (K - 1) << code_shift
                                   // less
    transport::EventData further;  // of each other one
    unsigned code_shift;
    unsigned most_parts;  // pieces with an event; those before them go without
    std::uint32_t index;  // which message it is
    std::uint32_t number;
    // Of a message that several operations bring, each in pieces of so many bytes; 0: of one.
    std::uint64_t piece_bytes = 0;
    std::uint32_t parts = 0;    // of all of them
    bool is_continued = false;  // another operation has the first piece
};

// What an operation calls when it is over, in whatever way, once: with the engine's mutex held, by
// the thread that makes progress, also inside of the start.
struct AtEnd {
    void (*call)(Rank &rank, std::uint64_t context, int peer, sennit_status status) = nullptr;
    std::uint64_t context = 0;
    bool takes_error = false;  // of an implicit one, so that flush does not tell it
};

// An operation that is held has been started and does not go before all that name it as `then` are
// over. Where one of them has failed it ends as that did: nothing of it moves, and what is told of
// it is why they failed; if it is an event, nothing.
struct Held {
    OperationRecord *record = nullptr;
    std::uint32_t awaited = 1;
};

// Who takes the end of an operation.
struct Completion {
    enum class Mode : std::uint8_t {
        blocking,  // the caller, which waits (default deadline)
        request,   // wait or test; {0} where the operation is complete at once
        implicit,  // flush
        local  // of puts alone: flush, but the buffer is the caller's again at once. It is copied
               // as long as copies take less than kCopyBudget; beyond that the caller waits
    };
    Mode mode = Mode::blocking;
    sennit_request *request = nullptr;
    // For variables of a function: what moves lies in memory that the engine keeps until the
    // operation is over, and only a call that returns OK writes to `local` of a get, or to
    // Work::result. So nothing is lent to an operation that outlives the call. Tasks are of one
    // element, bytes lie together. Not of a caller's Mode::implicit; a request is completed by
    // engine_test or given up by engine_abandon.
    bool is_kept = false;
    // Of a put: it may be complete when it has left, and then be lost, or arrive later, and behind
    // what was started after it.
    bool is_hint = false;
    const EventForm *events = nullptr;  // of a put of at least one byte: it carries them
    // Of requests and implicit ones, and both once, whatever the start returns.
    OperationRecord *then = nullptr;  // what is held until this, too, is over
    AtEnd at_end = {};
    Held *held = nullptr;  // it is held itself: filled
};
inline constexpr Completion kKept{Completion::Mode::blocking, nullptr, true};

// Starts the operation. `local` is only read for a put and for operands. Errors: UNSUPPORTED (the
// path carries no tasks), PEER_LOST, FABRIC, TIMEOUT, NOMEM and the transport's. When the wait
// itself ends first (TIMEOUT, or a death that the transport has not seen yet) the operation goes on
// as an implicit one, and the buffer stays lent until flush.
sennit_status engine_start(Rank &rank, Direction direction, const Target &target, void *local,
                           std::size_t bytes, const Completion &completion);
// May one more call have its data copied? Its caller lends it where it may not.
bool engine_may_copy(Rank &rank, std::size_t bytes);
// What would have been started so is not: `then` and `at_end` have it as one that has failed.
void engine_skip(Rank &rank, const Completion &completion, int peer, sennit_status status);
// A counter that the ends of operations (AtEnd) take down: up before they are started, and a wait
// until it is 0. Errors: TIMEOUT.
void engine_count_up(Rank &rank, std::uint32_t *counter, std::uint32_t operations);
sennit_status engine_await_zero(Rank &rank, const std::uint32_t &counter, const Deadline &deadline);
// All events to the peer that nobody waits for are on their way: perhaps the program waits next for
// what their owner does then, and not in Sennit. TIMEOUT, PEER_LOST: they go on all the same.
sennit_status engine_await_sent(Rank &rank, int peer, const Deadline &deadline);
// Until is_enough() holds, or no answer to an event is open that nobody waits for. TIMEOUT,
// PEER_LOST: they are still to come.
sennit_status engine_await_answers(Rank &rank, int peer, const Deadline &deadline,
                                   bool (*is_enough)(const void *context), const void *context);
// Nobody takes the request any more: it goes on as an implicit operation. The program's flush waits
// for it and has its error, unless the library has started it for itself. {0} and what is no
// request of this rank are let be.
// Operations that are held for it are cancelled, except with goes_on.
enum class Abandoned : std::uint8_t { program_s, library_s, goes_on };
void engine_abandon(Rank &rank, sennit_request request, Abandoned kind = Abandoned::program_s);

// See RequestCalls in rank/rank.hpp. A rank without engine has no requests: every handle but {0} is
// ARG. {0} is done and OK.
sennit_status engine_test(Rank &rank, sennit_request request, bool progress, int *done);

// All implicit operations and puts to `peer` (kAnyPeer: to all) are complete. Reports the first
// error of implicit operations since the last flush of that peer, once.
sennit_status engine_flush(Rank &rank, int peer, const Deadline &deadline);
// The same as far as private buffers go: all that were lent to operations so far are the caller's
// again.
sennit_status engine_flush_local(Rank &rank, int peer, const Deadline &deadline);
// The same as engine_flush() without waiting, in two steps: notes what is under way to each rank of
// the world, and later asks, with some progress, whether all of that is over. True: *status is what
// engine_flush() would have returned.
void engine_note_open(Rank &rank, std::uint64_t numbers[]);
bool engine_try_flush(Rank &rank, const std::uint64_t numbers[], sennit_status *status);
// Orders puts before it against puts after it, to the peer or to each: nothing on ordered
// single-rail transports.
sennit_status engine_fence(Rank &rank, int peer);

// Events in completion data of puts. How many bits reach the peer; 0: none, or it is not reached
// so.
unsigned engine_event_bits(const Rank &rank, int peer);
// What reaches this rank.
struct EventWidth {
    unsigned bits = 0;
    unsigned index_bits = 0;  // as in Traits
};
EventWidth engine_own_event_width(const Rank &rank);
// From now on some may come. With the engine's mutex held.
void engine_expect_events(Rank &rank);
// All events that have come to this rank are taken before it returns.
void engine_read_events(Rank &rank);
// The longest pieces that are right for so many bytes.
std::uint64_t engine_piece_bytes(const Rank &rank, int peer, std::uint64_t bytes);
// How much data an event's task to the peer may bring; the peer is reached by messages.
std::size_t engine_most_event_data(const Rank &rank, int peer);
// The same of runs with their words, in each of the tasks that bring them.
std::size_t engine_packed_room(const Rank &rank, int peer);
// Does the peer's processor carry out each put?
bool engine_puts_in_software(const Rank &rank, int peer);
// The same with a WordTask, which is as long.
inline std::size_t engine_most_word_data(const Rank &rank, int peer) {
    static_assert(sizeof(WordTask) == sizeof(EventTask));
    return engine_most_event_data(rank, peer);
}

// Who takes the events that come to this rank; called from progress with the engine's mutex held.
// Set before any peer knows of a word that events could be for.
using EventConsumer = void (*)(Rank &rank, const EventWidth &width,
                               const transport::EventData &event);
// Of a message that several tasks bring.
struct ComingParts {
    std::uint32_t word;  // EventTask::index of each of them
    std::uint32_t come;
};
struct ArrivedEvent {
    int from;
    EventTask task;
    std::byte *memory;  // where the data goes
    const std::byte *data;
    std::size_t bytes;             // 0: none
    ComingParts *parts = nullptr;  // null: it comes alone
};
// Its data, to where it belongs. False: more tasks are to come before its messages are counted.
bool store_arrived(const ArrivedEvent &arrived);
// Who knows signals. The same holds for the first two; the others may be called at any time.
struct EventHandlers {
    EventConsumer take = nullptr;
    // Carries out an event's task, once each, and returns the answer.
    std::uint64_t (*take_task)(Rank &rank, const ArrivedEvent &arrived) = nullptr;
    // An answer to a task for this rank's signal, as it would be now.
    std::uint64_t (*renew)(Rank &rank, std::uint32_t handle, std::uint64_t answer) = nullptr;
    // One to a task for the peer's signal, which this rank has had.
    void (*told)(Rank &rank, int peer, std::uint32_t handle, std::uint64_t answer) = nullptr;
};
void engine_take_events(Rank &rank, const EventHandlers *handlers);  // which stay there
// The sink to open message transports with. Transports call the first two from progress(), which
// the engine alone calls; the others at any time, and with locks of theirs.
void engine_event_arrived(void *rank, const transport::EventData &event);
// Its other half: carries out a task of a peer, once, whatever is repeated. Errors: ARG, NOMEM.
sennit_status engine_execute(void *rank, const transport::Arrived &arrived);
// The signal of an event's task.
std::uint32_t engine_subject(const transport::Task &task, const std::byte *payload);
std::uint64_t engine_renew(void *rank, std::uint32_t subject, std::uint64_t reply);
void engine_told(void *rank, int from, std::uint32_t subject, std::uint64_t reply);

}  // namespace sennit::op
