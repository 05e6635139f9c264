// Groups, compared with lists of world ranks. Groups are local, so every rank draws its own.
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
List draw_list(Ranks &test) {
    List list;
    for (int rank = 0; rank < test.size; ++rank)
        if (!test.own.one_in(3)) list.push_back(rank);
    for (std::size_t i = list.size(); i > 1; --i)
        std::swap(list[i - 1], list[test.own.below(i)]);
    return list;
}

sennit_group make(Ranks &test, const List &list) {
    sennit_group group = SENNIT_GROUP_NULL;
    test.ok(sennit_group_create(list.size(), list.data(), &group));
    return group;
}

void check_group(Ranks &test, sennit_group group, const List &list,
                 Where where = Where::current()) {
    int number = -7;
    test.ok(sennit_group_size(group, &number), where);
    test.equal(number, static_cast<int>(list.size()), where);
    for (std::size_t place = 0; place < list.size(); ++place) {
        test.ok(sennit_group_world_rank(group, static_cast<int>(place), &number), where);
        test.equal(number, list[place], where);
    }
    for (int rank = 0; rank < test.size; ++rank) {
        test.ok(sennit_group_rank(group, rank, &number), where);
        test.equal(number, place_in(list, rank), where);
    }
    number = 0x6B;
    for (const int wrong : {-1, static_cast<int>(list.size())})
        test.is(sennit_group_world_rank(group, wrong, &number), SENNIT_ERR_RANGE, where);
    for (const int wrong : {-1, test.size})
        test.is(sennit_group_rank(group, wrong, &number), SENNIT_ERR_RANGE, where);
    test.equal(number, 0x6B, where);
}

// Checks a new group against its list, and frees it.
void expect(Ranks &test, sennit_status status, sennit_group group, const List &list,
            Where where = Where::current()) {
    test.ok(status, where);
    check_group(test, group, list, where);
    test.ok(sennit_group_destroy(group), where);
}

sennit_group_relation relation_of(const List &a, const List &b) {
    if (a == b) return SENNIT_GROUP_IDENTICAL;
    List sorted_a = a;
    List sorted_b = b;
    std::sort(sorted_a.begin(), sorted_a.end());
    std::sort(sorted_b.begin(), sorted_b.end());
    return sorted_a == sorted_b ? SENNIT_GROUP_SIMILAR : SENNIT_GROUP_UNEQUAL;
}

void combine_two(Ranks &test, const List &a, const List &b) {
    const sennit_group first = make(test, a);
    const sennit_group second = make(test, b);
    List all = a;
    List both;
    List rest;
    for (const int rank : b)
        if (!contains(a, rank)) all.push_back(rank);
    for (const int rank : a)
        (contains(b, rank) ? both : rest).push_back(rank);
    sennit_group result = SENNIT_GROUP_NULL;
    sennit_status status = sennit_group_union(first, second, &result);
    expect(test, status, result, all);
    status = sennit_group_intersection(first, second, &result);
    expect(test, status, result, both);
    status = sennit_group_difference(first, second, &result);
    expect(test, status, result, rest);
    sennit_group_relation relation{};
    test.ok(sennit_group_compare(first, second, &relation));
    test.equal(static_cast<int>(relation), static_cast<int>(relation_of(a, b)));
    test.ok(sennit_group_destroy(first));
    test.ok(sennit_group_destroy(second));
}

void select_from(Ranks &test, const List &list) {
    const sennit_group group = make(test, list);
    List places(list.size());
    std::iota(places.begin(), places.end(), 0);
    for (std::size_t i = places.size(); i > 1; --i)
        std::swap(places[i - 1], places[test.own.below(i)]);
    places.resize(test.own.below(places.size() + 1));
    List chosen;
    for (const int place : places)
        chosen.push_back(list[static_cast<std::size_t>(place)]);
    List rest;
    for (const int rank : list)
        if (!contains(chosen, rank)) rest.push_back(rank);
    sennit_group result = SENNIT_GROUP_NULL;
    sennit_status status = sennit_group_include(group, places.size(), places.data(), &result);
    expect(test, status, result, chosen);
    status = sennit_group_exclude(group, places.size(), places.data(), &result);
    expect(test, status, result, rest);
    test.ok(sennit_group_destroy(group));
}

