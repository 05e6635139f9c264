// What the tests of teams and groups have in common: comparing a team with a list of world ranks,
// and using it.
#pragma once

#include "harness.hpp"

namespace conformance {

using Where = Ranks::Where;

// Does everything that asks about the team answer as the list of its world ranks says? A rank that
// is not in the list must have got SENNIT_TEAM_NULL.
void check_team(Ranks &test, sennit_team team, const std::vector<int> &members,
                Where where = Where::current());

// Every member writes a part of every member's piece, which all check after the team's barrier.
// Collective over the team; other ranks return at once.
void use_team(Ranks &test, sennit_team team, const std::vector<int> &members, std::size_t bytes,
              Where where = Where::current());

// The two halves of that: this rank's pattern into everybody's piece of the team's segment, and
// everybody's pattern in this rank's piece. Pieces have `bytes` bytes.
void fill_pieces(Ranks &test, sennit_gptr gptr, const std::vector<int> &members, std::size_t bytes,
                 std::uint64_t salt, Where where = Where::current());
void check_pieces(Ranks &test, sennit_gptr gptr, const std::vector<int> &members, std::size_t bytes,
                  std::uint64_t salt, Where where = Where::current());

// The place of a world rank in the list, or SENNIT_RANK_NONE.
int place_in(const std::vector<int> &members, int world_rank);

}  // namespace conformance
