// SPDX-License-Identifier: BSD-3-Clause
// Allocation, free, and pointers.
#include <sennit/memory.h>

#include "api/call.hpp"
#include "memory/segments.hpp"
#include "op/direct.hpp"
#include "op/peer_memory.hpp"
#include "op/resolve.hpp"
#include "team/allocate.hpp"

namespace sennit::api {
namespace {

constexpr std::size_t kDefaultAlignment = 64;
constexpr std::size_t kLargestAlignment = std::size_t{1} << 30;
constexpr std::size_t kLargestSegment = std::size_t{1} << 46;
constexpr std::size_t kLargestNumber =
    PTRDIFF_MAX;  // a larger value was a negative number before conversion
constexpr unsigned kKnownFlags = SENNIT_ALLOC_RESERVE | SENNIT_ALLOC_HUGE | SENNIT_ALLOC_ACCUMULATE;

sennit_status check_allocation(std::size_t bytes, std::size_t alignment, unsigned flags) {
    if ((alignment & (alignment - 1)) != 0 || alignment > kLargestAlignment)
        return fail(SENNIT_ERR_ARG, "an alignment of %zu bytes is not a power of two up to 1 GiB",
                    alignment);
    if ((flags & ~kKnownFlags) != 0) return fail(SENNIT_ERR_ARG, "flags %#x are unknown", flags);
    if (bytes > kLargestSegment)
        return fail(SENNIT_ERR_NOMEM, "%lld bytes are %s", static_cast<long long>(bytes),
                    bytes > kLargestNumber ? "a size below 0" : "more than an address space holds");
    return SENNIT_OK;
}

sennit_status allocate_local(Rank &rank, const memory::SegmentArgs &args, sennit_gptr *gptr) {
    const ColdLock lock(rank);
    SegmentRecord *record = nullptr;
    const sennit_status status = memory::segment_create(rank, args, &record);
    return status == SENNIT_OK ? op::attach_own(rank, record, gptr) : status;
}

sennit_status not_live(sennit_gptr gptr) {
    return fail(SENNIT_ERR_NOT_REGISTERED,
                "segment %#x of rank %d is not allocated, or freed already", gptr.segment,
                gptr.rank);
}

sennit_status free_local(Rank &rank, sennit_gptr gptr) {
    if (gptr.rank != rank.world_rank)
        return fail(SENNIT_ERR_ARG, "only rank %d, the owner of the segment, may free it",
                    gptr.rank);
    const ColdLock lock(rank);
    SegmentRecord &record = rank.control->records[memory::index_of(gptr.segment)];
    // relaxed: only this rank writes the id, under the lock held here.
    if (memory::generation_of(gptr.segment) == 0 ||
        record.id.load(std::memory_order_relaxed) != gptr.segment)
        return not_live(gptr);
    if (record.kind == SegmentKind::registered)
        return fail(SENNIT_ERR_ARG, "the memory was registered: use sennit_deregister");
    if (record.kind == SegmentKind::queue)
        return fail(SENNIT_ERR_ARG, "the memory belongs to a queue: use sennit_queue_destroy");
    if (record.kind != SegmentKind::local) return not_live(gptr);
    op::detach_segment(rank, rank.world_rank, gptr.segment);
    memory::segment_destroy(rank, &record);
    return SENNIT_OK;
}

sennit_status free_any(Rank &rank, sennit_gptr gptr) {
    if (sennit_gptr_is_null(gptr)) return op::fail_null_pointer();
    if (check_world_rank(rank, gptr.rank) != SENNIT_OK) return SENNIT_ERR_RANGE;
    if (gptr.offset != 0)
        return fail(SENNIT_ERR_ARG,
                    "the pointer has an offset, so it was not returned by an allocation");
    if (memory::team_slot_of(gptr.segment) == memory::kLocalSlot) return free_local(rank, gptr);
    team::Team *team = team::find_of_segment(rank, gptr.segment);
    if (team == nullptr) return not_live(gptr);
    // relaxed: find_of_segment() has done the acquire.
    const team::CollectiveCall call(*team, team->handle.load(std::memory_order_relaxed));
    if (call.status() != SENNIT_OK) return call.status();
    // A segment that is not live here is live nowhere: all ranks allocate and free in the same
    // order.
    if (!team::is_live(*team, gptr.segment)) return not_live(gptr);
    return team::free_segment(rank, *team, gptr.segment);
}

// Whether `place` is in memory of sennit_alloc_local.
bool is_local(const Rank &rank, sennit_gptr place) {
    return memory::team_slot_of(place.segment) == memory::kLocalSlot &&
           rank.control->records[memory::index_of(place.segment)].kind == SegmentKind::local;
}

// Finds the pointer to the bytes at rank `other` that correspond to this rank's `memory`.
sennit_status find_place(Rank &rank, const void *memory, int other, sennit_gptr *place) {
    if (memory == nullptr) return null_argument("memory");
    const ColdLock lock(rank);
    sennit_gptr own;
    const bool is_own = memory::segment_at(rank, memory, 1, &own) == memory::Overlap::whole;
    const bool has_pieces = is_own && memory::team_slot_of(own.segment) != memory::kLocalSlot;
    if (!has_pieces && !(is_own && is_local(rank, own)))
        return fail(SENNIT_ERR_ARG, "%p is not in memory of sennit_alloc or sennit_alloc_local",
                    memory);
    if (!has_pieces && other != rank.world_rank)
        return fail(SENNIT_ERR_ARG,
                    "%p is in memory of sennit_alloc_local, and rank %d has no copy of it", memory,
                    other);
    *place = sennit_gptr_at(own, other);
    return SENNIT_OK;
}

}  // namespace
}  // namespace sennit::api

