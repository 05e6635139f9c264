// SPDX-License-Identifier: BSD-3-Clause
// The barrier of large teams by load and store. The members form clusters of at most kMostOfCluster
// that share a NUMA node. Each member counts itself in its cluster, the last one in a cluster
// counts the cluster, and the last one of all releases every cluster. So a rank touches the words
// of one or two members, not of all. Only the last one does anything for others, so no member needs
// another turn on the processor. Called by barrier.cpp; design and failures:
// docs/design/collectives.md.
#pragma once

#include "team/team.hpp"

namespace sennit::team {

// Teams up to this size check the lines of all members.
inline constexpr std::uint32_t kMostOfCluster = 16;

struct Cluster {
    ClusterLines *lines;  // of its first member
    std::uint32_t size;
    int numa;
};

// Called when the team is made: equal on all members. Fills team.clusters, which has room for one
// per member.
void form_clusters(Rank &rank, Team &team);

// Counts this rank in. True: all have arrived, and this rank was the last.
bool arrive_at_cluster(Team &team, std::uint64_t epoch);

inline bool is_released(const Team &team, std::uint64_t epoch) {
    // SYNC barrier-release: pairs with the release in arrive_at_cluster().
    return team.clusters[team.cluster].lines->released.epoch.load(std::memory_order_acquire) >=
           epoch;
}

}  // namespace sennit::team
