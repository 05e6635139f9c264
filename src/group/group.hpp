// SPDX-License-Identifier: BSD-3-Clause
// Groups: ordered sets of world ranks, local to one rank. Called by api/. A handle has an index and
// a generation, so the handle of a destroyed group is detected. Threads of the rank may make all
// calls at the same time: the contents of a group never change, and are copied under the rank's
// cold mutex.
#pragma once

#include <sennit/group.h>

#include "base/array.hpp"
#include "base/fail.hpp"
#include "rank/rank.hpp"

namespace sennit::group {

// A list of world ranks, all different. Empty until filled.
class RankList {
  public:
    // Room for `count` ranks. Errors: NOMEM.
    sennit_status reserve(std::size_t count);
    void push(int rank) { ranks_[count_++] = rank; }
    // After reserve().
    void push(const int *ranks, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            push(ranks[i]);
    }
    std::size_t count() const { return count_; }
    int operator[](std::size_t place) const { return ranks_[place]; }
    const int *data() const { return ranks_; }

    // Passes the list to a new owner, and empties it.
    int *release() {
        count_ = 0;
        return ranks_.release();
    }

  private:
    Array<int> ranks_;
    std::size_t count_ = 0;
};

// The place of each world rank in a list. Errors of `fill`: NOMEM.
class Places {
  public:
    sennit_status fill(const Rank &rank, const RankList &list);
    // SENNIT_RANK_NONE if it is not in the list. `world_rank` must be valid.
    int of(int world_rank) const { return places_[world_rank]; }

  private:
    Array<int> places_;  // [size of the world]
};

// A copy of the group's ranks. Errors: ARG (no such group), NOMEM.
sennit_status group_read(Rank &rank, sennit_group group, RankList *list);

// Stores the list as a new group, and empties it. Errors: NOMEM.
sennit_status group_keep(Rank &rank, RankList *list, sennit_group *group);

// Errors: ARG (no such group).
sennit_status group_destroy(Rank &rank, sennit_group group);

// At the end of the rank.
void groups_close(Rank &rank);

}  // namespace sennit::group
