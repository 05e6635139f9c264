// SPDX-License-Identifier: BSD-3-Clause
// The memory of records, and the pool of pieces.
#include "op/request_table.hpp"

#include <cstdlib>
#include <new>
#include <span>

#include "base/invariant.hpp"

namespace sennit::op {
namespace {

bool is_buffered_inside(const OperationRecord &record) {
    return record.buffer == nullptr ||
           record.buffer == reinterpret_cast<const std::byte *>(&record.answer);
}

void free_owned(OperationRecord &record) {
    const bool is_packed = record.packed.count != 0 && record.buffer != nullptr;
    for (std::uint32_t i = 0; is_packed && i < record.packed.count; ++i) {
        const PackedTask &task = packed_task(record, i);
        if (task.is_in_room)
            record.rooms->give_room_back(task.payload);
        else
            std::free(task.payload);
    }
    if (record.rooms != nullptr && !is_packed)
        record.rooms->give_room_back(record.buffer);
    else if (!is_buffered_inside(record))
        std::free(record.buffer);
    record.buffer = nullptr;
    record.rooms = nullptr;
    std::free(record.why);
    record.why = nullptr;
}

}  // namespace

void RequestTable::close() {
    table_.each([](OperationRecord &record) {
        layout_free(record.layout);
        free_owned(record);
    });
    table_.close();
}

OperationRecord *RequestTable::take() {
    OperationRecord *record = table_.take();
    if (record == nullptr) return nullptr;
    SENNIT_INVARIANT(record->state == RecordState::free);
    // Only these fields: the others are set when they are used.
    new (static_cast<OperationFields *>(record)) OperationFields{};
    (void)table_.publish(*record);
    return record;
}

void RequestTable::give_back(OperationRecord *record) {
    SENNIT_INVARIANT(record->open == 0 && table_.in_use() > 0);
    record->state = RecordState::free;
    layout_free(record->layout);
    record->layout = nullptr;
    if (!is_buffered_inside(*record)) buffer_bytes_ -= record->buffer_bytes;
    free_owned(*record);
    table_.give_back(*record);
}

bool RequestTable::keep(OperationRecord *record, std::uint64_t bytes) {
    record->buffer = bytes <= sizeof record->answer ? reinterpret_cast<std::byte *>(&record->answer)
                                                    : static_cast<std::byte *>(std::malloc(bytes));
    record->buffer_bytes = bytes;
    if (!is_buffered_inside(*record)) buffer_bytes_ += bytes;
    return record->buffer != nullptr;
}

bool RequestTable::keep_payload(OperationRecord *record, std::uint64_t bytes,
                                transport::Transport &by) {
    record->buffer = by.take_room(bytes);
    if (record->buffer == nullptr) return keep(record, bytes);
    record->rooms = &by;
    record->buffer_bytes = bytes;
    buffer_bytes_ += bytes;
    return true;
}

bool RequestTable::keep_packed(OperationRecord *record, std::uint64_t bytes,
                               transport::Transport &by) {
    const std::uint32_t count = record->packed.count;
    auto *const tasks = static_cast<PackedTask *>(std::calloc(count, sizeof(PackedTask)));
    record->buffer = reinterpret_cast<std::byte *>(tasks);
    record->buffer_bytes = tasks == nullptr ? 0 : count * (sizeof(PackedTask) + bytes);
    buffer_bytes_ += record->buffer_bytes;
    if (tasks == nullptr) return false;
    record->rooms = &by;
    for (PackedTask &task : std::span(tasks, count)) {
        task.payload = by.take_room(bytes);
        task.is_in_room = task.payload != nullptr;
        if (task.payload == nullptr) task.payload = static_cast<std::byte *>(std::malloc(bytes));
        if (task.payload == nullptr) return false;
    }
    return true;
}

void PiecePool::close() {
    for (std::uint32_t i = 0; i < chunk_count_; ++i)
        std::free(chunks_[i]);
    *this = PiecePool();
}

OperationPiece *PiecePool::take() {
    if (free_ == nullptr) {
        if (chunk_count_ == kChunks) return nullptr;
        auto *chunk =
            static_cast<OperationPiece *>(std::calloc(kChunkPieces, sizeof(OperationPiece)));
        if (chunk == nullptr) return nullptr;
        chunks_[chunk_count_++] = chunk;
        for (std::uint32_t i = kChunkPieces; i-- > 0;)
            give_back(new (&chunk[i]) OperationPiece{});
    }
    OperationPiece *piece = free_;
    free_ = piece->next;
    return piece;
}

void PiecePool::give_back(OperationPiece *piece) {
    piece->next = free_;
    free_ = piece;
}

}  // namespace sennit::op
