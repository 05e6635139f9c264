// SPDX-License-Identifier: BSD-3-Clause
// Records of operations and their pieces. Owned by the op engine and called with its mutex held.
// Records never move, so a pointer is valid until give_back(). Without memory take() returns null.
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

// A part of an operation that is submitted to a transport.
struct OperationPiece {
    transport::Operation operation;  // the first member: transports return a pointer to it
    Engine *engine;
    OperationRecord *record;
    OperationPiece *next;       // in the pool, or in the PieceQueue that has the piece
    std::uint64_t tried_rails;  // bit r: rail r failed this piece
    sennit_status status;
    bool has_event = false;

    void avoid_rail() { tried_rails |= std::uint64_t{1} << operation.rail; }
};
static_assert(offsetof(OperationPiece, operation) == 0);

using PieceQueue = LinkedQueue<OperationPiece, &OperationPiece::next>;

// The events of a record, which its last pieces carry.
struct CarriedEvents {
    transport::EventData first;    // of the first piece with an event
    transport::EventData further;  // of the others
    std::uint32_t parts = 0;       // number of pieces with an event
    std::uint32_t uncut = 0;       // of these, pieces not cut yet
    std::uint32_t index = 0;       // identifies the message, with `number`
    std::uint32_t number = 0;
    // Bytes that must be complete before a piece with an event is cut.
    std::uint64_t plain_bytes = 0;
};

// The tasks with the packed runs of a put (packed.hpp). `buffer` of the record has a PackedTask for
// each, and `bytes` of the record counts them.
struct PackedTasks {
    std::uint32_t count = 0;   // 0: not packed
    std::uint64_t hull = 0;    // size of the target's memory in each task
    bool is_numbered = false;  // the message is numbered when its first task is sent
    std::uint32_t word = 0;    // EventTask::parts_word() when it has a number
};
struct PackedTask {
    std::uint64_t answer;
    std::uint64_t payload_bytes;
    std::byte *payload;
    bool is_in_room;  // `payload` is from the transport OperationRecord::rooms
};

enum class RecordState : std::uint8_t { free, held, pending, in_flight, complete };

// The fields of a record that take() clears. The other fields are set when they are used.
struct OperationFields {
    std::atomic<std::uint64_t> handle;  // in the table
    RecordState state;
    Completion::Mode mode;  // blocking while the caller is in start()
    Direction direction;
    bool barrier_put;  // not cut while an earlier put is open
    bool own_in_use;   // the piece inside the record is in use
    bool on_flush_list;
    bool is_hint;       // see Completion
    bool is_forgotten;  // no flush reports its error
    bool moved;         // a transport accepted one of its pieces
    // For Direction::execute, see Work.
    std::uint8_t operation;
    std::uint8_t type;
    std::uint8_t element_bytes;
    std::uint32_t payload_bytes;  // of an event's task; 0: not an event's task
    bool may_wait;                // its answer may be sent with a later message
    bool is_of_message;           // it confirms a message with events in completion data
    bool is_checked;              // `check` is called at its end, since no caller checks the answer
    EventCheck check;
    std::uint32_t awaited;  // while held: number of operations that name it as `then`
    OperationRecord *then;  // a held record; see Completion
    bool cancels_then;      // the record was released: cancels `then` at its end
    AtEnd at_end;
    char *why;  // text of its failure, owned; or null
    int peer;
    sennit_status status;  // first error
    std::uint32_t open;    // open pieces: submitted or waiting to be repeated
    transport::RemoteMemory remote;
    std::uint64_t offset;
    std::byte *local;
    std::byte *result;            // of execute, or null
    std::byte *buffer;            // copy of the data, or PackedTask array; null: data is lent
    std::uint64_t buffer_bytes;   // size of `buffer`, with the payloads
    transport::Transport *rooms;  // transport whose take_room() gave `buffer` or payloads; or null
    void *answer_to;              // where to copy the result from `buffer` for the caller; or null
    std::uint64_t answer;         // of an event's task; else `buffer` points here if the data fits
    // Operands of one element, or an event's task with short data; `local` then points here.
    std::uint64_t operands[8];
    std::uint64_t bytes;
    Layout *layout;             // owned; null: the bytes are contiguous on both sides
    Cursor cursor;              // of the layout
    std::uint64_t cut;          // bytes already cut into pieces
    std::uint64_t piece_bytes;  // length of the pieces
    CarriedEvents carried;
    PackedTasks packed;
    std::uint64_t number;            // in the order of start to the peer
    OperationRecord *previous_open;  // in the peer's flush list
    OperationRecord *next_open;
};
struct OperationRecord : OperationFields {
    OperationRecord *next_pending;  // in the peer's queue
    OperationPiece own;             // valid while own_in_use
};

inline bool is_packed(const OperationPiece &piece) {
    return piece.record->packed.count != 0;
}

inline PackedTask &packed_task(const OperationRecord &record, std::uint64_t number) {
    return reinterpret_cast<PackedTask *>(record.buffer)[number];
}

class RequestTable {
  public:
    void close();

    OperationRecord *take();
    void give_back(OperationRecord *record);

    // Allocates memory for the record's data, freed with the record. False: no memory.
    bool keep(OperationRecord *record, std::uint64_t bytes);
    // The same for the payload of a task: in memory of the transport if it has some, else as
    // keep().
    bool keep_payload(OperationRecord *record, std::uint64_t bytes, transport::Transport &by);
    // The same for packed.count payloads of at most this many bytes.
    bool keep_packed(OperationRecord *record, std::uint64_t bytes, transport::Transport &by);
    // Whether records and their buffers, with this one, use at most `budget` bytes.
    bool may_copy(std::uint64_t bytes, std::uint64_t budget) const {
        return bytes <= budget &&
               buffer_bytes_ + in_use() * sizeof(OperationRecord) <= budget - bytes;
    }

    static sennit_request request_of(const OperationRecord &record) {
        // relaxed: under the engine's mutex.
        return request::make(request::RequestKind::operation,
                             record.handle.load(std::memory_order_relaxed));
    }
    // The used record with this handle, or null.
    OperationRecord *find(sennit_request request) const {
        return table_.find(request::handle_in(request));
    }

    std::uint32_t in_use() const { return table_.in_use(); }
    // For checks: all records, used or free, are 0 to made() - 1.
    std::uint32_t made() const { return table_.end() - 1; }
    OperationRecord &at(std::uint32_t index) const { return table_[index + 1]; }

  private:
    // Room for 4 million operations.
    HandleTable<OperationRecord, request::Handles, TableShape{1u << 22, 128}> table_;
    std::uint64_t buffer_bytes_ = 0;  // without the records
};

// Pieces besides the one in each record.
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
