// SPDX-License-Identifier: BSD-3-Clause
// Groups. Copies lists out of the rank's table, combines them and keeps the result as a new group.
#include "group/group.hpp"

#include <sennit/group.h>

#include "api/call.hpp"
#include "api/ranks.hpp"

namespace sennit::api {
namespace {

using group::Places;
using group::RankList;

sennit_status no_output() {
    return null_argument("the output");
}

sennit_status read_both(Rank &rank, sennit_group first, sennit_group second, RankList *a,
                        RankList *b) {
    const sennit_status status = group::group_read(rank, first, a);
    return status != SENNIT_OK ? status : group::group_read(rank, second, b);
}

// Makes a group of the members of `from` for which keep(world rank) is true.
template <class Keep>
sennit_status select(Rank &rank, const RankList &from, Keep keep, sennit_group *result) {
    RankList made;
    const sennit_status status = made.reserve(from.count());
    if (status != SENNIT_OK) return status;
    for (std::size_t i = 0; i < from.count(); ++i)
        if (keep(from[i])) made.push(from[i]);
    return group::group_keep(rank, &made, result);
}

enum class GroupOperation { unite, intersect, subtract };

sennit_status combine(Rank &rank, sennit_group first, sennit_group second, GroupOperation operation,
                      sennit_group *result) {
    if (result == nullptr) return no_output();
    RankList a;
    RankList b;
    Places in_a;
    Places in_b;
    sennit_status status = read_both(rank, first, second, &a, &b);
    if (status == SENNIT_OK) status = in_a.fill(rank, a);
    if (status == SENNIT_OK) status = in_b.fill(rank, b);
    if (status != SENNIT_OK) return status;
    if (operation == GroupOperation::unite) {
        RankList made;
        status = made.reserve(a.count() + b.count());
        if (status != SENNIT_OK) return status;
        made.push(a.data(), a.count());
        for (std::size_t i = 0; i < b.count(); ++i)
            if (in_a.of(b[i]) == SENNIT_RANK_NONE) made.push(b[i]);
        return group::group_keep(rank, &made, result);
    }
    const bool wanted = operation == GroupOperation::intersect;
    const auto keep = [&](int world_rank) {
        return (in_b.of(world_rank) != SENNIT_RANK_NONE) == wanted;
    };
    return select(rank, a, keep, result);
}

sennit_status create(Rank &rank, std::size_t count, const int ranks[], sennit_group *group) {
    if (group == nullptr) return no_output();
    sennit_status status = check_ranks(count, ranks, world_size(rank), "the world");
    RankList made;
    if (status == SENNIT_OK) status = made.reserve(count);
    if (status != SENNIT_OK) return status;
    made.push(ranks, count);
    return group::group_keep(rank, &made, group);
}

// Reads a group, and its members with the given numbers.
sennit_status read_members(Rank &rank, sennit_group group, std::size_t count, const int ranks[],
                           RankList *all, RankList *named) {
    sennit_status status = group::group_read(rank, group, all);
    if (status == SENNIT_OK)
        status = check_ranks(count, ranks, static_cast<int>(all->count()), "the group");
    if (status == SENNIT_OK) status = named->reserve(count);
    for (std::size_t i = 0; status == SENNIT_OK && i < count; ++i)
        named->push((*all)[static_cast<std::size_t>(ranks[i])]);
    return status;
}

sennit_status include(Rank &rank, sennit_group group, std::size_t count, const int ranks[],
                      sennit_group *result) {
    if (result == nullptr) return no_output();
    RankList from;
    RankList made;
    const sennit_status status = read_members(rank, group, count, ranks, &from, &made);
    return status != SENNIT_OK ? status : group::group_keep(rank, &made, result);
}

sennit_status exclude(Rank &rank, sennit_group group, std::size_t count, const int ranks[],
                      sennit_group *result) {
    if (result == nullptr) return no_output();
    RankList from;
    RankList without;
    Places unwanted;
    sennit_status status = read_members(rank, group, count, ranks, &from, &without);
    if (status == SENNIT_OK) status = unwanted.fill(rank, without);
    if (status != SENNIT_OK) return status;
    const auto keep = [&](int world_rank) { return unwanted.of(world_rank) == SENNIT_RANK_NONE; };
    return select(rank, from, keep, result);
}

sennit_status check_rank_of(const RankList &list, int rank) {
    if (rank >= 0 && static_cast<std::size_t>(rank) < list.count()) return SENNIT_OK;
    return fail(SENNIT_ERR_RANGE, "the group has %zu member%s and none with number %d",
                list.count(), plural(list.count()), rank);
}

sennit_status translate(Rank &rank, sennit_group from, std::size_t count, const int ranks[],
                        const Places &places, int translated[]) {
    RankList list;
    sennit_status status = group::group_read(rank, from, &list);
    for (std::size_t i = 0; status == SENNIT_OK && i < count; ++i)
        status = check_rank_of(list, ranks[i]);
    for (std::size_t i = 0; status == SENNIT_OK && i < count; ++i)
        translated[i] = places.of(list[static_cast<std::size_t>(ranks[i])]);
    return status;
}

sennit_status compare(Rank &rank, sennit_group first, sennit_group second,
                      sennit_group_relation *relation) {
    if (relation == nullptr) return no_output();
    RankList a;
    RankList b;
    Places in_b;
    sennit_status status = read_both(rank, first, second, &a, &b);
    if (status == SENNIT_OK) status = in_b.fill(rank, b);
    if (status != SENNIT_OK) return status;
    sennit_group_relation found = SENNIT_GROUP_IDENTICAL;
    if (a.count() != b.count()) found = SENNIT_GROUP_UNEQUAL;
    for (std::size_t i = 0; found != SENNIT_GROUP_UNEQUAL && i < a.count(); ++i) {
        if (in_b.of(a[i]) == SENNIT_RANK_NONE) {
            found = SENNIT_GROUP_UNEQUAL;
        } else if (a[i] != b[i]) {
            found = SENNIT_GROUP_SIMILAR;
        }
    }
    *relation = found;
    return SENNIT_OK;
}

// Sets *args for a team of the group's members, by their ranks in the parent.
sennit_status group_args(Rank &rank, const team::Team &parent, sennit_group group,
                         team::CreationArgs *args) {
    RankList world_ranks;
    RankList ranks;
    sennit_status status = group::group_read(rank, group, &world_ranks);
    if (status == SENNIT_OK) status = ranks.reserve(world_ranks.count());
    if (status != SENNIT_OK) return status;
    for (std::size_t i = 0; i < world_ranks.count(); ++i) {
        const int member = team::member_of(parent, world_ranks[i]);
        if (member == SENNIT_RANK_NONE)
            return fail(SENNIT_ERR_RANGE, "world rank %d of the group is no member of the parent",
                        world_ranks[i]);
        ranks.push(member);
    }
    args_for(parent, ranks.count(), ranks.data(), args);
    return SENNIT_OK;
}

}  // namespace
}  // namespace sennit::api

