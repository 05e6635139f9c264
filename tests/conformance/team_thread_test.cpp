// Teams used by several threads of a rank at once.
#include <atomic>

#include "teams.hpp"
#include "threads.hpp"

using namespace conformance;

namespace {

std::vector<int> everyone(const Ranks &test) {
    std::vector<int> all;
    for (int rank = 0; rank < test.size; ++rank)
        all.push_back(rank);
    return all;
}

// One team of all ranks for each thread.
std::vector<sennit_team> teams_for_threads(Ranks &test, int count) {
    std::vector<sennit_team> teams(static_cast<std::size_t>(count));
    for (sennit_team &team : teams)
        test.ok(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team));
    return teams;
}

void end_teams(Ranks &test, const std::vector<sennit_team> &teams) {
    for (const sennit_team team : teams)
        test.ok(sennit_team_destroy(team));
}

constexpr int kThreadCount = 3;

}  // namespace

// Broken by barriers of two teams that share a word or wait for each other.
RANK_TEST(team, threads_meet_in_a_team_of_their_own_each, kFreeThreads) {
    const std::vector<sennit_team> teams = teams_for_threads(test, kThreadCount);
    const sennit_gptr counters = test.allocate(8 * kThreadCount);
    in_threads(test, kThreadCount, [&](Ranks &mine, int number) {
        const sennit_team team = teams[static_cast<std::size_t>(number)];
        const sennit_gptr counter = sennit_gptr_add(counters, 8 * number);
        const std::uint64_t rounds = mine.quick ? 20 : 200;
        for (std::uint64_t round = 1; round <= rounds; ++round) {
            mine.ok(sennit_put(counter, &round, sizeof round));
            mine.ok(sennit_barrier(team, SENNIT_FOREVER));
            for (int peer = 0; peer < mine.size; ++peer) {
                std::uint64_t found = 0;
                mine.ok(sennit_get(&found, sennit_gptr_at(counter, peer), sizeof found));
                mine.equal(found, round);
            }
            mine.ok(sennit_barrier(team, SENNIT_FOREVER));
        }
    });
    test.barrier();
    test.free(counters);
    end_teams(test, teams);
}

// Broken by creations from two parents that block each other, or choose the same slot: the threads
// of different ranks arrive in every order.
RANK_TEST(team, threads_make_teams_from_several_parents_at_once, kFreeThreads) {
    const std::vector<sennit_team> parents = teams_for_threads(test, kThreadCount);
    in_threads(test, kThreadCount, [&](Ranks &mine, int number) {
        const sennit_team parent = parents[static_cast<std::size_t>(number)];
        Random common(mine.seed * 31 + static_cast<std::uint64_t>(number));
        const int rounds = mine.quick ? 12 : 60;
        for (int round = 0; round < rounds; ++round) {
            const int parts = static_cast<int>(common.between(1, 3));
            std::vector<int> members;
            for (int rank = mine.rank % parts; rank < mine.size; rank += parts)
                members.push_back(rank);
            sennit_team team = SENNIT_TEAM_NULL;
            mine.ok(sennit_team_split(parent, mine.rank % parts, 0, &team));
            check_team(mine, team, members);
            use_team(mine, team, members, common.between(8, 500));
            mine.ok(sennit_team_destroy(team));
        }
    });
    test.barrier();
    end_teams(test, parents);
}

// Broken by a second thread that enters a collective call of the same team.
RANK_TEST(team, one_thread_at_a_time_is_in_a_call_of_a_team, kTwoRanks | kFreeThreads) {
    const sennit_team team = teams_for_threads(test, 1)[0];
    const sennit_gptr flag = test.allocate(8);
    sennit_gptr freed;
    test.ok(sennit_alloc(team, 8, 0, 0, &freed));
    test.ok(sennit_free(freed));
    const auto wait_in_barrier = [&](Ranks &mine, int) {
        // Refused while the other thread is in one of its calls.
        sennit_status status = SENNIT_ERR_STATE;
        while (status == SENNIT_ERR_STATE)
            status = sennit_barrier(team, SENNIT_FOREVER);
        mine.ok(status);
    };
    const auto look_and_let_go = [&](Ranks &mine, int) {
        // A free of an unknown segment meets no other rank, so it shows when the other thread is in
        // its call.
        sennit_status status = SENNIT_ERR_NOT_REGISTERED;
        while (status == SENNIT_ERR_NOT_REGISTERED)
            status = sennit_free(freed);
        mine.is(status, SENNIT_ERR_STATE);
        sennit_team other{77};
        mine.is(sennit_team_split(team, 0, 0, &other), SENNIT_ERR_STATE);
        mine.is(sennit_team_destroy(team), SENNIT_ERR_STATE);
        mine.is(sennit_barrier(team, 0), SENNIT_ERR_STATE);
        mine.equal(other.handle, 77u);
        const std::uint64_t word = 1;
        for (int peer = 1; peer < mine.size; ++peer)
            mine.ok(sennit_put(sennit_gptr_at(flag, peer), &word, sizeof word));
    };
    if (test.rank == 0) {
        in_threads(test, 2, [&](Ranks &mine, int number) {
            number == 0 ? wait_in_barrier(mine, number) : look_and_let_go(mine, number);
        });
    } else {
        std::uint64_t word = 0;
        while (word == 0) {
            test.ok(sennit_get(&word, flag, sizeof word));
            std::this_thread::yield();
        }
        test.ok(sennit_barrier(team, SENNIT_FOREVER));
    }
    test.barrier();
    use_team(test, team, everyone(test), 30);
    test.ok(sennit_team_destroy(team));
    test.free(flag);
}
