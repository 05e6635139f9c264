// SPDX-License-Identifier: BSD-3-Clause
// The barrier of large teams by load and store. The members form clusters of at most kMostOfCluster
// members on one NUMA node. Each member adds 1 to the count of its cluster. The last one in a
// cluster adds 1 to the count of complete clusters, and the last one of all releases every cluster.
// So a member uses the lines of at most two clusters, and only the last one uses those of all. A
// member that has arrived does nothing for others, so it need not be scheduled again for them.
// Design and failures: docs/design/collectives.md.
#pragma once

#include "team/team.hpp"

namespace sennit::team {

// The most members of a cluster. A team of at most this size has no clusters: each member checks
// the arrival lines of all others (Way::flat).
inline constexpr std::uint32_t kMostOfCluster = 16;

struct Cluster {
    ClusterLines *lines;  // of its first member
    std::uint32_t size;
    int numa;
};

// Called when the team is made. The clusters are equal on all members. Fills team.clusters, an
// array of team.size: there may be as many clusters as members.
void form_clusters(Rank &rank, Team &team);

// This rank arrives. True: it was the last one, and has released all members.
bool arrive_at_cluster(Team &team, std::uint64_t epoch);

inline bool is_released(const Team &team, std::uint64_t epoch) {
    // SYNC barrier-release: pairs with the release in arrive_at_cluster().
    return team.clusters[team.cluster].lines->released.epoch.load(std::memory_order_acquire) >=
           epoch;
}

}  // namespace sennit::team
