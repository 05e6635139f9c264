// SPDX-License-Identifier: BSD-3-Clause
#include "op/region.hpp"

#include "base/fail.hpp"
#include "memory/file.hpp"
#include "op/peer_memory.hpp"
#include "op/resolve.hpp"

namespace sennit::op {
namespace {

sennit_status check_addresses(void *memory, std::size_t bytes) {
    if (bytes == 0) return SENNIT_OK;
    if (memory == nullptr) return fail(SENNIT_ERR_ARG, "memory is null");
    if (bytes <= UINT64_MAX - reinterpret_cast<std::uintptr_t>(memory)) return SENNIT_OK;
    return fail(SENNIT_ERR_ARG, "%zu byte%s at %p run%s past the end of the address space", bytes,
                plural(bytes), memory, singular(bytes));
}

sennit_status check_mapped(void *memory, std::size_t bytes) {
    if (bytes == 0) return SENNIT_OK;
    if (memory::is_mapped(memory, bytes)) return SENNIT_OK;
    return fail(SENNIT_ERR_ARG, "%zu byte%s at %p %s not all mapped in this process", bytes,
                plural(bytes), memory, bytes == 1 ? "is" : "are");
}

sennit_status register_private(Rank &rank, const memory::RegistrationArgs &args,
                               sennit_gptr *gptr) {
    SegmentRecord *record = nullptr;
    sennit_status status = check_mapped(args.memory, args.bytes);
    if (status != SENNIT_OK) return status;
    status = memory::segment_register(rank, args, &record);
    return status == SENNIT_OK ? attach_own(rank, record, gptr) : status;
}

sennit_status not_registered(sennit_region region) {
    return fail_peer(SENNIT_ERR_NOT_REGISTERED, region.gptr.rank, "",
                     "segment %#x of rank %d is not registered, or no longer", region.gptr.segment,
                     region.gptr.rank);
}

}  // namespace

sennit_status register_region(Rank &rank, const memory::RegistrationArgs &args,
                              sennit_region *region) {
    void *const memory = args.memory;
    const std::size_t bytes = args.bytes;
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    const sennit_status checked = check_addresses(memory, bytes);
    if (checked != SENNIT_OK) return checked;
    const ColdLock lock(rank);
    memory::Overlap overlap = memory::Overlap::none;
    if (bytes != 0) overlap = memory::segment_at(rank, memory, bytes, &gptr);
    if (overlap == memory::Overlap::none && bytes != 0)
        overlap = memory::attached_at(rank, memory, bytes, &gptr);
    if (overlap == memory::Overlap::part)
        return fail(SENNIT_ERR_RANGE, "%zu bytes at %p lie partly inside a segment of Sennit",
                    bytes, memory);
    if (overlap == memory::Overlap::none) {
        const sennit_status status = register_private(rank, args, &gptr);
        if (status != SENNIT_OK) return status;
    }
    *region = sennit_region{gptr, bytes};
    return SENNIT_OK;
}

sennit_status fail_null_region() {
    return fail(SENNIT_ERR_ARG, "the region is null (SENNIT_REGION_NULL)");
}

sennit_status check_region(Rank &rank, sennit_region region) {
    if (sennit_gptr_is_null(region.gptr)) return fail_null_region();
    memory::SegmentEntry *entry = nullptr;
    const sennit_status status = resolve(rank, region.gptr, &entry);
    return status != SENNIT_OK ? status : check_range(*entry, region.gptr, region.bytes);
}

sennit_status deregister_region(Rank &rank, sennit_region region) {
    if (sennit_gptr_is_null(region.gptr)) return fail_null_region();
    if (region.gptr.rank != rank.world_rank) return check_region(rank, region);
    if (memory::team_slot_of(region.gptr.segment) != memory::kLocalSlot)
        return check_region(rank, region);
    if (memory::generation_of(region.gptr.segment) == 0) return not_registered(region);
    const ColdLock lock(rank);
    SegmentRecord &record = rank.control->records[memory::index_of(region.gptr.segment)];
    // relaxed: only this rank writes the id, under the lock held here.
    if (record.id.load(std::memory_order_relaxed) != region.gptr.segment)
        return not_registered(region);
    // A region in a segment of sennit_alloc_local, which stays allocated.
    if (record.kind != SegmentKind::registered) return SENNIT_OK;
    if (memory::continues_region(record)) return not_registered(region);
    if (region.gptr.offset != 0)
        return fail(SENNIT_ERR_ARG, "the region's pointer was moved by %llu byte%s",
                    static_cast<unsigned long long>(region.gptr.offset),
                    plural(region.gptr.offset));
    detach_segment(rank, rank.world_rank, region.gptr.segment);
    memory::segment_destroy(rank, &record);
    return SENNIT_OK;
}

}  // namespace sennit::op