using namespace sennit;
using namespace sennit::api;

extern "C" {

sennit_status sennit_group_create(size_t count, const int ranks[], sennit_group *group) {
    return call(__func__, [=](Rank &rank) { return create(rank, count, ranks, group); });
}

sennit_status sennit_group_of_team(sennit_team team, sennit_group *group) {
    return team_call(__func__, team, [=](Rank &rank, team::Team &found) {
        return create(rank, found.size, found.world_ranks, group);
    });
}

sennit_status sennit_group_union(sennit_group first, sennit_group second, sennit_group *result) {
    return call(__func__, [=](Rank &rank) {
        return combine(rank, first, second, GroupOperation::unite, result);
    });
}

sennit_status sennit_group_intersection(sennit_group first, sennit_group second,
                                        sennit_group *result) {
    return call(__func__, [=](Rank &rank) {
        return combine(rank, first, second, GroupOperation::intersect, result);
    });
}

sennit_status sennit_group_difference(sennit_group first, sennit_group second,
                                      sennit_group *result) {
    return call(__func__, [=](Rank &rank) {
        return combine(rank, first, second, GroupOperation::subtract, result);
    });
}

sennit_status sennit_group_include(sennit_group group, size_t count, const int ranks[],
                                   sennit_group *result) {
    return call(__func__, [=](Rank &rank) { return include(rank, group, count, ranks, result); });
}

sennit_status sennit_group_exclude(sennit_group group, size_t count, const int ranks[],
                                   sennit_group *result) {
    return call(__func__, [=](Rank &rank) { return exclude(rank, group, count, ranks, result); });
}

sennit_status sennit_group_size(sennit_group group, int *size) {
    return call(__func__, [=](Rank &rank) {
        if (size == nullptr) return no_output();
        RankList list;
        const sennit_status status = group::group_read(rank, group, &list);
        if (status == SENNIT_OK) *size = static_cast<int>(list.count());
        return status;
    });
}

sennit_status sennit_group_rank(sennit_group group, int world_rank, int *rank) {
    return call(__func__, [=](Rank &self) {
        if (rank == nullptr) return no_output();
        sennit_status status = check_ranks(1, &world_rank, world_size(self), "the world");
        RankList list;
        if (status == SENNIT_OK) status = group::group_read(self, group, &list);
        if (status != SENNIT_OK) return status;
        *rank = SENNIT_RANK_NONE;
        for (std::size_t place = 0; place < list.count(); ++place)
            if (list[place] == world_rank) *rank = static_cast<int>(place);
        return SENNIT_OK;
    });
}

sennit_status sennit_group_world_rank(sennit_group group, int rank, int *world_rank) {
    return call(__func__, [=](Rank &self) {
        if (world_rank == nullptr) return no_output();
        RankList list;
        sennit_status status = group::group_read(self, group, &list);
        if (status == SENNIT_OK) status = check_rank_of(list, rank);
        if (status == SENNIT_OK) *world_rank = list[static_cast<std::size_t>(rank)];
        return status;
    });
}

sennit_status sennit_group_translate(sennit_group from, size_t count, const int ranks[],
                                     sennit_group to, int translated[]) {
    return call(__func__, [=](Rank &rank) {
        if (count != 0 && (ranks == nullptr || translated == nullptr))
            return null_argument("ranks or translated");
        RankList list;
        Places places;
        sennit_status status = group::group_read(rank, to, &list);
        if (status == SENNIT_OK) status = places.fill(rank, list);
        if (status == SENNIT_OK) status = translate(rank, from, count, ranks, places, translated);
        return status;
    });
}

sennit_status sennit_group_compare(sennit_group first, sennit_group second,
                                   sennit_group_relation *relation) {
    return call(__func__, [=](Rank &rank) { return compare(rank, first, second, relation); });
}

sennit_status sennit_team_create_group(sennit_team parent, sennit_group group, sennit_team *team) {
    return creation_call(__func__, parent, team,
                         [=](Rank &rank, team::Team &found, team::CreationArgs *args) {
                             return group_args(rank, found, group, args);
                         });
}

sennit_status sennit_group_destroy(sennit_group group) {
    return call(__func__, [=](Rank &rank) { return group::group_destroy(rank, group); });
}

}  // extern "C"
