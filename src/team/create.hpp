// SPDX-License-Identifier: BSD-3-Clause
// Makes a team of a parent's members, and ends one. Owns the registry: the slots that this rank has
// taken, and the latest numbers and generations of each slot.
//
// A creation is two exchanges over the parent: first each rank's arguments and free slots, then
// whether each rank could make its part. If one could not, all undo theirs. A rank that has taken a
// slot waits only for ranks that have entered the same creation. So creations over several teams at
// once, in any order, do not block each other. If two of them choose the same slot and share a
// rank, at least one fails to take it there, and chooses again.
#pragma once

#include <pthread.h>

#include "base/mutex.hpp"
#include "group/grid.hpp"
#include "rank/part.hpp"
#include "team/team.hpp"

namespace sennit::team {
struct Registry;
}
template <>
struct sennit::PartType<sennit::Part::team_registry> {
    using Type = sennit::team::Registry;
};

namespace sennit::team {

inline constexpr std::size_t kSlotWords = kTeamSlots / 64;

// Made zeroed. Only creations and destructions of teams access the last two arrays.
struct Registry {
    pthread_mutex_t lock;                   // for all fields below
    std::uint64_t used[kSlotWords];         // slots of this rank's teams, and unusable slots
    std::uint64_t creating[kSlotWords];     // slots of the parents of creations in progress
    std::uint64_t numbers[kTeamSlots];      // the epochs of the slot's next team are higher
    std::uint64_t generations[kTeamSlots];  // of the slot's last team
};

class RegistryLock : private MutexLock {
  public:
    explicit RegistryLock(Rank &rank) : MutexLock(rank.team_registry->lock) {}
};

// Errors: NOMEM.
sennit_status registry_open(Rank &rank);
void registry_close(Rank &rank);

struct CreationArgs {
    int color = SENNIT_COLOR_NONE;      // the team that this rank joins; negative: none
    int key = 0;                        // order in the team; equal ones in the parent's order
    std::uint64_t digest = 0;           // of the arguments that must be equal on all ranks
    sennit_status refused = SENNIT_OK;  // the error of this rank's arguments
    group::Grid *grid = nullptr;        // moved to the new team if this rank joins one
};

// Collective over `parent`; needs a CollectiveCall. `*handle` is 0 for a rank that joins no team.
// Errors: ARG (digests differ, other collective calls), NOMEM, OS, OTHER_NODE, STATE, TIMEOUT,
// PEER_LOST, and the reason of a rank that refused.
sennit_status create(Rank &rank, Team &parent, const CreationArgs &args, std::uint32_t *handle);

// Collective over the team; synchronises its members. Needs a CollectiveCall. Errors: STATE (it has
// segments, or another call is unfinished), ARG (other collective calls), NOMEM, TIMEOUT: the team
// stays. After other errors, or if a member's message could not be read, this rank's part is freed.
sennit_status destroy(Rank &rank, Team &team);
// Frees the slot of a destroyed team for reuse. Called after the CollectiveCall has ended and no
// state of the team is left.
void free_slot(Rank &rank, std::uint32_t slot);

}  // namespace sennit::team
