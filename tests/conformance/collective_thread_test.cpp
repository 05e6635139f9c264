// Collective calls of several threads of a rank, each with its own team: at the same time, and in
// turns where the level of threads allows no more.
#include <chrono>
#include <thread>

#include "collective_program.hpp"
#include "threads.hpp"

using namespace conformance;

namespace {

constexpr int kThreadCount = 3;

// The team and memory of one thread.
struct Lane {
    Members members{};
    sennit_gptr arena = SENNIT_GPTR_NULL;
};

// Teams of three kinds: all ranks, all in reverse, and two parts.
std::vector<Lane> open_lanes(Ranks &test) {
    std::vector<Lane> lanes(kThreadCount);
    const int colors[kThreadCount] = {0, 0, test.rank % 2};
    const int keys[kThreadCount] = {test.rank, -test.rank, test.rank * 5 % 7};
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        Members &members = lanes[i].members;
        test.ok(sennit_team_split(SENNIT_TEAM_WORLD, colors[i], keys[i], &members.team));
        test.ok(sennit_team_rank(members.team, &members.rank));
        test.ok(sennit_team_size(members.team, &members.size));
        test.ok(sennit_alloc(members.team, kArenaBytes, 0, 0, &lanes[i].arena));
    }
    return lanes;
}

void close_lanes(Ranks &test, const std::vector<Lane> &lanes) {
    for (const Lane &lane : lanes) {
        test.ok(sennit_free(lane.arena));
        test.ok(sennit_team_destroy(lane.members.team));
    }
}

// Many programs of small calls, and one of long calls.
void run_lane(Ranks &mine, const Lane &lane, CollWays ways) {
    ways.arena = lane.arena;
    for (int i = 0; i < (mine.quick ? 2 : 8); ++i)
        run_collectives(mine, lane.members, mine.quick ? 25 : 80, ways);
    ways.most_bytes = mine.load_store ? 200000 : 30000;
    run_collectives(mine, lane.members, mine.quick ? 5 : 25, ways);
}

// The last of the threads, even a failed one, ends the thread that waits for them.
struct LastEnds {
    std::atomic<int> &at_work;
    RequestThread &waiter;
    ~LastEnds() {
        if (--at_work == 0) waiter.end();
    }
};

// One small blocking call, whose result is a simple formula.
void small_call(Ranks &mine, const Members &members, std::uint64_t round) {
    constexpr std::size_t kMost = 64;
    const auto size = static_cast<std::uint64_t>(members.size);
    const std::uint64_t own = round * 100 + static_cast<std::uint64_t>(members.rank);
    std::uint64_t from[kMost] = {};
    std::uint64_t to[kMost] = {};
    for (std::uint64_t i = 0; i < size; ++i)
        from[i] = own + 1000 * i;
    switch (round % 4) {
        case 0:
            mine.ok(sennit_allreduce(members.team, &own, to,
                                     sennit_reduction_of(1, SENNIT_UINT64, SENNIT_SUM),
                                     SENNIT_FOREVER));
            return mine.equal(to[0], round * 100 * size + size * (size - 1) / 2);
        case 1: {
            const std::uint64_t root = round / 4 % size;
            to[0] = own;
            mine.ok(sennit_broadcast(members.team, static_cast<int>(root), to, 8, SENNIT_FOREVER));
            return mine.equal(to[0], round * 100 + root);
        }
        case 2:
            mine.ok(sennit_allgather(members.team, &own, to, 8, SENNIT_FOREVER));
            for (std::uint64_t i = 0; i < size; ++i)
                mine.equal(to[i], round * 100 + i);
            return;
        default:
            mine.ok(sennit_alltoall(members.team, from, to, 8, SENNIT_FOREVER));
            for (std::uint64_t i = 0; i < size; ++i)
                mine.equal(to[i],
                           round * 100 + i + 1000 * static_cast<std::uint64_t>(members.rank));
    }
}

}  // namespace

// Broken by calls of two teams that share a table, a slot or a count.
RANK_TEST(collective, programs_of_threads_with_a_team_each_agree_with_the_oracle, kFreeThreads) {
    const std::vector<Lane> lanes = open_lanes(test);
    in_threads(test, kThreadCount, [&](Ranks &mine, int number) {
        run_lane(mine, lanes[static_cast<std::size_t>(number)], {});
    });
    test.barrier();
    close_lanes(test, lanes);
}

