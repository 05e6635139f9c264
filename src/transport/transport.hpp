// SPDX-License-Identifier: BSD-3-Clause
// The contract of a transport: each path is one folder that implements this class. template/ is the
// smallest one; CONTRIBUTING.md has the steps to add a path.
//
// There are three kinds. A load/store transport (traits().load_store) maps a peer's segment to a
// pointer in attach(); put and get do not call it. A message transport executes operations that the
// op engine submits. An immediate transport (traits().immediate) executes operations on the
// caller's thread in copy(), without a lock or the engine.
//
// Calls, their order and their threads:
//   open -> address -> connect -> reach(peer)* -> [attach | detach | submit | progress]* -> close
//   Between nodes, try_node(node)* and settle(peer)* are called before the last reach(peer).
//   - The thread in sennit_init calls open, address, connect, try_node, settle and reach.
//   - attach and detach are called with the rank's cold mutex held, submit and progress with the
//     engine's lock held, so a transport object needs no lock for its own state. Objects of
//     different ranks may share state (sim does) and lock it themselves.
//   - close is called once, by sennit_finalize or a failed init; nothing is called afterwards.
//     Exception: a copy of template_test.cpp closes a transport early. sennit_finalize then still
//     calls submit, progress and close, which must bear that.
//     After a failed open() only the destructor is called, so it must free everything.
//
// Rules for all transports:
//   - Never block in submit or progress; open, connect and close end by their deadline.
//   - Never abort or throw; return a status. Log only what no status reports.
//   - An accepted operation is completed exactly once, from progress(), finish_postponed(),
//     submit() or close(). If the peer dies, the rail fails, or close() is called, it is completed
//     with an error, and nothing of it moves afterwards. Exception: see close().
//   - When a peer dies or leaves, call note_gone() before its operations are completed: waits for
//     requests rely on these completions and do not check the peer. Within a node peer_gone() finds
//     the end and calls note_gone().
//   - A put or get of one aligned word of up to 8 bytes is not torn, since others poll it. With
//     load and store, words of longer puts and gets are not torn either. (cma and fabric depend on
//     the kernel: docs/design/cma.md.)
//   - Within a node, an operation on registered memory that its owner has unmapped, or in which
//     mprotect() forbids the access, ends with NOT_REGISTERED, without SIGSEGV. A private buffer is
//     the caller's to check.
//   - A put completes when later operations of any rank see the data in the target's memory; a get
//     when the data is in the private buffer.
//   - A task (execute) completes when the target has executed it in its progress() and the reply is
//     in the private buffer. It is passed to the target's sink at most once each time it was
//     accepted. After FABRIC it may have been executed; the engine repeats it on another rail with
//     the same sequence number, so that the sink detects the repetition.
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

// The properties of a transport. Constant after open(); between nodes, some only after connect().
struct Traits {
    const char *name;  // as in sennit_path_name
    sennit_path path;
    bool load_store;
    bool ordered;                   // puts to one peer arrive in the order of submission, and tasks
                                    // are executed after earlier puts
    unsigned rails;                 // number of rails, at least 1
    unsigned event_bits;            // width of the completion data of put_event: 0 (none) to 128
    std::size_t max_piece_bytes;    // the engine splits larger operations
    bool private_memory = false;    // attach() accepts mechanism `copied` too
    bool immediate = false;         // copy() instead of submit()
    std::size_t task_bytes = 0;     // longest payload and reply of a task, up to kMostTaskBytes;
                                    // events need 24, atomics more than 0
    std::size_t payload_bytes = 0;  // longest payload of an event's task, up to kMostPayloadBytes;
                                    // 0: task_bytes
    std::size_t eager_bytes = SIZE_MAX;  // contiguous data up to this size is sent with its event
                                         // if a payload has room
    unsigned event_index_bits = 0;  // of 32 bits of completion data, those that name the signal and
                                    // its sender; 0: the library chooses
    bool yields = false;            // progress() yields the processor while other ranks wait for it
    bool in_software = false;       // the owner's processor executes each put
    std::size_t bulk_bytes = 0;  // later operations may overtake a contiguous put longer than this;
                                 // at most so many of its bytes are open per rail; 0: eight pieces

    bool is_message() const { return !load_store && !immediate; }
};

