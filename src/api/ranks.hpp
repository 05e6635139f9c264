// SPDX-License-Identifier: BSD-3-Clause
// Lists of ranks as arguments of calls that make groups and teams.
#pragma once

#include "api/call.hpp"
#include "base/hash.hpp"
#include "group/group.hpp"
#include "team/create.hpp"

namespace sennit::api {

// Checks that every number is in 0 .. limit-1 and occurs once. `where` names the set of ranks for
// errors. Errors: ARG (null, or a rank twice), RANGE, NOMEM.
sennit_status check_ranks(std::size_t count, const int ranks[], int limit, const char *where);

// A hash over arguments that must be equal on all ranks. It detects a difference unless two lists
// have the same hash by accident.
class Digest {
  public:
    explicit Digest(std::uint64_t kind) { add(kind); }
    void add(std::uint64_t value) { sum_ = hash_on(sum_, &value, sizeof value); }
    void add(int value) { add(static_cast<std::uint64_t>(static_cast<std::int64_t>(value))); }
    std::uint64_t sum() const { return sum_; }

  private:
    std::uint64_t sum_ = kHashOfNothing;
};

// The kinds of creation. They are hashed, so that ranks in different calls detect the difference.
enum CreationKind : std::uint64_t {
    kOfRanks = 1,
    kSplit = 2,
    kStrided = 3,
    kByLocality = 4,
    kGrid
};

// The common last part of public functions that make a team. Takes ownership of args.grid.
sennit_status create_team(Rank &rank, team::Team &parent, sennit_team handle,
                          const team::CreationArgs &args, sennit_team *team);

// Runs a public function that makes a team. `fill` sets the arguments and returns this rank's own
// error. A rank with an error takes part, too, so that the others do not wait for it.
template <class Fill>
sennit_status creation_call(const char *name, sennit_team parent, sennit_team *team, Fill fill) {
    return team_call(name, parent, [&](Rank &rank, team::Team &found) {
        team::CreationArgs args;
        args.refused = fill(rank, found, &args);
        if (args.refused == SENNIT_OK && team == nullptr) args.refused = null_argument("team");
        const runtime::Observed observed(rank, name);
        return create_team(rank, found, parent, args, team);
    });
}

// Sets *args for a team of the parent's members with these numbers.
void args_for(const team::Team &parent, std::size_t count, const int ranks[],
              team::CreationArgs *args);

}  // namespace sennit::api