// Broken by a request that only its own thread finds or progresses, and by a result that the
// waiting thread sees before the thread that started the call.
RANK_TEST(collective, a_thread_waits_for_the_requests_of_the_others_teams, kFreeThreads) {
    const std::vector<Lane> lanes = open_lanes(test);
    RequestThread waiter;
    std::atomic<int> at_work{kThreadCount};
    in_threads(test, kThreadCount + 1, [&](Ranks &mine, int number) {
        if (number == kThreadCount) return waiter.work(mine.own);
        const LastEnds last{at_work, waiter};
        CollWays ways;
        ways.waiter = &waiter;
        run_lane(mine, lanes[static_cast<std::size_t>(number)], ways);
    });
    test.barrier();
    close_lanes(test, lanes);
}

// Broken by a call that keeps state of the rank for itself until it is repeated: between two
// attempts other threads make calls of other teams.
RANK_TEST(collective, programs_of_threads_that_take_turns_agree_with_the_oracle,
          kFreeThreads | kTurns) {
    const std::vector<Lane> lanes = open_lanes(test);
    std::mutex turns;
    in_threads(test, kThreadCount, [&](Ranks &mine, int number) {
        CollWays ways;
        ways.turns = &turns;
        run_lane(mine, lanes[static_cast<std::size_t>(number)], ways);
    });
    test.barrier();
    close_lanes(test, lanes);
}

// Broken by the short way of a small call when another thread is in a call of another team, or
// progresses all requests.
RANK_TEST(collective, small_calls_of_threads_with_a_team_each_do_not_meet, kFreeThreads) {
    const std::vector<Lane> lanes = open_lanes(test);
    const std::uint64_t rounds = test.quick ? 60 : test.size > 4 ? 400 : 1500;
    in_threads(test, kThreadCount, [&](Ranks &mine, int number) {
        const Members &members = lanes[static_cast<std::size_t>(number)].members;
        for (std::uint64_t round = 0; round < rounds; ++round) {
            std::uint64_t one = round;
            std::uint64_t sum = 0;
            sennit_request request = SENNIT_REQUEST_NULL;
            const bool has_request = round % 8 < static_cast<std::uint64_t>(number);
            if (has_request)
                mine.ok(sennit_allreduce_nb(members.team, &one, &sum,
                                            sennit_reduction_of(1, SENNIT_UINT64, SENNIT_SUM),
                                            &request));
            small_call(mine, members, round);
            mine.ok(sennit_wait(&request, SENNIT_FOREVER));
            if (has_request) mine.equal(sum, round * static_cast<std::uint64_t>(members.size));
        }
    });
    test.barrier();
    close_lanes(test, lanes);
}

// Broken by a wait that counts as a collective call of the team, or blocks the team's queue: rank 0
// starts further calls while its other thread waits for the first one, which no other rank has
// entered.
RANK_TEST(collective, a_thread_that_waits_for_a_request_keeps_no_other_from_the_team,
          kTwoRanks | kFreeThreads | kOnce) {
    sennit_team team{};
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team));
    const sennit_gptr may_come = test.allocate(8);
    const sennit_reduction sum_of_one = sennit_reduction_of(1, SENNIT_UINT64, SENNIT_SUM);
    const std::uint64_t one = 1;
    std::uint64_t sums[3] = {};
    sennit_request first = SENNIT_REQUEST_NULL;
    std::atomic<bool> may_wait{false};
    const auto make_calls = [&](Ranks &mine) {
        std::uint64_t word = mine.rank == 0 ? 1 : 0;
        while (word == 0) {
            mine.ok(sennit_get(&word, may_come, sizeof word));
            std::this_thread::yield();
        }
        mine.ok(sennit_allreduce_nb(team, &one, &sums[0], sum_of_one, &first));
        may_wait = true;
        if (mine.rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
        sennit_request second = SENNIT_REQUEST_NULL;
        mine.ok(sennit_allreduce_nb(team, &one, &sums[1], sum_of_one, &second));
        if (mine.rank == 0) {
            int done = 1;
            mine.ok(sennit_test(&second, &done));
            mine.equal(done, 0);
            mine.is(sennit_allreduce(team, &one, &sums[2], sum_of_one, kMillisecond),
                    SENNIT_ERR_TIMEOUT);
            for (int peer = 1; peer < mine.size; ++peer)
                mine.ok(sennit_put(sennit_gptr_at(may_come, peer), &one, sizeof one));
        }
        mine.ok(sennit_allreduce(team, &one, &sums[2], sum_of_one, SENNIT_FOREVER));
        mine.ok(sennit_wait(&second, SENNIT_FOREVER));
    };
    test.barrier();
    in_threads(test, 2, [&](Ranks &mine, int number) {
        if (number == 0) return make_calls(mine);
        while (!may_wait)
            std::this_thread::yield();
        mine.ok(sennit_wait(&first, SENNIT_FOREVER));
    });
    for (const std::uint64_t sum : sums)
        test.equal(sum, static_cast<std::uint64_t>(test.size));
    test.barrier();
    test.free(may_come);
    test.ok(sennit_team_destroy(team));
}

