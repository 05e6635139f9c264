// Helpers for the tests of teams and groups: comparing a team with a list of world ranks, and using
// it.
#pragma once

#include "harness.hpp"

namespace conformance {

using Where = Ranks::Where;

// Checks that every query of the team agrees with the list of its world ranks. A rank outside the
// list must have got SENNIT_TEAM_NULL.
void check_team(Ranks &test, sennit_team team, const std::vector<int> &members,
                Where where = Where::current());

// Every member writes a part of every member's piece, and checks its own piece after the team's
// barrier. Collective over the team; other ranks return at once.
void use_team(Ranks &test, sennit_team team, const std::vector<int> &members, std::size_t bytes,
              Where where = Where::current());

// The two halves of use_team(): writes this rank's pattern into every piece of the team's segment,
// and checks every member's pattern in this rank's piece. Pieces have `bytes` bytes.
void fill_pieces(Ranks &test, sennit_gptr gptr, const std::vector<int> &members, std::size_t bytes,
                 std::uint64_t salt, Where where = Where::current());
void check_pieces(Ranks &test, sennit_gptr gptr, const std::vector<int> &members, std::size_t bytes,
                  std::uint64_t salt, Where where = Where::current());

// The place of a world rank in the list, or SENNIT_RANK_NONE.
int place_in(const std::vector<int> &members, int world_rank);

}  // namespace conformance