// The header of a task: an atomic operation, or an event with its data, executed by a processor of
// the memory's node. It is sent with its payload, and a reply returns. op/task.cpp makes and
// executes tasks; transports read only the two lengths.
inline constexpr std::size_t kMostTaskBytes = 512;
inline constexpr std::size_t kEventBytes = 24;  // of an event's task, before its data
inline constexpr std::size_t kMostPayloadBytes = kEventBytes + (std::size_t{128} << 10);
struct Task {
    std::uint64_t sequence;  // number for the pair of ranks, from 1; equal in a repetition
    std::uint32_t count;     // elements
    std::uint32_t payload_bytes;
    std::uint16_t reply_bytes;
    std::uint8_t operation;  // sennit_operator, or one of op/engine.hpp
    std::uint8_t type;       // sennit_type
    std::uint8_t may_wait;   // not 0: the answer may be sent with a later message
    std::uint8_t unused[3];
};
static_assert(sizeof(Task) == 24 && offsetof(Task, operation) == 18);

// The completion data of a put_event. A transport carries its low event_bits.
struct EventData {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

// The support level of a path by messages with this many bits of completion data. Level 4 is that
// of load and store (docs/design/signals.md).
constexpr int support_level(unsigned event_bits) {
    if (event_bits >= 64) return 3;
    if (event_bits >= 32) return 2;
    return event_bits >= 8 ? 1 : 0;
}

// Data that peers need to connect; sent in the rank's card. Only the transport knows its contents.
inline constexpr std::size_t kAddressBytes = 64;
struct Address {
    std::uint8_t bytes[kAddressBytes];
};
// Between nodes: the last byte is the length of the rank's further data, in words of 8 bytes. This
// data, such as names of endpoints that are then open, is exchanged when all addresses are known.
inline std::size_t more_bytes(const Address &address) {
    return std::size_t{8} * address.bytes[kAddressBytes - 1];
}

// How this rank reaches a peer's segment.
struct RemoteMemory {
    std::byte *pointer = nullptr;    // load/store address of its first byte, or null
    std::uint64_t handle = 0;        // for the transport's use
    std::uint64_t mapped_bytes = 0;  // bytes of address space that this attachment uses
};

struct Operation;
using CompletionFunction = void (*)(Operation *operation, sennit_status status);

// One operation, owned by the op engine and lent to the transport from submit() until the transport
// calls `completed`. The transport may store pointers to it and use `scratch`.
struct Operation {
    enum class Kind : std::uint8_t { put, get, put_event, execute };
    Kind kind = Kind::put;
    std::uint8_t rail = 0;
    bool is_hint = false;  // a put that may complete when sent, even if it never arrives
    int peer = -1;
    RemoteMemory remote;       // of the segment
    std::uint64_t offset = 0;  // in the segment
    void *local = nullptr;     // private buffer; a put only reads it. execute: the payload
    bool is_in_room = false;   // execute: `local` is from Transport::take_room()
    std::size_t bytes = 0;     // at most max_piece_bytes; may be 0 for put_event. execute: the size
                               // of the task's memory
    EventData event;           // put_event: for the target's sink, once the data is visible
    CompletionFunction completed = nullptr;
    std::uint64_t scratch[2] = {0, 0};
    Task task = {};         // execute
    void *reply = nullptr;  // execute: private buffer for the reply
};

// The result of a rank's trial of the rails to another node.
struct NodeTrial {
    static constexpr std::uint8_t kNotTried = 0xFF;
    std::uint8_t rails = 0xFF;       // set of rails that work
    std::uint8_t error = kNotTried;  // errno of a rail that does not work, or 0
    std::uint8_t lossy = 0;          // set of rails that answer but lose data
    std::uint8_t dataless = 0;       // set of rails that work but lose or truncate completion data