// Broken by two threads that progress one team's calls at the same time: the calling thread, and
// the threads that wait for its requests.
RANK_TEST(collective, threads_that_wait_for_requests_of_one_team_carry_on_its_calls_in_turns,
          kFreeThreads) {
    constexpr std::size_t kWaiters = 2;
    const std::uint64_t rounds = test.quick ? 100 : 1500;
    const Members members{SENNIT_TEAM_WORLD, test.rank, test.size};
    sennit_request requests[kWaiters] = {};
    std::uint64_t sums[kWaiters] = {};
    // The round in which a request was started, and the round of the last finished wait.
    std::atomic<std::uint64_t> started[kWaiters] = {};
    std::atomic<std::uint64_t> waited[kWaiters] = {};
    const auto make_calls = [&](Ranks &mine) {
        for (std::uint64_t round = 1; round <= rounds; ++round) {
            for (std::size_t i = 0; i < kWaiters; ++i) {
                mine.ok(sennit_allreduce_nb(members.team, &round, &sums[i],
                                            sennit_reduction_of(1, SENNIT_UINT64, SENNIT_SUM),
                                            &requests[i]));
                started[i] = round;
            }
            small_call(mine, members, round);
            for (std::size_t i = 0; i < kWaiters; ++i) {
                while (waited[i] != round)
                    std::this_thread::yield();
                mine.equal(sums[i], round * static_cast<std::uint64_t>(mine.size));
            }
        }
    };
    in_threads(test, kWaiters + 1, [&](Ranks &mine, int number) {
        const auto which = static_cast<std::size_t>(number);
        if (which == kWaiters) return make_calls(mine);
        for (std::uint64_t round = 1; round <= rounds; ++round) {
            while (started[which] != round)
                std::this_thread::yield();
            mine.ok(sennit_wait(&requests[which], SENNIT_FOREVER));
            waited[which] = round;
        }
    });
    test.barrier();
}

struct SlowSum {
    std::atomic<bool> is_folding{false};
    std::atomic<bool> may_end{false};
    bool ended_by_time = false;
};

void add_slowly(const void *left, const void *right, void *result, std::size_t count,
                void *context) {
    SlowSum &slow = *static_cast<SlowSum *>(context);
    slow.is_folding = true;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    while (!slow.may_end && !slow.ended_by_time) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        slow.ended_by_time = std::chrono::steady_clock::now() > end;
    }
    for (std::size_t i = 0; i < count; ++i)
        static_cast<std::uint64_t *>(result)[i] = static_cast<const std::uint64_t *>(left)[i] +
                                                  static_cast<const std::uint64_t *>(right)[i];
}

