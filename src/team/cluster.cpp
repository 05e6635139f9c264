// SPDX-License-Identifier: BSD-3-Clause
#include "team/cluster.hpp"

namespace sennit::team {
namespace {

// Adds 1 to the line, which counts arrivals. True for the last member, which resets the count:
// nobody arrives again before it is released.
bool is_last(EpochLine &line, std::uint32_t size) {
    // SYNC barrier-count: the release of each member pairs with the acquire of the last one.
    const std::uint64_t arrived = line.epoch.fetch_add(1, std::memory_order_acq_rel) + 1;
    if (arrived < size) return false;
    // SYNC barrier-count: pairs with the releases of the others; everything that they did comes
    // before. relaxed: the releases that follow in arrive_at_cluster() order the reset.
    line.epoch.store(0, std::memory_order_relaxed);
    return true;
}

}  // namespace

void form_clusters(Rank &rank, Team &team) {
    for (std::uint32_t member = 0; member < team.size; ++member) {
        const int numa = rank.peers[team.world_ranks[member]].numa;
        std::uint32_t place = 0;
        while (place < team.cluster_count &&
               (team.clusters[place].numa != numa || team.clusters[place].size == kMostOfCluster))
            ++place;
        Cluster &cluster = team.clusters[place];
        if (place == team.cluster_count) {
            TeamSync *sync = sync_of(rank, team, member);
            cluster = {sync != nullptr ? &sync->cluster : nullptr, 0, numa};
            ++team.cluster_count;
        }
        ++cluster.size;
        if (member == team.rank) team.cluster = place;
    }
}

bool arrive_at_cluster(Team &team, std::uint64_t epoch) {
    const Cluster &own = team.clusters[team.cluster];
    const bool all_have_arrived = is_last(own.lines->arrived, own.size) &&
                                  is_last(team.clusters[0].lines->clusters, team.cluster_count);
    for (std::uint32_t i = 0; all_have_arrived && i < team.cluster_count; ++i)
        // SYNC barrier-release: pairs with the acquire in is_released(); everything that all
        // members did comes before.
        team.clusters[i].lines->released.epoch.store(epoch, std::memory_order_release);
    // Stored after the releases: a member that sees the arrival of the last member then knows that
    // all members are released.
    // SYNC barrier-arrival: pairs with the acquire in has_arrived(); the count comes before.
    team.own->arrived.epoch.store(epoch, std::memory_order_release);
    return all_have_arrived;
}

}  // namespace sennit::team
