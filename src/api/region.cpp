// SPDX-License-Identifier: BSD-3-Clause
// Registers existing memory, attaches and detaches regions, and explains by which mechanism a
// region is shared.
#include <sennit/memory.h>

#include <cstdio>

#include "api/call.hpp"
#include "memory/registration.hpp"
#include "memory/xpmem.hpp"
#include "op/peer_memory.hpp"
#include "op/region.hpp"
#include "op/resolve.hpp"
#include "team/regions.hpp"

namespace sennit::api {
namespace {

// Checks that the region belongs to a rank of the world.
sennit_status check_owner(const Rank &rank, sennit_region region) {
    if (sennit_gptr_is_null(region.gptr)) return op::fail_null_region();
    return check_world_rank(rank, region.gptr.rank);
}

sennit_status detach(Rank &rank, sennit_region region) {
    const int peer = region.gptr.rank;
    const sennit_status checked = check_owner(rank, region);
    if (checked != SENNIT_OK) return checked;
    if (peer == rank.world_rank)
        return fail(SENNIT_ERR_ARG, "the region belongs to the caller: use sennit_deregister");
    // A region in a team's segment is attached with that segment.
    if (memory::team_slot_of(region.gptr.segment) != memory::kLocalSlot)
        return op::check_region(rank, region);
    const ColdLock lock(rank);
    const memory::SegmentEntry *entry =
        memory::entry_at(rank, size_of(rank), region.gptr.segment, peer);
    if (entry == nullptr || region.gptr.segment == 0 || entry->id() != region.gptr.segment)
        return fail_peer(SENNIT_ERR_NOT_REGISTERED, peer, "",
                         "segment %#x of rank %d is not attached here", region.gptr.segment, peer);
    op::detach_segment(rank, peer, region.gptr.segment);
    return SENNIT_OK;
}

sennit_status check_offer(Rank &rank, sennit_region region, const sennit_region *regions) {
    if (regions == nullptr) return null_argument("regions");
    if (region.gptr.segment == 0) return SENNIT_OK;
    return op::check_region(rank, region);
}

// Records use the numbers of the interface.
static_assert(static_cast<int>(Mechanism::none) == SENNIT_MECHANISM_NONE &&
              static_cast<int>(Mechanism::file) == SENNIT_MECHANISM_ALLOCATED &&
              static_cast<int>(Mechanism::same_process) == SENNIT_MECHANISM_INPROC &&
              static_cast<int>(Mechanism::xpmem) == SENNIT_MECHANISM_XPMEM &&
              static_cast<int>(Mechanism::adopted) == SENNIT_MECHANISM_ADOPT &&
              static_cast<int>(Mechanism::copied) == SENNIT_MECHANISM_CMA);

// Reads the owner's record of the region's segment.
sennit_status look_up(Rank &rank, sennit_region region, SegmentRecord *record) {
    const sennit_status checked = check_owner(rank, region);
    if (checked != SENNIT_OK) return checked;
    if (memory::team_slot_of(region.gptr.segment) == memory::kLocalSlot)
        return op::read_segment(rank, region.gptr, record);
    record->mechanism = Mechanism::file;
    return op::check_region(rank, region);
}

// How this rank reaches a region: by the mechanism that the owner offers, or by copies of the
// kernel if the owner offers XPMEM and this rank cannot attach it.
struct RegionAccess {
    SegmentRecord record{};
    Mechanism mechanism = Mechanism::none;
    std::uint8_t attach_errno = 0;