// Broken by a call with a request or a timeout that waits for a thread of its rank in the operator
// of an earlier call of the team.
RANK_TEST(collective, a_call_does_not_wait_for_a_thread_in_an_operator,
          kTwoRanks | kFreeThreads | kOnce) {
    sennit_team team{};
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team));
    const std::uint64_t one = 1;
    std::uint64_t sums[3] = {};
    SlowSum slow;
    std::atomic<bool> is_started{false};
    const sennit_reduction sum_of_one = sennit_reduction_of(1, SENNIT_UINT64, SENNIT_SUM);
    // Rank 0 arrives when all others have started the call, and its operator is fast.
    if (test.rank == 0) {
        slow.may_end = true;
        test.barrier();
    }
    in_threads(test, 2, [&](Ranks &mine, int number) {
        if (number == 1) {
            sennit_request first = SENNIT_REQUEST_NULL;
            mine.ok(sennit_allreduce_nb(team, &one, &sums[0],
                                        sennit_reduction_by(1, sizeof one, add_slowly, &slow),
                                        &first));
            is_started = true;
            // One of these waits runs the operator.
            if (mine.rank != 0) mine.barrier();
            return mine.ok(sennit_wait(&first, SENNIT_FOREVER));
        }
        // No call of Sennit meanwhile: it would make progress and run the operator.
        while (!is_started || !slow.is_folding)
            std::this_thread::yield();
        sennit_request second = SENNIT_REQUEST_NULL;
        mine.ok(sennit_allreduce_nb(team, &one, &sums[1], sum_of_one, &second));
        if (!slow.may_end)
            mine.is(sennit_allreduce(team, &one, &sums[2], sum_of_one, kMillisecond),
                    SENNIT_ERR_TIMEOUT);
        slow.may_end = true;
        mine.ok(sennit_allreduce(team, &one, &sums[2], sum_of_one, SENNIT_FOREVER));
        mine.ok(sennit_wait(&second, SENNIT_FOREVER));
    });
    test.require(!slow.ended_by_time, "other calls go on during the operator");
    for (const std::uint64_t sum : sums)
        test.equal(sum, static_cast<std::uint64_t>(test.size));
    test.barrier();
    test.ok(sennit_team_destroy(team));
}

// Broken by two threads that enter a call of one team at the same time, or by a thread that does
// not see the state left by the one before.
RANK_TEST(collective, threads_enter_the_calls_of_a_team_one_at_a_time, kFreeThreads) {
    sennit_team team{};
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team));
    const int calls = test.quick ? 150 : 1500;
    std::atomic<int> taken{0};
    std::atomic<int> made{0};
    in_threads(test, kThreadCount, [&](Ranks &mine, int) {
        // relaxed: it must be the team that orders the threads, not this count.
        while (taken.fetch_add(1, std::memory_order_relaxed) < calls) {
            const std::uint64_t one = 1;
            std::uint64_t sum = 0;
            sennit_status status = SENNIT_ERR_STATE;
            while (status == SENNIT_ERR_STATE) {
                status = sennit_allreduce(team, &one, &sum,
                                          sennit_reduction_of(1, SENNIT_UINT64, SENNIT_SUM),
                                          SENNIT_FOREVER);
                if (status == SENNIT_ERR_STATE) std::this_thread::yield();
            }
            mine.ok(status);
            mine.equal(sum, static_cast<std::uint64_t>(mine.size));
            made.fetch_add(1, std::memory_order_relaxed);
        }
    });
    test.equal(made.load(), calls);
    test.barrier();
    test.ok(sennit_team_destroy(team));
}

// Broken by a destruction that releases the slot of a team before its state of collective calls: it
// would then free the state of the next team in the slot.
RANK_TEST(collective, teams_that_threads_make_and_destroy_keep_their_calls_apart,
          kFreeThreads | kOnce) {
    constexpr int kTeamsAtOnce = 8;
    std::vector<sennit_team> parents(kTeamsAtOnce);
    for (sennit_team &parent : parents)
        test.ok(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &parent));
    in_threads(test, kTeamsAtOnce, [&](Ranks &mine, int number) {
        const int rounds = mine.size > 1 ? 20 : 20000;
        for (int round = 0; round < rounds; ++round) {
            sennit_team team{};
            mine.ok(sennit_team_split(parents[static_cast<std::size_t>(number)], 0, 0, &team));
            const std::uint64_t one = 1;
            std::uint64_t sum = 0;
            mine.ok(sennit_allreduce(team, &one, &sum,
                                     sennit_reduction_of(1, SENNIT_UINT64, SENNIT_SUM),
                                     SENNIT_FOREVER));
            mine.equal(sum, static_cast<std::uint64_t>(mine.size));
            mine.ok(sennit_team_destroy(team));
        }
    });
    test.barrier();
    for (const sennit_team parent : parents)
        test.ok(sennit_team_destroy(parent));
}
