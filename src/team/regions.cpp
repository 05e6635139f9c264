// See regions.hpp. Two exchanges: the regions, then whether each member reached all of them.
#include "team/regions.hpp"

#include <cstdlib>
#include <cstring>

#include "base/fail.hpp"
#include "op/resolve.hpp"
#include "runtime/wait.hpp"

namespace sennit::team {
namespace {

struct RegionLetter {
    sennit_region region;
    std::uint64_t status;
};
static_assert(sizeof(RegionLetter) == 32 && sizeof(RegionLetter) <= kExchangeBytes);

// The lowest member that failed decides what the others report; a member reports its own error.
sennit_status judge(const Team &team, sennit_status mine, const RegionLetter *all,
                    const char *what) {
    if (mine != SENNIT_OK) return mine;
    for (std::uint32_t member = 0; member < team.size; ++member) {
        const auto status = static_cast<sennit_status>(all[member].status);
        if (status == SENNIT_OK) continue;
        const int peer = team.world_ranks[member];
        return fail_peer(status, peer, "", "rank %d %s: %s", peer, what,
                         sennit_status_string(status));
    }
    return SENNIT_OK;
}

sennit_status reach_all(Rank &rank, const Team &team, const RegionLetter *offers) {
    for (std::uint32_t member = 0; member < team.size; ++member) {
        const sennit_region &region = offers[member].region;
        if (region.gptr.segment == 0) continue;
        memory::SegmentEntry *entry = nullptr;
        sennit_status status = op::resolve(rank, region.gptr, &entry);
        if (status == SENNIT_OK) status = op::check_range(*entry, region.gptr, region.bytes);
        if (status != SENNIT_OK) return status;
    }
    return SENNIT_OK;
}

// `offers` has room for two of each member.
sennit_status exchange_with(Rank &rank, Team &team, const RegionOffer &mine, RegionLetter *offers) {
    sennit_error error = *thread_error();
    RegionLetter offer{mine.region, static_cast<std::uint64_t>(mine.refused)};
    sennit_status status = exchange(
        rank, team, Exchange{Purpose::regions, &offer, sizeof offer, offers}, default_deadline());
    // A letter that could not be read is this rank's trouble alone: the others vote now.
    if (status != SENNIT_OK && !team.read_failed) return status;
    if (status == SENNIT_OK) {
        if (mine.refused != SENNIT_OK) *thread_error() = error;
        status = judge(team, mine.refused, offers, "has no region to give");
        if (status != SENNIT_OK) return status;
        status = reach_all(rank, team, offers);
    }
    error = *thread_error();
    RegionLetter *const votes = offers + team.size;
    offer.status = static_cast<std::uint64_t>(status);
    // A vote that was given can not be taken back: only the loss of a rank ends this wait.
    const sennit_status voted =
        exchange(rank, team, Exchange{Purpose::region_votes, &offer, sizeof offer, votes},
                 Deadline::never());
    if (voted == SENNIT_OK) {
        if (status != SENNIT_OK) *thread_error() = error;
        status = judge(team, status, votes, "does not reach all regions");
    } else {
        status = voted;
    }
    return status;
}

}  // namespace

sennit_status exchange_regions(Rank &rank, Team &team, const RegionOffer &offer,
                               sennit_region *regions) {
    auto *offers =
        static_cast<RegionLetter *>(std::calloc(2 * std::size_t{team.size}, sizeof(RegionLetter)));
    if (offers == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the regions of the ranks");
    const sennit_status status = exchange_with(rank, team, offer, offers);
    for (std::uint32_t member = 0; status == SENNIT_OK && member < team.size; ++member)
        regions[member] = offers[member].region;
    std::free(offers);
    return status;
}

}  // namespace sennit::team