using namespace sennit;
using namespace sennit::api;

extern "C" {

sennit_status sennit_alloc(sennit_team team, size_t bytes, size_t alignment, unsigned flags,
                           sennit_gptr *gptr) {
    const char *const name = __func__;
    return team_call(name, team, [=](Rank &rank, team::Team &found) {
        // A rank with wrong arguments takes part and reports its error, so that no other rank
        // waits.
        team::AllocationArgs args{bytes, alignment == 0 ? kDefaultAlignment : alignment, flags,
                                  check_allocation(bytes, alignment, flags)};
        if (args.refused == SENNIT_OK && gptr == nullptr) args.refused = null_argument("gptr");
        const team::CollectiveCall turn(found, team.handle);
        if (turn.status() != SENNIT_OK) return turn.status();
        const runtime::Observed observed(rank, name, runtime::kNobody, bytes,
                                         runtime::Noted::allocation);
        return team::allocate(rank, found, args, gptr);
    });
}

sennit_status sennit_alloc_local(size_t bytes, size_t alignment, unsigned flags,
                                 sennit_gptr *gptr) {
    const char *const name = __func__;
    return call(name, [=](Rank &rank) {
        if (gptr == nullptr) return null_argument("gptr");
        const sennit_status status = check_allocation(bytes, alignment, flags);
        if (status != SENNIT_OK) return status;
        const memory::SegmentArgs args{SegmentKind::local, 0, bytes,
                                       alignment == 0 ? kDefaultAlignment : alignment, flags};
        const runtime::Observed observed(rank, name, runtime::kNobody, bytes,
                                         runtime::Noted::allocation);
        return allocate_local(rank, args, gptr);
    });
}

sennit_status sennit_free(sennit_gptr gptr) {
    return noted_call(__func__, [=](Rank &rank) { return free_any(rank, gptr); });
}

void *sennit_ptr(sennit_gptr gptr) {
    void *place = nullptr;
    (void)call(__func__, [&](Rank &rank) {
        if (const memory::SegmentEntry *known = op::direct_entry(rank, gptr, 1)) {
            place = known->base + gptr.offset;
            return SENNIT_OK;
        }
        memory::SegmentEntry *entry = nullptr;
        sennit_status status = op::resolve(rank, gptr, &entry);
        if (status == SENNIT_OK) status = op::check_range(*entry, gptr, 0);
        if (status != SENNIT_OK) return status;
        if (entry->base != nullptr) {
            place = entry->base + gptr.offset;
            return SENNIT_OK;
        }
        const char *path = sennit_path_name(static_cast<sennit_path>(entry->path));
        return fail_peer(SENNIT_ERR_UNSUPPORTED, gptr.rank, path,
                         "the path %s to this memory of rank %d has no load and store: use put "
                         "and get",
                         path, gptr.rank);
    });
    return place;
}

sennit_gptr sennit_gptr_of(const void *memory, int rank) {
    sennit_gptr place = SENNIT_GPTR_NULL;
    const sennit_status status = call(__func__, [&](Rank &own) {
        const sennit_status checked = check_world_rank(own, rank);
        return checked == SENNIT_OK ? find_place(own, memory, rank, &place) : checked;
    });
    return status == SENNIT_OK ? place : SENNIT_GPTR_NULL;
}

sennit_status sennit_segment_bytes(sennit_gptr gptr, size_t *bytes) {
    return call(__func__, [=](Rank &rank) {
        if (bytes == nullptr) return null_argument("bytes");
        memory::SegmentEntry *entry = nullptr;
        const sennit_status status = op::resolve(rank, gptr, &entry);
        if (status == SENNIT_OK) *bytes = entry->bytes;
        return status;
    });
}

}  // extern "C"