    bool is_tried() const { return error != kNotTried; }
    bool is_like(const NodeTrial &other) const {
        return rails == other.rails && lossy == other.lossy && dataless == other.dataless;
    }
    // The errno in 8 bits; EIO if it does not fit.
    static std::uint8_t short_error(int error) {
        if (error == 0) return ETIMEDOUT;
        return error > 0 && error < kNotTried ? static_cast<std::uint8_t>(error) : EIO;
    }
    // Combines two trials: a rail works if it works in both.
    void add(const NodeTrial &other) {
        rails = static_cast<std::uint8_t>(rails & other.rails);
        lossy = static_cast<std::uint8_t>(lossy | other.lossy);
        dataless = static_cast<std::uint8_t>(dataless | other.dataless);
        if (other.is_tried() && (error == 0 || !is_tried())) error = other.error;
    }
};

// A part of an immediate copy: contiguous bytes on both sides.
struct CopyRun {
    std::uint64_t offset;  // in the segment
    void *local;           // a put only reads it
    std::size_t bytes;     // not 0
};

enum class Submit : std::uint8_t {
    accepted,  // completed() will be called, or was called already
    again,     // a queue is full; nothing was stored. The engine submits again, or on another rail
    failed     // refused; the thread's last error says why; completed() is not called
};

// Completion statuses with a meaning for the engine, beyond OK:
//   FABRIC     the rail failed before the operation was confirmed; the engine repeats it on another
//              rail of rails_to() (put and get are idempotent, tasks are numbered)
//   PEER_LOST  the peer is dead; not repeated
// Any other error is passed to the user.
//
// The event of a put_event is delivered at most once. After OK, FABRIC and PEER_LOST it may have
// been delivered, may be delivered later if it is at its target, or may be lost there. After any
// other error it is not delivered. A delivered event is passed to the sink before a task that was
// submitted after the completion.

// A task received by its target.
struct Arrived {
    int from;
    const Task *task;
    const SegmentRecord *segment;  // null: the control block
    std::byte *memory;  // address of the task's memory, `bytes` long. Null: the segment is gone; a
                        // task that is not a repetition then ends with NOT_REGISTERED
    std::size_t bytes;
    const std::byte *payload;
    std::byte *reply;  // room for task->reply_bytes
};

// The target's receiver, called from its progress(): `arrived` for the completion data of
// put_event, `execute` for tasks; its status returns with the reply. A task may have a subject, for
// example a signal, whose state is the reply and may change later. A transport with room in a
// message to the task's sender may ask for the new reply (`renew`) and pass it to the sender's sink
// (`renewed`). `subject` and `renew` are called at the target, `renewed` at the sender; none of
// them calls the transport, which may hold its locks.
struct EventSink {
    void (*arrived)(void *context, const EventData &event) = nullptr;
    void *context = nullptr;
    sennit_status (*execute)(void *context, const Arrived &arrived) = nullptr;
    // The subject of an executed task; 0: none.
    std::uint32_t (*subject)(const Task &task, const std::byte *payload) = nullptr;
    std::uint64_t (*renew)(void *context, std::uint32_t subject, std::uint64_t reply) = nullptr;
    void (*renewed)(void *context, int from, std::uint32_t subject, std::uint64_t reply) = nullptr;
};

class Transport {
  public:
    virtual ~Transport() = default;

    virtual const Traits &traits() const = 0;

    // Opens devices. `settings` is the text after the path's name in SENNIT_PATHS ("seed=7" for
    // "sim:seed=7"), or "". An error ends sennit_init. If this machine only lacks the path, return
    // OK and let reach() return the reason.
    virtual sennit_status open(Rank &rank, const char *settings, const EventSink &sink) = 0;
    virtual void address(Address *out) = 0;
    // Called when the addresses of all ranks are known. `addresses` has rank.size entries. Within a
    // node it stays valid, and the entries of other nodes are 0. Between nodes it is valid until
    // the call returns: store data that the ranks of a node have in common once.
    virtual sennit_status connect(const Address *addresses, const Deadline &deadline) = 0;
    // Between nodes, if any rank has further data: write_more() writes this rank's, at most the
    // largest more_bytes() of all ranks; read_more() then reads that of all ranks, `bytes` apart.
    virtual void write_more(std::byte *) {}
    virtual sennit_status read_more(const std::byte *, std::size_t) { return SENNIT_OK; }

