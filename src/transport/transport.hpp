// SPDX-License-Identifier: BSD-3-Clause
// The contract of a transport: everything a path needs to know, and nothing else. A new path is one
// folder that implements this class, a number and a name, one line in registry.cpp and one in the
// build list; template/ is the smallest, put through random programs by its own test.
// CONTRIBUTING.md walks through it.
//
// Three kinds. A load/store transport (traits().load_store) turns a peer's segment into a pointer
// in attach(); put and get never come here. A message transport executes operations that the op
// engine submits. An immediate transport (traits().immediate) does them before copy() returns, on
// the caller's thread and without a lock, so the op engine has no part in it.
//
// Who calls, in which order, on which thread:
//   open -> address -> connect -> reach(peer)* -> [attach | detach | submit | progress]* -> close
//   Between nodes try_node(node)* and settle(peer)* come before the last reach(peer).
//   open, address, connect, try_node, settle and reach come from the thread in sennit_init; attach
//   and detach with the rank's cold mutex held; submit and progress with the engine's lock held, so
//   a transport object needs no lock for state of its own. Objects of different ranks may share
//   state (sim does) and guard that themselves. close comes once, from sennit_finalize or a failed
//   init, and is final.
//
// Rules for all:
//   - Never block in submit or progress; open, connect and close end by their deadline.
//   - Never abort, never throw; report by status. Log only what nobody else can report.
//   - An operation that was accepted is completed exactly once, from progress(), submit() or
//     close(), also when the peer dies, the rail fails, or close() comes: then with an error
//     status, and nothing of it moves afterwards.
//   - A peer that dies or leaves is told to note_gone() before its operations are completed; waits
//     for requests rely on those completions and watch no peer themselves.
//   - A put or get that is one aligned word of up to 8 bytes is moved whole: others poll for it.
//     Where load and store lead, so are the words of longer ones. (cma, fabric: as far as the
//     kernel does so, docs/design/cma.md. A network delivers a stream of bytes.)
//   - put completes when the data is in the target's memory and a later operation of any rank would
//     see it; get completes when the data is in the private buffer.
//   - execute completes when the target has carried the task out, inside its own progress(), and
//     the reply is in the private buffer. A task is handed to the target's sink at most once for
//     each time it was accepted. After FABRIC it may have been carried out, and the engine repeats
//     it on another rail under the same sequence number: the sink tells repetitions apart.
#pragma once

#include <sennit/info.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"
#include "base/fail.hpp"
#include "rank/control_block.hpp"
#include "rank/rank.hpp"

namespace sennit::transport {
class Transport;
}
template <>
struct sennit::PartType<sennit::Part::transport> {
    using Type = sennit::transport::Transport;
};

namespace sennit::transport {

// What it is and can do. Constant after open(), the rails and event_bits after connect().
struct Traits {
    const char *name;  // as sennit_path_name says
    sennit_path path;
    bool load_store;
    bool ordered;                   // puts to one peer arrive in the order of submission, and tasks
                                    // are carried out after the puts before them
    unsigned rails;                 // at least 1; submit takes a rail number below it
    unsigned event_bits;            // width of the completion data of put_event: 0 (none) to 128
    std::size_t max_piece_bytes;    // the engine splits larger operations
    bool private_memory = false;    // attach() takes mechanism `copied` too
    bool immediate = false;         // copy() instead of submit()
    std::size_t task_bytes = 0;     // longest payload and reply of a task, up to kMostTaskBytes;
                                    // below 24 no events go, at 0 atomics are UNSUPPORTED
    std::size_t payload_bytes = 0;  // longest payload of an event's task, up to kMostPayloadBytes;
                                    // 0: as of others
    std::size_t eager_bytes = SIZE_MAX;  // data that lies together goes with its event up to so
                                         // many bytes, as far as a payload has room
    unsigned event_index_bits = 0;  // of 32 bits of completion data, as many name the signal and
                                    // its sender; 0: as the library finds right
    bool yields = false;            // progress() gives the processor away where others wait for it
    bool in_software = false;       // the owner's processor carries out each put, as it does tasks