void translate_between(Ranks &test, const List &a, const List &b) {
    const sennit_group from = make(test, a);
    const sennit_group to = make(test, b);
    List numbers(a.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    test.ok(sennit_group_translate(from, numbers.size(), numbers.data(), to, numbers.data()));
    for (std::size_t i = 0; i < a.size(); ++i)
        test.equal(numbers[i], place_in(b, a[i]));
    int wrong[] = {static_cast<int>(a.size())};
    int out[] = {0x6B};
    test.is(sennit_group_translate(from, 1, wrong, to, out), SENNIT_ERR_RANGE);
    test.equal(out[0], 0x6B);
    test.ok(sennit_group_destroy(from));
    test.ok(sennit_group_destroy(to));
}

}  // namespace

// Broken by a set operation that loses the order or a member.
RANK_TEST(group, random_groups_agree_with_lists_of_ranks, kAnything) {
    const std::uint64_t steps =
        std::min<std::uint64_t>(test.chosen.most_steps, test.quick ? 40 : 400);
    for (std::uint64_t i = 0; i < steps; ++i) {
        const List a = draw_list(test);
        const List b = test.own.one_in(4) ? a : draw_list(test);
        combine_two(test, a, b);
        select_from(test, a);
        translate_between(test, a, b);
    }
}

// Broken by a team and its group with different orders.
RANK_TEST(group, the_group_of_a_team_has_its_members_in_its_order, kAnything) {
    sennit_team team = SENNIT_TEAM_NULL;
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, test.rank % 2, -test.rank, &team));
    List members;
    for (int rank = test.size - 1; rank >= 0; --rank)
        if (rank % 2 == test.rank % 2) members.push_back(rank);
    sennit_group group = SENNIT_GROUP_NULL;
    test.ok(sennit_group_of_team(team, &group));
    check_group(test, group, members);
    test.ok(sennit_team_destroy(team));
    check_group(test, group, members);
    // Ranks outside the parent are not members of a team made from it.
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, test.rank, 0, &team));
    if (members.size() > 1) {
        sennit_team other{77};
        test.is(sennit_team_create_group(team, group, &other), SENNIT_ERR_RANGE);
        test.equal(other.handle, 77u);
    }
    test.ok(sennit_group_destroy(group));
    test.ok(sennit_team_destroy(team));
}

// Broken by a handle that is found again, or by slots that are not reused.
RANK_TEST(group, a_destroyed_group_is_refused, kAnything) {
    std::vector<sennit_group> old;
    for (int i = 0; i < 200; ++i) {
        const sennit_group group = make(test, {0});
        for (const sennit_group before : old)
            test.require(before.handle != group.handle, "handles differ");
        int number = 0x6B;
        test.ok(sennit_group_destroy(group));
        test.is(sennit_group_destroy(group), SENNIT_ERR_ARG);
        test.is(sennit_group_size(group, &number), SENNIT_ERR_ARG);
        test.equal(number, 0x6B);
        old.push_back(group);
    }
    test.is(sennit_group_destroy(SENNIT_GROUP_NULL), SENNIT_ERR_ARG);
    // Enough groups at once to make the table grow.
    std::vector<sennit_group> held;
    for (int i = 0; i < 100; ++i)
        held.push_back(make(test, {i % test.size}));
    for (int i = 0; i < 100; ++i)
        check_group(test, held[static_cast<std::size_t>(i)], {i % test.size});
    // Half of them are not destroyed before the rank ends.
    for (int i = 0; i < 50; ++i)
        test.ok(sennit_group_destroy(held[static_cast<std::size_t>(i)]));
}

// Broken by an empty group that is refused.
RANK_TEST(group, an_empty_group_is_valid, kAnything) {
    const sennit_group group = make(test, {});
    check_group(test, group, {});
    sennit_team team{77};
    test.ok(sennit_team_create_group(SENNIT_TEAM_WORLD, group, &team));
    test.equal(team.handle, 0u);
    test.ok(sennit_group_destroy(group));
}