    // Really tests whether `peer` can be reached. On success returns code `taken` and sets
    // peers[peer].control or .control_handle, which reaches the peer's control block. Between nodes
    // try_node() does the test: before settle() the answer depends only on the addresses, so both
    // sides give the same one.
    virtual Reason reach(int peer) = 0;
    // Between nodes: really tests each rail to the node whose lowest rank is `first`, if this rank
    // does that for its node.
    virtual NodeTrial try_node(int) { return {}; }
    // Stores the combined trials of the ranks of both nodes.
    virtual void settle(int, const NodeTrial &) {}
    // Undoes reach(). Called after each trial, so reach() must work again, and before close().
    virtual void forget(int peer) = 0;

    // Makes the segment of `peer` reachable. Errors: NOMEM, OS, UNSUPPORTED.
    virtual sennit_status attach(int peer, const SegmentRecord &record, RemoteMemory *out) = 0;
    // Operations with `remote` may still be in progress; a program that frees too early may even
    // submit some later: they end with NOT_REGISTERED. Never use a stale handle's memory.
    virtual void detach(int peer, const RemoteMemory &remote) = 0;

    // Message transports only.
    virtual Submit submit(Operation *operation) = 0;
    // Memory for a payload of this many bytes, which is then sent without a copy. The engine fills
    // it once and returns it when no operation needs it. Null: none.
    virtual std::byte *take_room(std::size_t) { return nullptr; }
    virtual void give_room_back(std::byte *) {}
    // Completes operations that the last progress() has postponed, so that a caller that waits for
    // arrived data continues sooner; returns their number. Called like progress(): always before
    // it, and after it for a caller that waits for operations.
    virtual int finish_postponed() { return 0; }
    // A wait for the peer has started: the peer should not delay its answers, and should poll
    // often.
    virtual void hurry(int) {}
    // Delivers arrivals and completes finished operations; returns the number of completed
    // operations. Bounded work per call.
    virtual int progress() = 0;
    // The set of rails that can carry operations to the peer now. Any thread may call it with the
    // engine's lock held.
    virtual std::uint64_t rails_to(int) const { return 1; }
    // The width of completion data that every rail carries whole to the peer; 0: none. Equal on
    // both sides, and constant after the last reach(peer).
    virtual unsigned event_bits_to(int) { return traits().event_bits; }
    // From now on peers may send events to this rank. Called by a task inside progress().
    virtual void expect_events() {}
    // Makes the next progress() deliver all arrived events, even if it usually reads them rarely.
    virtual void read_events() {}
    // For reports: describes this rank's rail of this number, towards `peer`, even if unused.
    // False: there is no such rail. Any thread may call it, from connect() to close().
    virtual bool describe_rail(int, unsigned, sennit_rail *) { return false; }
    // For reports: describes known trouble with the peer; else writes nothing. Called with the
    // engine's lock held.
    virtual void describe_trouble(int, char *, std::size_t) {}
    // Stops the transport's thread, if it has one from connect() on. The thread moves data while
    // the rank computes. It calls the rank's progress hooks only after the first progress(), at the
    // end of sennit_init.
    virtual void stop_thread() {}

    // Immediate transports only: moves all runs, in any order. Threads of the rank may call it at
    // the same time. After an error some runs may have moved. Errors: PEER_LOST, NOT_REGISTERED
    // (the memory is gone), ARG (the private buffer is not mapped), OS.
    virtual sennit_status copy(int peer, Operation::Kind, const RemoteMemory &, const CopyRun *,
                               std::size_t) {
        return fail_peer(SENNIT_ERR_INTERNAL, peer, traits().name,
                         "a copy was asked of the path %s, which is not immediate", traits().name);
    }

    // Ends everything by the deadline; open operations complete with PEER_LOST. The engine has
    // waited for them until this deadline. If the target moves the data, it may still carry out a
    // request that was sent, but no answer may write to this rank's memory any more. Called after
    // forget(), without the peers' files: peer_gone() must not be called.
    virtual void close(const Deadline &deadline) = 0;
};

// A kind of transport for the router, which makes one object per rank.
struct Maker {
    sennit_path path;
    bool by_default;       // used by default; else only if SENNIT_PATHS names it
    Transport *(*make)();  // null: no memory
    // Opened only in a job of several nodes, after the cards are known.
    bool between_nodes = false;
};

// In order of preference, ended by a record whose make is null.
extern const Maker kMakers[];

// For sennit_provider_get().
sennit_status describe_provider(int index, sennit_provider *out);

}  // namespace sennit::transport
