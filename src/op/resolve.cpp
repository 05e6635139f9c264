// SPDX-License-Identifier: BSD-3-Clause
// Segments of a team are attached at their allocation. So a segment without an entry is either
// unknown or allocated by one rank, whose control block has its record.
#include "op/resolve.hpp"

#include "base/fail_rank.hpp"
#include "op/peer_memory.hpp"
#include "path/router.hpp"

namespace sennit::op {
namespace {

// Reports a pointer without an entry. Segments of a peer without a path were never attached.
sennit_status unknown(const Rank &rank, sennit_gptr gptr) {
    if (gptr.rank != rank.world_rank && rank.peers[gptr.rank].transport == nullptr)
        return path::fail_no_path(gptr.rank);
    // A program that confuses team ranks with world ranks gets this error, or reaches another
    // member's memory.
    const std::uint32_t slot = memory::team_slot_of(gptr.segment);
    const bool of_a_team = slot != memory::kLocalSlot && slot != memory::kWorldSlot;
    return fail_peer(
        SENNIT_ERR_NOT_REGISTERED, gptr.rank, "",
        "rank %d has no live segment %#x: never allocated%s, or freed", gptr.rank, gptr.segment,
        of_a_team ? " there (global pointers carry world ranks, not those of a team)" : "");
}

// Fetches the record of a local segment from its owner's control block, by any path.
sennit_status fetch_record(Rank &rank, sennit_gptr gptr, SegmentRecord *copy) {
    const Peer &peer = rank.peers[gptr.rank];
    if (peer.control != nullptr || gptr.rank == rank.world_rank)
        return path::read_record(rank, gptr.rank, gptr.segment, copy) ? SENNIT_OK
                                                                      : unknown(rank, gptr);
    const std::size_t offset =
        offsetof(ControlBlock, records) + sizeof(SegmentRecord) * memory::index_of(gptr.segment);
    const sennit_status status = get_control(rank, gptr.rank, offset, copy, sizeof *copy);
    if (status != SENNIT_OK) return status;
    // relaxed: the copy is private.
    return copy->id.load(std::memory_order_relaxed) == gptr.segment ? SENNIT_OK
                                                                    : unknown(rank, gptr);
}

}  // namespace

sennit_status fail_null_pointer() {
    return fail(SENNIT_ERR_ARG, "the global pointer is null (SENNIT_GPTR_NULL)");
}

sennit_status resolve(Rank &rank, sennit_gptr gptr, memory::SegmentEntry **entry) {
    const std::uint32_t size = size_of(rank);
    if (gptr.segment == 0) return fail_null_pointer();
    if (static_cast<std::uint32_t>(gptr.rank) >= size) return fail_no_rank(gptr.rank, size);
    *entry = memory::find(rank, size, gptr);
    if (*entry != nullptr) return SENNIT_OK;
    const bool local = memory::team_slot_of(gptr.segment) == memory::kLocalSlot;
    if (!local || memory::generation_of(gptr.segment) == 0) return unknown(rank, gptr);
    SegmentRecord record{};
    const sennit_status status = fetch_record(rank, gptr, &record);
    if (status != SENNIT_OK) return status;
    return path::attach_once(rank, gptr, record, entry);
}

sennit_status attach_known(Rank &rank, sennit_gptr gptr, const SegmentRecord &record) {
    memory::SegmentEntry *entry = nullptr;
    return path::attach_once(rank, gptr, record, &entry);
}

sennit_status read_segment(Rank &rank, sennit_gptr gptr, SegmentRecord *record) {
    if (memory::generation_of(gptr.segment) == 0) return unknown(rank, gptr);
    return fetch_record(rank, gptr, record);
}

sennit_status check_range(const memory::SegmentEntry &entry, sennit_gptr gptr, std::size_t bytes) {
    if (bytes <= entry.bytes && gptr.offset <= entry.bytes - bytes) return SENNIT_OK;
    // Print sizes and offsets as signed: negative ones have wrapped around.
    return fail_peer(SENNIT_ERR_RANGE, gptr.rank, "",
                     "%lld byte%s at offset %lld leave%s the segment of %llu byte%s",
                     static_cast<long long>(bytes), plural(bytes),
                     static_cast<long long>(gptr.offset), singular(bytes),
                     static_cast<unsigned long long>(entry.bytes), plural(entry.bytes));
}

}  // namespace sennit::op