    bool is_message() const { return !load_store && !immediate; }
};

// A small piece of work for the processors that own the memory: an atomic operation, or an event
// and the data that it brings. It travels
// with its payload; the reply comes back. Made and carried out by op/task.cpp, carried by
// transports that look at the two lengths only.
inline constexpr std::size_t kMostTaskBytes = 512;
inline constexpr std::size_t kEventBytes = 24;  // before the data that it brings
inline constexpr std::size_t kMostPayloadBytes = kEventBytes + (std::size_t{128} << 10);
struct Task {
    std::uint64_t sequence;  // of the pair, from 1: a repetition has the number of the first try
    std::uint32_t count;     // elements
    std::uint32_t payload_bytes;
    std::uint16_t reply_bytes;
    std::uint8_t operation;  // sennit_operator, or one of op/engine.hpp
    std::uint8_t type;       // sennit_type
    std::uint8_t may_wait;   // not 0: its sender goes on without the answer, which may come later,
                             // with another message
    std::uint8_t unused[3];
};
static_assert(sizeof(Task) == 24 && offsetof(Task, operation) == 18);

// The completion data of a put_event. A transport brings its low event_bits.
struct EventData {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

// What a transport with so much completion data makes possible: docs/design/signals.md has the
// levels. The highest, 4, is of a card that counts by itself.
constexpr int support_level(unsigned event_bits) {
    if (event_bits >= 64) return 3;
    if (event_bits >= 32) return 2;
    return event_bits >= 8 ? 1 : 0;
}

// What the peers need to connect; travels in the card of the rank. Contents are the transport's
// own.
inline constexpr std::size_t kAddressBytes = 64;
struct Address {
    std::uint8_t bytes[kAddressBytes];
};
// Between nodes the last byte says how much the rank has to tell once more when all addresses are
// known, in words of 8 bytes, such as names of what it opens only then.
inline std::size_t more_bytes(const Address &address) {
    return std::size_t{8} * address.bytes[kAddressBytes - 1];
}

// A peer's segment as this rank reaches it.
struct RemoteMemory {
    std::byte *pointer = nullptr;    // load/store address of its first byte, or null
    std::uint64_t handle = 0;        // the transport's own
    std::uint64_t mapped_bytes = 0;  // of address space that belongs to this attachment
};

struct Operation;
using CompletionFunction = void (*)(Operation *operation, sennit_status status);

// One piece of work, owned by the op engine, lent to the transport from submit() until `completed`
// is called with it. The transport may keep pointers to it and use `scratch`.
struct Operation {
    enum class Kind : std::uint8_t { put, get, put_event, execute };
    Kind kind = Kind::put;
    std::uint8_t rail = 0;
    bool is_hint = false;  // a put that may complete when it has left, whether it arrives or not
    int peer = -1;
    RemoteMemory remote;       // of the segment
    std::uint64_t offset = 0;  // into it
    void *local = nullptr;     // private buffer; a put only reads it. execute: the payload
    bool is_in_room = false;   // execute: `local` is Transport::take_room()'s
    std::size_t bytes = 0;     // at most max_piece_bytes; 0 is legal for put_event. execute: how
                               // much of the segment the task works on
    EventData event;           // put_event: reaches the target's event sink after the data is
                               // visible there
    CompletionFunction completed = nullptr;
    std::uint64_t scratch[2] = {0, 0};
    Task task = {};         // execute
    void *reply = nullptr;  // execute: private buffer for the reply
};

// What a rank has found of the way to another node.
struct NodeTrial {
    static constexpr std::uint8_t kNotTried = 0xFF;
    std::uint8_t rails = 0xFF;       // that carry, as bits
    std::uint8_t error = kNotTried;  // errno of one that does not, or 0
    std::uint8_t lossy = 0;          // that answer, and by which not all arrives
    std::uint8_t dataless = 0;       // that carry, and by which completion data does not come whole

