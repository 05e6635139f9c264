// Groups against lists of world ranks. No rank is told anything, so every rank draws its own.
#include <algorithm>
#include <numeric>

#include "teams.hpp"

using namespace conformance;

namespace {

using List = std::vector<int>;

bool contains(const List &list, int rank) {
    return place_in(list, rank) != SENNIT_RANK_NONE;
}

// Some world ranks in a random order.
List draw_list(Ranks &it) {
    List list;
    for (int rank = 0; rank < it.size; ++rank)
        if (!it.own.one_in(3)) list.push_back(rank);
    for (std::size_t i = list.size(); i > 1; --i)
        std::swap(list[i - 1], list[it.own.below(i)]);
    return list;
}

sennit_group make(Ranks &it, const List &list) {
    sennit_group group = SENNIT_GROUP_NULL;
    it.ok(sennit_group_create(list.size(), list.data(), &group));
    return group;
}

void check_group(Ranks &it, sennit_group group, const List &list, Where where = Where::current()) {
    int number = -7;
    it.ok(sennit_group_size(group, &number), where);
    it.equal(number, static_cast<int>(list.size()), where);
    for (std::size_t place = 0; place < list.size(); ++place) {
        it.ok(sennit_group_world_rank(group, static_cast<int>(place), &number), where);
        it.equal(number, list[place], where);
    }
    for (int rank = 0; rank < it.size; ++rank) {
        it.ok(sennit_group_rank(group, rank, &number), where);
        it.equal(number, place_in(list, rank), where);
    }
    number = 0x6B;
    for (const int wrong : {-1, static_cast<int>(list.size())})
        it.is(sennit_group_world_rank(group, wrong, &number), SENNIT_ERR_RANGE, where);
    for (const int wrong : {-1, it.size})
        it.is(sennit_group_rank(group, wrong, &number), SENNIT_ERR_RANGE, where);
    it.equal(number, 0x6B, where);
}

// Checks a new group against its list, and frees it.
void expect(Ranks &it, sennit_status status, sennit_group group, const List &list,
            Where where = Where::current()) {
    it.ok(status, where);
    check_group(it, group, list, where);
    it.ok(sennit_group_destroy(group), where);
}

sennit_group_relation relation_of(const List &a, const List &b) {
    if (a == b) return SENNIT_GROUP_IDENTICAL;
    List sorted_a = a;
    List sorted_b = b;
    std::sort(sorted_a.begin(), sorted_a.end());
    std::sort(sorted_b.begin(), sorted_b.end());
    return sorted_a == sorted_b ? SENNIT_GROUP_SIMILAR : SENNIT_GROUP_UNEQUAL;
}

void combine_two(Ranks &it, const List &a, const List &b) {
    const sennit_group first = make(it, a);
    const sennit_group second = make(it, b);
    List all = a;
    List both;
    List rest;
    for (const int rank : b)
        if (!contains(a, rank)) all.push_back(rank);
    for (const int rank : a)
        (contains(b, rank) ? both : rest).push_back(rank);
    sennit_group result = SENNIT_GROUP_NULL;
    sennit_status status = sennit_group_union(first, second, &result);
    expect(it, status, result, all);
    status = sennit_group_intersection(first, second, &result);
    expect(it, status, result, both);
    status = sennit_group_difference(first, second, &result);
    expect(it, status, result, rest);
    sennit_group_relation relation{};
    it.ok(sennit_group_compare(first, second, &relation));
    it.equal(static_cast<int>(relation), static_cast<int>(relation_of(a, b)));
    it.ok(sennit_group_destroy(first));
    it.ok(sennit_group_destroy(second));
}

void select_from(Ranks &it, const List &list) {
    const sennit_group group = make(it, list);
    List places(list.size());
    std::iota(places.begin(), places.end(), 0);
    for (std::size_t i = places.size(); i > 1; --i)
        std::swap(places[i - 1], places[it.own.below(i)]);
    places.resize(it.own.below(places.size() + 1));
    List chosen;
    for (const int place : places)
        chosen.push_back(list[static_cast<std::size_t>(place)]);
    List rest;
    for (const int rank : list)
        if (!contains(chosen, rank)) rest.push_back(rank);
    sennit_group result = SENNIT_GROUP_NULL;
    sennit_status status = sennit_group_include(group, places.size(), places.data(), &result);
    expect(it, status, result, chosen);
    status = sennit_group_exclude(group, places.size(), places.data(), &result);
    expect(it, status, result, rest);
    it.ok(sennit_group_destroy(group));
}

void translate_between(Ranks &it, const List &a, const List &b) {
    const sennit_group from = make(it, a);
    const sennit_group to = make(it, b);
    List numbers(a.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    it.ok(sennit_group_translate(from, numbers.size(), numbers.data(), to, numbers.data()));
    for (std::size_t i = 0; i < a.size(); ++i)
        it.equal(numbers[i], place_in(b, a[i]));
    int wrong[] = {static_cast<int>(a.size())};
    int out[] = {0x6B};
    it.is(sennit_group_translate(from, 1, wrong, to, out), SENNIT_ERR_RANGE);
    it.equal(out[0], 0x6B);
    it.ok(sennit_group_destroy(from));
    it.ok(sennit_group_destroy(to));
}

}  // namespace

// Broken by an operation of sets that loses the order, or a member.
RANK_TEST(group, random_groups_agree_with_lists_of_ranks, kAnything) {
    const std::uint64_t steps = std::min<std::uint64_t>(it.chosen.most_steps, it.quick ? 40 : 400);
    for (std::uint64_t i = 0; i < steps; ++i) {
        const List a = draw_list(it);
        const List b = it.own.one_in(4) ? a : draw_list(it);
        combine_two(it, a, b);
        select_from(it, a);
        translate_between(it, a, b);
    }
}

// Broken by a group that a team and its group see in another order.
RANK_TEST(group, the_group_of_a_team_has_its_members_in_its_order, kAnything) {
    sennit_team team = SENNIT_TEAM_NULL;
    it.ok(sennit_team_split(SENNIT_TEAM_WORLD, it.rank % 2, -it.rank, &team));
    List members;
    for (int rank = it.size - 1; rank >= 0; --rank)
        if (rank % 2 == it.rank % 2) members.push_back(rank);
    sennit_group group = SENNIT_GROUP_NULL;
    it.ok(sennit_group_of_team(team, &group));
    check_group(it, group, members);
    it.ok(sennit_team_destroy(team));
    check_group(it, group, members);
    // Ranks that the parent lacks are no members of a team made from it.
    it.ok(sennit_team_split(SENNIT_TEAM_WORLD, it.rank, 0, &team));
    if (members.size() > 1) {
        sennit_team other{77};
        it.is(sennit_team_create_group(team, group, &other), SENNIT_ERR_RANGE);
        it.equal(other.handle, 77u);
    }
    it.ok(sennit_group_destroy(group));
    it.ok(sennit_team_destroy(team));
}

// Broken by a handle that is found again, or by places that are not given away again.
RANK_TEST(group, a_destroyed_group_is_refused, kAnything) {
    std::vector<sennit_group> old;
    for (int i = 0; i < 200; ++i) {
        const sennit_group group = make(it, {0});
        for (const sennit_group before : old)
            it.require(before.handle != group.handle, "handles differ");
        int number = 0x6B;
        it.ok(sennit_group_destroy(group));
        it.is(sennit_group_destroy(group), SENNIT_ERR_ARG);
        it.is(sennit_group_size(group, &number), SENNIT_ERR_ARG);
        it.equal(number, 0x6B);
        old.push_back(group);
    }
    it.is(sennit_group_destroy(SENNIT_GROUP_NULL), SENNIT_ERR_ARG);
    // As many at once as it takes to make the table grow.
    std::vector<sennit_group> held;
    for (int i = 0; i < 100; ++i)
        held.push_back(make(it, {i % it.size}));
    for (int i = 0; i < 100; ++i)
        check_group(it, held[static_cast<std::size_t>(i)], {i % it.size});
    // Half of them end with the rank.
    for (int i = 0; i < 50; ++i)
        it.ok(sennit_group_destroy(held[static_cast<std::size_t>(i)]));
}

// Broken by empty groups that are no groups.
RANK_TEST(group, an_empty_group_is_one, kAnything) {
    const sennit_group group = make(it, {});
    check_group(it, group, {});
    sennit_team team{77};
    it.ok(sennit_team_create_group(SENNIT_TEAM_WORLD, group, &team));
    it.equal(team.handle, 0u);
    it.ok(sennit_group_destroy(group));
}
