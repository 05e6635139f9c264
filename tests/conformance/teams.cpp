#include "teams.hpp"

#include <algorithm>

namespace conformance {

namespace {

std::size_t part_of(const std::vector<int> &members, std::size_t bytes) {
    return bytes / members.size();
}

std::uint64_t salt_of(std::uint64_t salt, int from, int to) {
    return salt * 4096 + static_cast<std::uint64_t>(from * 64 + to);
}

}  // namespace

int place_in(const std::vector<int> &members, int world_rank) {
    const auto found = std::find(members.begin(), members.end(), world_rank);
    return found == members.end() ? SENNIT_RANK_NONE : static_cast<int>(found - members.begin());
}

void check_team(Ranks &test, sennit_team team, const std::vector<int> &members, Where where) {
    const int mine = place_in(members, test.rank);
    if (mine == SENNIT_RANK_NONE) {
        test.equal(team.handle, 0u, where);
        return;
    }
    int number = -7;
    test.ok(sennit_team_size(team, &number), where);
    test.equal(number, static_cast<int>(members.size()), where);
    test.ok(sennit_team_rank(team, &number), where);
    test.equal(number, mine, where);
    for (std::size_t place = 0; place < members.size(); ++place) {
        const auto rank = static_cast<int>(place);
        test.ok(sennit_team_world_rank(team, rank, &number), where);
        test.equal(number, members[place], where);
        test.ok(sennit_team_translate(team, rank, SENNIT_TEAM_WORLD, &number), where);
        test.equal(number, members[place], where);
    }
    for (int rank = 0; rank < test.size; ++rank) {
        test.ok(sennit_team_translate(SENNIT_TEAM_WORLD, rank, team, &number), where);
        test.equal(number, place_in(members, rank), where);
    }
    const auto size = static_cast<int>(members.size());
    for (const int wrong : {-1, size}) {
        test.is(sennit_team_world_rank(team, wrong, &number), SENNIT_ERR_RANGE, where);
        test.is(sennit_team_translate(team, wrong, team, &number), SENNIT_ERR_RANGE, where);
    }
}

void fill_pieces(Ranks &test, sennit_gptr gptr, const std::vector<int> &members, std::size_t bytes,
                 std::uint64_t salt, Where where) {
    const std::size_t part = part_of(members, bytes);
    const auto place = static_cast<std::size_t>(place_in(members, test.rank));
    std::vector<std::uint8_t> data(part);
    for (const int member : members) {
        fill(data.data(), part, salt_of(salt, test.rank, member));
        const sennit_gptr target =
            sennit_gptr_add(sennit_gptr_at(gptr, member), static_cast<std::int64_t>(part * place));
        test.ok(sennit_put(target, data.data(), part), where);
    }
}

void check_pieces(Ranks &test, sennit_gptr gptr, const std::vector<int> &members, std::size_t bytes,
                  std::uint64_t salt, Where where) {
    const std::size_t part = part_of(members, bytes);
    std::vector<std::uint8_t> data(part);
    for (std::size_t place = 0; place < members.size(); ++place) {
        const sennit_gptr source = sennit_gptr_add(sennit_gptr_at(gptr, test.rank),
                                                   static_cast<std::int64_t>(part * place));
        test.ok(sennit_get(data.data(), source, part), where);
        check_pattern(test, data.data(), part, salt_of(salt, members[place], test.rank), where);
    }
}

void use_team(Ranks &test, sennit_team team, const std::vector<int> &members, std::size_t bytes,
              Where where) {
    if (place_in(members, test.rank) == SENNIT_RANK_NONE) return;
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    test.ok(sennit_alloc(team, bytes, 0, 0, &gptr), where);
    test.equal(gptr.rank, test.rank, where);
    fill_pieces(test, gptr, members, bytes, bytes, where);
    test.ok(sennit_barrier(team, SENNIT_FOREVER), where);
    check_pieces(test, gptr, members, bytes, bytes, where);
    test.ok(sennit_free(gptr), where);
}

}  // namespace conformance