    bool is_tried() const { return error != kNotTried; }
    bool is_like(const NodeTrial &other) const {
        return rails == other.rails && lossy == other.lossy && dataless == other.dataless;
    }
    // As far as there is room for it.
    static std::uint8_t short_error(int error) {
        if (error == 0) return ETIMEDOUT;
        return error > 0 && error < kNotTried ? static_cast<std::uint8_t>(error) : EIO;
    }
    // Both must hold.
    void add(const NodeTrial &other) {
        rails = static_cast<std::uint8_t>(rails & other.rails);
        lossy = static_cast<std::uint8_t>(lossy | other.lossy);
        dataless = static_cast<std::uint8_t>(dataless | other.dataless);
        if (other.is_tried() && (error == 0 || !is_tried())) error = other.error;
    }
};

// A piece of an immediate copy: bytes that lie together on both sides.
struct CopyRun {
    std::uint64_t offset;  // into the segment
    void *local;           // a put only reads it
    std::size_t bytes;     // not 0
};

enum class Submit : std::uint8_t {
    accepted,  // completed() will be called, or already was
    again,     // a queue is full; nothing was kept. The engine comes again, or tries another rail
    failed     // refused; the thread's last error says why; completed() is not called
};

// Completion statuses with a meaning for the engine, beyond OK:
//   FABRIC      the rail failed before the operation was known to be done; the engine repeats it on
//               another rail that rails_to() still has (put and get are idempotent, tasks are
//               numbered)
//   PEER_LOST   the peer is dead; not repeated
// Any other error is handed to the user. The event of a put_event comes once at most. After OK,
// FABRIC and PEER_LOST it may have come, may still come if it is at its target, or may be lost
// there; after any other error it does not come. One that has come is handed over before a task is
// that was submitted after the completion.

// A task that has reached its target.
struct Arrived {
    int from;
    const Task *task;
    const SegmentRecord *segment;  // null: the control block
    std::byte *memory;  // what it works on: `bytes` there, as the owner sees it. Null: there is
                        // nothing live, so only a repetition gets another answer than
                        // NOT_REGISTERED
    std::size_t bytes;
    const std::byte *payload;
    std::byte *reply;  // room for task->reply_bytes
};

// What reaches the target, handed over from the target's progress(): the completion data of
// put_event, and tasks, whose status goes back with the reply.
// A task may have a subject, such as a signal. What the reply to it says of the subject may change
// later: a transport that has room in a message to that peer may ask for it again (renew) and have
// the peer's sink told (told). subject and renew belong to the target, told to the sender; none of
// them calls the transport, which may hold its locks.
struct EventSink {
    void (*arrived)(void *context, const EventData &event) = nullptr;
    void *context = nullptr;
    sennit_status (*execute)(void *context, const Arrived &arrived) = nullptr;
    // Of a task that was carried out; 0: it has none.
    std::uint32_t (*subject)(const Task &task, const std::byte *payload) = nullptr;
    std::uint64_t (*renew)(void *context, std::uint32_t subject, std::uint64_t reply) = nullptr;
    void (*told)(void *context, int from, std::uint32_t subject, std::uint64_t reply) = nullptr;
};

class Transport {
  public:
    virtual ~Transport() = default;

    virtual const Traits &traits() const = 0;

    // Opens devices. `settings` is what stood behind the path's name in
    // SENNIT_PATHS
    // ("sim:seed=7" gives "seed=7"), or "". An error is sennit_init's: a path that this machine can
    // do without says so in reach(), with a reason.
    virtual sennit_status open(Rank &rank, const char *settings, const EventSink &sink) = 0;
    virtual void address(Address *out) = 0;
    // Every rank's address is known. `addresses` has rank.size entries. On a node those of other
    // nodes are 0, and it stays valid; between nodes until the call returns: what the ranks of a
    // node have in common is to be kept once.
    virtual sennit_status connect(const Address *addresses, const Deadline &deadline) = 0;
    // Between nodes, where some rank has more to tell: what this one has, which is not more than
    // any rank's more_bytes(); then what all have told, at `bytes` from each other.
    virtual void write_more(std::byte *) {}
    virtual sennit_status read_more(const std::byte *, std::size_t) { return SENNIT_OK; }

