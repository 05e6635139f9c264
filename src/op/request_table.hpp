// SPDX-License-Identifier: BSD-3-Clause
// Records of operations and their pieces. Owned by the op engine and called with its mutex held.
// Records never move: their chunks stay until the table is closed, so a pointer is valid until
// give_back(). Nothing here throws or aborts; without memory take() returns null.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/linked_queue.hpp"
#include "op/engine.hpp"

#include "op/layout.hpp"
#include "request/request.hpp"
#include "transport/transport.hpp"

namespace sennit::op {

struct OperationRecord;

// A part of a record that is or will be with a transport.
struct OperationPiece {
    transport::Operation operation;  // first: a transport hands back a pointer to it
    Engine *engine;
    OperationRecord *record;
    OperationPiece *next;       // in the pool, in a retry queue, or among those just completed
    std::uint64_t tried_rails;  // bit r: rail r failed this piece
    sennit_status status;
    bool has_event = false;  // it carries an event
};
static_assert(offsetof(OperationPiece, operation) == 0);

using PieceQueue = LinkedQueue<OperationPiece, &OperationPiece::next>;

// The events of a record whose last pieces carry some.
struct CarriedEvents {
    transport::EventData first;    // of the first such piece
    transport::EventData further;  // of the others
    std::uint32_t parts = 0;       // number of such pieces; 0: the record carries none
    std::uint32_t uncut = 0;       // such pieces not cut yet
    std::uint32_t index = 0;       // which message it is
    std::uint32_t number = 0;
    std::uint64_t plain_bytes =
        0;  // bytes that must be complete before a piece with an event is cut
};

// Tasks with the runs of a put: their payloads are in the record's buffer, and `bytes` of the
// record counts tasks. packed.hpp has their contents.
struct PackedTasks {
    std::uint32_t count = 0;   // 0: not such a put
    std::uint64_t hull = 0;    // bytes of the target's memory named in each task
    bool is_numbered = false;  // the message got its number when the first task went
    std::uint32_t word = 0;    // then EventTask::parts_word()
};
struct PackedTask {
    std::uint64_t answer;
    std::uint64_t payload_bytes;
    std::byte *payload;
    bool is_in_room;  // room of OperationRecord::rooms
};

enum class RecordState : std::uint8_t { free, held, pending, in_flight, complete };

struct OperationRecord {
    std::atomic<std::uint64_t> handle;  // in the table
    RecordState state;
    Completion::Mode mode;  // blocking while its caller is inside start()
    Direction direction;
    bool barrier_put;  // cut only when no earlier put is open
    bool own_in_use;   // the piece inside the record is in use
    bool on_flush_list;
    bool is_hint;       // see Completion
    bool is_forgotten;  // released; no flush waits for it or reports its error
    bool moved;         // a transport accepted one of its pieces
    // Direction::execute, see Work.
    std::uint8_t operation;
    std::uint8_t type;
    std::uint8_t element_bytes;
    std::uint32_t payload_bytes;  // of an event's task; 0: not an event's task
    bool may_wait;                // its answer may wait
    bool is_of_message;           // it ends a message with events in completion data
    bool is_checked;              // checked at its end, since no caller checks the answer
    EventCheck check;             // of it
    std::uint32_t awaited;        // while held: number of open records that name it as `then`
    OperationRecord *then;        // held; see Completion
    bool cancels_then;            // cancels `then` at its end: nobody takes the record any more
    AtEnd at_end;
    char *why;  // text of its failure, or null; owned
    int peer;
    sennit_status status;  // first error
    std::uint32_t open;    // pieces out: with a transport or waiting to be repeated
    transport::RemoteMemory remote;
    std::uint64_t offset;
    std::byte *local;
    std::byte *result;            // of execute, or null
    std::byte *buffer;            // the moving data in the record's own memory, or its PackedTasks;
                                  // null: the caller lends it
    std::uint64_t buffer_bytes;   // size of that memory, with its payloads
    transport::Transport *rooms;  // transport whose take_room() gave it, or some payloads; or null
    void *answer_to;       // destination of an answer in `buffer` that its caller takes; or null
    std::uint64_t answer;  // of an event's task; else `buffer` points here where that is enough
    // The operands of execute on one element, or an event's task with little data; `local` then
    // points here.
    std::uint64_t operands[8];
    std::uint64_t bytes;
    Layout *layout;             // owned; null: the bytes are contiguous on both sides
    Cursor cursor;              // of the layout
    std::uint64_t cut;          // bytes already cut into pieces
    std::uint64_t piece_bytes;  // length of the pieces
    CarriedEvents carried;
    PackedTasks packed;
    std::uint64_t number;            // its place in the peer's start order
    OperationRecord *next_pending;   // in its peer's queue
    OperationRecord *previous_open;  // in its peer's flush list
    OperationRecord *next_open;
    OperationPiece own;
};

inline PackedTask &packed_task(const OperationRecord &record, std::uint64_t number) {
    return reinterpret_cast<PackedTask *>(record.buffer)[number];
}

class RequestTable {
  public:
    void close();

    OperationRecord *take();
    void give_back(OperationRecord *record);

    // Memory for the record's data, freed with it. False: none.
    bool keep(OperationRecord *record, std::uint64_t bytes);
    // The same for the payload of a task: memory of the transport if it has some, else as in
    // keep().
    bool keep_payload(OperationRecord *record, std::uint64_t bytes, transport::Transport &by);
    // For packed.count payloads of at most this many bytes.
    bool keep_packed(OperationRecord *record, std::uint64_t bytes, transport::Transport &by);
    // Whether records and their buffers take less than `budget` with one more.
    bool may_copy(std::uint64_t bytes, std::uint64_t budget) const {
        return bytes <= budget &&
               buffer_bytes_ + in_use() * sizeof(OperationRecord) <= budget - bytes;
    }

    static sennit_request request_of(const OperationRecord &record) {
        // relaxed: under the engine's mutex.
        return request::make(request::RequestKind::operation,
                             record.handle.load(std::memory_order_relaxed));
    }
    // The record in use that has this handle, or null.
    OperationRecord *find(sennit_request request) const {
        return table_.find(request::handle_in(request));
    }

    std::uint32_t in_use() const { return table_.in_use(); }
    // All records ever made, for the checks: 0 to made() - 1.
    std::uint32_t made() const { return table_.end() - 1; }
    OperationRecord &at(std::uint32_t index) const { return table_[index + 1]; }

  private:
    // At most 4 million operations at a time.
    HandleTable<OperationRecord, request::Handles, TableShape{1u << 22, 128}> table_;
    std::uint64_t buffer_bytes_ = 0;  // besides the records
};

// Pieces beyond the one inside each record.
class PiecePool {
  public:
    static constexpr std::uint32_t kChunkPieces = 64;
    static constexpr std::uint32_t kChunks = 256;

    void close();
    OperationPiece *take();
    void give_back(OperationPiece *piece);

  private:
    OperationPiece *chunks_[kChunks] = {};
    std::uint32_t chunk_count_ = 0;
    OperationPiece *free_ = nullptr;
};

}  // namespace sennit::op