    bool is_as_offered() const { return mechanism == record.mechanism; }
};

sennit_status find_access(Rank &rank, sennit_region region, RegionAccess *access) {
    sennit_status status = look_up(rank, region, &access->record);
    if (status != SENNIT_OK) return status;
    access->mechanism = access->record.mechanism;
    if (access->mechanism != Mechanism::xpmem || region.gptr.rank == rank.world_rank)
        return SENNIT_OK;
    memory::SegmentEntry *entry = nullptr;
    status = op::resolve(rank, region.gptr, &entry);
    if (status != SENNIT_OK || entry->base != nullptr) return status;
    access->mechanism = Mechanism::copied;
    access->attach_errno = entry->attach_errno;
    return SENNIT_OK;
}

// Why this rank copies although the owner offers XPMEM. `wanted`: XPMEM or adoption.
memory::Refused copied_instead(const RegionAccess &access, Mechanism wanted) {
    using memory::Refusal;
    if (wanted == Mechanism::adopted) return {Refusal::other_taken, 0};
    memory::Refused why;
    if (memory::xpmem_calls(&why) == nullptr) return why;
    return {Refusal::not_attached, access.attach_errno};
}

sennit_status explain(Rank &rank, sennit_region region, sennit_mechanism candidate, char *text,
                      std::size_t bytes) {
    RegionAccess access;
    const sennit_status status = find_access(rank, region, &access);
    if (status != SENNIT_OK) return status;
    const SegmentRecord &record = access.record;
    const auto wanted = static_cast<Mechanism>(candidate);
    if (access.mechanism == wanted) {
        (void)std::snprintf(text, bytes, "taken");
    } else if (!access.is_as_offered() &&
               (wanted == Mechanism::xpmem || wanted == Mechanism::adopted)) {
        memory::refusal_text(copied_instead(access, wanted), text, bytes);
    } else if (record.mechanism == Mechanism::file) {
        (void)std::snprintf(text, bytes, "the memory is allocated by Sennit");
    } else if (wanted == Mechanism::file) {
        (void)std::snprintf(text, bytes, "the memory is not allocated by Sennit");
    } else {
        const auto refused = memory::registration_refusal(record, wanted);
        memory::refusal_text(refused, text, bytes);
    }
    return SENNIT_OK;
}

}  // namespace
}  // namespace sennit::api

using namespace sennit;
using namespace sennit::api;

extern "C" {

sennit_status sennit_register(void *memory, size_t bytes, unsigned flags, sennit_region *region) {
    const char *const name = __func__;
    // The program's stack frames lie above the frame of this function.
    const auto frames = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    return call(name, [=](Rank &rank) {
        if (region == nullptr) return null_argument("region");
        if ((flags & ~(SENNIT_REGISTER_SHARED_PAGES | SENNIT_REGISTER_STACK)) != 0)
            return fail(SENNIT_ERR_ARG, "flags %#x are unknown", flags);
        const runtime::Observed observed(rank, name, runtime::kNobody, bytes,
                                         runtime::Noted::allocation);
        const memory::RegistrationArgs args{memory, bytes,
                                            (flags & SENNIT_REGISTER_SHARED_PAGES) != 0,
                                            (flags & SENNIT_REGISTER_STACK) != 0 ? frames : 0};
        return op::register_region(rank, args, region);
    });
}

sennit_status sennit_deregister(sennit_region region) {
    return noted_call(__func__, [=](Rank &rank) { return op::deregister_region(rank, region); });
}

sennit_status sennit_region_attach(sennit_team team, sennit_region region,
                                   sennit_region regions[]) {
    const char *const name = __func__;
    return team_call(name, team, [=](Rank &rank, team::Team &found) {
        const team::CollectiveCall turn(found, team.handle);
        if (turn.status() != SENNIT_OK) return turn.status();
        // A rank with wrong arguments takes part and reports its error, so that no other rank
        // waits.
        const team::RegionOffer offer{region, check_offer(rank, region, regions)};
        const runtime::Observed observed(rank, name, runtime::kNobody, region.bytes,
                                         runtime::Noted::allocation);
        return team::exchange_regions(rank, found, offer, regions);
    });
}

sennit_status sennit_region_detach(sennit_region region) {
    const char *const name = __func__;
    return call(name, [=](Rank &rank) {
        const runtime::Observed observed(rank, name, region.gptr.rank);
        return detach(rank, region);
    });
}

sennit_status sennit_region_mechanism(sennit_region region, sennit_mechanism *mechanism) {
    return call(__func__, [=](Rank &rank) {
        if (mechanism == nullptr) return null_argument("mechanism");
        RegionAccess access;
        const sennit_status status = find_access(rank, region, &access);
        if (status == SENNIT_OK) *mechanism = static_cast<sennit_mechanism>(access.mechanism);
        return status;
    });
}

sennit_status sennit_region_reason(sennit_region region, sennit_mechanism candidate, char *text,
                                   size_t bytes) {
    return call(__func__, [=](Rank &rank) {
        if (check_text(text, bytes) != SENNIT_OK) return SENNIT_ERR_ARG;
        if (candidate <= SENNIT_MECHANISM_NONE || candidate >= SENNIT_MECHANISM_END)
            return fail(SENNIT_ERR_ARG, "there is no mechanism %d", static_cast<int>(candidate));
        return explain(rank, region, candidate, text, bytes);
    });
}

const char *sennit_mechanism_name(sennit_mechanism mechanism) {
    const bool is_one = static_cast<unsigned>(mechanism) < SENNIT_MECHANISM_END;
    return is_one ? memory::mechanism_name(static_cast<Mechanism>(mechanism)) : "unknown";
}

}  // extern "C"