    // Really try whether `peer` can be reached: code `taken` if so, and then the peer's control
    // block is reachable: peers[peer].control or .control_handle is set. Between nodes try_node()
    // tries: before settle() the answer is what the addresses say, so both sides give the same one.
    virtual Reason reach(int peer) = 0;
    // Between nodes: really tries the node whose lowest rank is `first`, by each rail, if this rank
    // is the one that does it for its node.
    virtual NodeTrial try_node(int) { return {}; }
    // What the ranks of both nodes have found, of those that have tried.
    virtual void settle(int, const NodeTrial &) {}
    // The ranks agreed not to use this transport for that peer: undo reach().
    virtual void forget(int peer) = 0;

    // Makes the segment that `peer` described reachable. Errors: NOMEM, OS, UNSUPPORTED.
    virtual sennit_status attach(int peer, const SegmentRecord &record, RemoteMemory *out) = 0;
    // Operations that name `remote` may still be under way, or be submitted later by a program that
    // frees too early: they end with NOT_REGISTERED, a stale handle is never followed.
    virtual void detach(int peer, const RemoteMemory &remote) = 0;

    // Message transports only.
    virtual Submit submit(Operation *operation) = 0;
    // Memory for a payload of so many bytes, which goes out as it lies there, without a copy. Its
    // owner fills it once, and gives it back when no operation needs it. Null: there is none.
    virtual std::byte *take_room(std::size_t) { return nullptr; }
    virtual void give_room_back(std::byte *) {}
    // Somebody waits for the peer: its answers may wait no longer, and it should look often.
    virtual void hurry(int) {}
    // Delivers what has arrived and completes what is done; returns the number of operations
    // completed. Bounded work per call.
    virtual int progress() = 0;
    // The rails that carry operations to the peer now, as bits. Any thread that holds the engine's
    // lock.
    virtual std::uint64_t rails_to(int) const { return 1; }
    // The width of completion data that is known to reach the peer whole, by each rail; 0 where it
    // does not. The same on both sides, and constant after the last reach(peer).
    virtual unsigned event_bits_to(int) { return traits().event_bits; }
    // From now on peers may send events to this rank. In a task that progress() hands over.
    virtual void expect_events() {}
    // The next progress() hands over all events that have come, however seldom it reads them else.
    virtual void read_events() {}
    // For people: the rail with this number of those that this rank has, as it leads to `peer`,
    // also if it is not used; false beyond the last. Any thread, from connect() to close().
    virtual bool describe_rail(int, unsigned, sennit_rail *) { return false; }
    // For people: what is wrong with the way to the peer; nothing is written if nothing is known.
    // With the engine's lock held.
    virtual void describe_trouble(int, char *, std::size_t) {}
    // A transport may have a thread from connect() on that moves data while the rank computes, and
    // calls the rank's progress hooks once there is an engine. After this call it has none.
    virtual void stop_thread() {}

    // Immediate transports only: moves all runs, in any order. Any thread of the rank, any number
    // at a time. An error may come when part has been moved. Errors: PEER_LOST, NOT_REGISTERED (the
    // memory is not there any more), ARG (the private buffer is not there), OS.
    virtual sennit_status copy(int peer, Operation::Kind, const RemoteMemory &, const CopyRun *,
                               std::size_t) {
        return fail_peer(SENNIT_ERR_INTERNAL, peer, traits().name,
                         "a copy was asked of the path %s, which is not immediate", traits().name);
    }

    // Ends everything by the deadline; operations still open are completed with PEER_LOST.
    virtual void close(const Deadline &deadline) = 0;
};

// A class of transports, as the router sees it: makes one object per rank.
struct Maker {
    sennit_path path;
    bool by_default;       // taken unless left out; else only if SENNIT_PATHS names it
    Transport *(*make)();  // null: no memory
    // Opened only where the job has several nodes, after the cards are known.
    bool between_nodes = false;
};

// In order of preference, ended by a record whose make is null.
extern const Maker kMakers[];

// For people: see sennit_provider_get().
sennit_status describe_provider(int index, sennit_provider *out);

}  // namespace sennit::transport
