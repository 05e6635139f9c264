// Growth and free lists of request_table.hpp.
#include "op/request_table.hpp"

#include <cstdlib>
#include <new>

#include "base/fail.hpp"
#include "base/invariant.hpp"

namespace sennit::op {
namespace {

void free_kept(OperationRecord &record) {
    if (record.kept != reinterpret_cast<std::byte *>(&record.answer)) std::free(record.kept);
    record.kept = nullptr;
}

}  // namespace

sennit_status RequestTable::open() {
    chunks_ = static_cast<OperationRecord **>(std::calloc(kChunks, sizeof(OperationRecord *)));
    if (chunks_ == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the table of requests");
    return SENNIT_OK;
}

void RequestTable::close() {
    for (std::uint32_t i = 0; i < made(); ++i) {
        layout_free(at(i).layout);
        free_kept(at(i));
    }
    for (std::uint32_t i = 0; i < chunk_count_; ++i)
        std::free(chunks_[i]);
    std::free(chunks_);
    *this = RequestTable();
}

bool RequestTable::grow() {
    if (chunk_count_ == kChunks) return false;
    auto *chunk =
        static_cast<OperationRecord *>(std::calloc(kChunkRecords, sizeof(OperationRecord)));
    if (chunk == nullptr) return false;
    const std::uint32_t first = made();
    chunks_[chunk_count_++] = chunk;
    // Backwards, so that low indices are used first.
    for (std::uint32_t i = kChunkRecords; i-- > 0;) {
        OperationRecord *record = new (&chunk[i]) OperationRecord{};
        record->index = first + i;
        record->generation = 1;
        record->next_pending = free_;
        free_ = record;
    }
    return true;
}

OperationRecord *RequestTable::take() {
    if (free_ == nullptr && !grow()) return nullptr;
    OperationRecord *record = free_;
    free_ = record->next_pending;
    SENNIT_INVARIANT(record->state == RecordState::free);
    const std::uint32_t index = record->index;
    const std::uint32_t generation = record->generation;
    *record = OperationRecord{};
    record->index = index;
    record->generation = generation;
    ++in_use_;
    return record;
}

void RequestTable::give_back(OperationRecord *record) {
    SENNIT_INVARIANT(record->open == 0 && in_use_ > 0);
    record->state = RecordState::free;
    layout_free(record->layout);
    record->layout = nullptr;
    free_kept(*record);
    record->generation = request::next_generation(record->generation);
    record->next_pending = free_;
    free_ = record;
    --in_use_;
}

bool RequestTable::keep(OperationRecord *record, std::uint64_t bytes) {
    record->kept = bytes <= sizeof record->answer ? reinterpret_cast<std::byte *>(&record->answer)
                                                  : static_cast<std::byte *>(std::malloc(bytes));
    return record->kept != nullptr;
}

OperationRecord *RequestTable::find(sennit_request request) {
    const std::uint32_t index = request::index_of(request);
    if (index >= made()) return nullptr;
    OperationRecord &record = at(index);
    if (record.state == RecordState::free || request_of(record).handle != request.handle)
        return nullptr;
    return &record;
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
