// SPDX-License-Identifier: BSD-3-Clause
// Two exchanges: in the first each member sends its region, in the second whether it reaches all
// regions.
#include "team/regions.hpp"

#include <cstdlib>
#include <cstring>

#include "base/fail.hpp"
#include "op/resolve.hpp"
#include "runtime/wait.hpp"

namespace sennit::team {
namespace {

struct RegionMessage {
    sennit_region region;
    std::uint64_t status;
};
static_assert(sizeof(RegionMessage) == 32 && sizeof(RegionMessage) <= kExchangeBytes);

// A failed member reports its own error, the others that of the lowest failed member.
sennit_status first_failure(const Team &team, sennit_status mine, const RegionMessage *all,
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

sennit_status reach_all(Rank &rank, const Team &team, const RegionMessage *offers) {
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

// An exchange of regions in progress. In memory, the offers of all members and then their votes
// follow it.
struct RegionExchange {
    RegionMessage offer;
    RegionMessage vote;
    sennit_error error;  // why this rank votes no
};

RegionMessage *offers_of(RegionExchange &all) {
    return reinterpret_cast<RegionMessage *>(&all + 1);
}

// The first exchange. `*votes`: the second exchange follows.
sennit_status offer_regions(Rank &rank, Team &team, RegionExchange &all, bool *votes) {
    const sennit_error error = *thread_error();
    const auto refused = static_cast<sennit_status>(all.offer.status);
    const Exchange what{Purpose::regions, &all.offer, sizeof all.offer, offers_of(all)};
    sennit_status status = exchange(rank, team, what, default_deadline());
    // If only this rank could not read a message, the others vote now, so it votes too.
    *votes = team.read_failed;
    if (status == SENNIT_OK) {
        if (refused != SENNIT_OK) *thread_error() = error;
        status = first_failure(team, refused, offers_of(all), "has no region to give");
        *votes = status == SENNIT_OK;
        if (*votes) status = reach_all(rank, team, offers_of(all));
    }
    all.vote = {all.offer.region, static_cast<std::uint64_t>(status)};
    all.error = *thread_error();
    return status;
}

sennit_status vote(Rank &rank, Team &team, RegionExchange &all) {
    const auto mine = static_cast<sennit_status>(all.vote.status);
    RegionMessage *const votes = offers_of(all) + team.size;
    const Exchange what{Purpose::region_votes, &all.vote, sizeof all.vote, votes};
    const sennit_status status = exchange(rank, team, what, binding_deadline(team));
    if (status != SENNIT_OK) return status;
    if (mine != SENNIT_OK) *thread_error() = all.error;
    return first_failure(team, mine, votes, "does not reach all regions");
}

// A new exchange, or the one whose votes timed out; only the same call continues it.
sennit_status take_exchange(Rank &rank, Team &team, const RegionOffer &offer,
                            RegionExchange **out) {
    const RegionMessage mine{offer.region, static_cast<std::uint64_t>(offer.refused)};
    if (is_bound(team)) {
        auto *all = static_cast<RegionExchange *>(team.unfinished);
        if (team.purpose != Purpose::region_votes ||
            std::memcmp(&all->offer, &mine, sizeof mine) != 0)
            return fail_unfinished(rank, team);
        team.unfinished = nullptr;
        *out = all;
        return SENNIT_OK;
    }
    const std::size_t bytes =
        sizeof(RegionExchange) + 2 * std::size_t{team.size} * sizeof(RegionMessage);
    *out = static_cast<RegionExchange *>(std::calloc(1, bytes));
    if (*out == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for the regions of the ranks");
    (*out)->offer = mine;
    return SENNIT_OK;
}

}  // namespace

sennit_status exchange_regions(Rank &rank, Team &team, const RegionOffer &offer,
                               sennit_region *regions) {
    RegionExchange *all = nullptr;
    bool votes = is_bound(team);
    sennit_status status = take_exchange(rank, team, offer, &all);
    if (status != SENNIT_OK) return status;
    if (!votes) status = offer_regions(rank, team, *all, &votes);
    if (votes) status = vote(rank, team, *all);
    if (status == SENNIT_ERR_TIMEOUT && is_bound(team)) {
        team.unfinished = all;
        return status;
    }
    for (std::uint32_t member = 0; status == SENNIT_OK && member < team.size; ++member)
        regions[member] = offers_of(*all)[member].region;
    std::free(all);
    return status;
}

}  // namespace sennit::team
