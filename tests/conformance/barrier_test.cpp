// The barrier as a synchronisation.
#include "harness.hpp"

#include <sched.h>

#include <thread>

using namespace conformance;

namespace {

// A random delay before the barrier: usually none, sometimes long enough that others fall asleep.
void dawdle(Ranks &test) {
    const std::uint64_t kind = test.own.below(40);
    if (kind == 0) std::this_thread::sleep_for(std::chrono::microseconds(1500));
    for (std::uint64_t i = 0; kind > 0 && kind < 6 && i < kind; ++i)
        (void)sched_yield();
}

std::uint64_t read_counter(Ranks &test, sennit_gptr counters, int peer) {
    std::uint64_t value = 0;
    test.ok(sennit_get(&value, sennit_gptr_at(counters, peer), sizeof value));
    return value;
}

// Every rank counts rounds in its own memory. Between the two barriers of a round every count must
// equal this round.
void count_rounds(Ranks &test, std::uint64_t rounds, int64_t slice_ns) {
    const sennit_gptr counters = test.allocate(64);
    const auto pass = [&] {
        sennit_status status = sennit_barrier(SENNIT_TEAM_WORLD, slice_ns);
        for (int tries = 0; status == SENNIT_ERR_TIMEOUT; ++tries) {
            test.equal(sennit_last_error()->status, SENNIT_ERR_TIMEOUT);
            status = sennit_barrier(SENNIT_TEAM_WORLD, tries < 1000 ? slice_ns : kMillisecond);
        }
        test.ok(status);
    };
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        dawdle(test);
        test.ok(sennit_put(counters, &round, sizeof round));
        pass();
        for (int peer = 0; peer < test.size; ++peer)
            test.equal(read_counter(test, counters, peer), round);
        pass();
    }
    test.free(counters);
}

// Waits until every other rank has incremented this rank's word. No collective call.
void wait_for_others(Ranks &test, sennit_gptr word) {
    test.ok(sennit_signal_wait_word(static_cast<std::uint64_t *>(sennit_ptr(word)), SENNIT_EQUAL,
                                    static_cast<std::uint64_t>(test.size - 1), SENNIT_FOREVER));
}

}  // namespace

// Broken by a rank that passes before all have arrived, or before their stores are visible.
RANK_TEST(barrier, no_rank_passes_before_all_have_arrived, kAnything) {
    count_rounds(test, test.quick ? 100 : 1000, SENNIT_FOREVER);
}

// Broken by a barrier that counts an arrival twice after a timeout.
RANK_TEST(barrier, a_barrier_that_timed_out_is_resumed, kAnything) {
    count_rounds(test, test.quick ? 30 : 100, 20'000);
}

// Broken by the same fault with a timeout of 0, which tries once.
RANK_TEST(barrier, a_timeout_of_zero_tries_once, kAnything) {
    count_rounds(test, test.quick ? 10 : 30, 0);
}

// Broken by a timeout that is not kept, or a rank that passes the barrier after its timeout.
RANK_TEST(barrier, a_rank_that_is_late_makes_the_others_time_out,
          kTwoRanks | kFreeThreads | kAtomics | kOnce) {
    const sennit_gptr tired = test.allocate(64);  // counts ranks that timed out
    test.ok(sennit_atomic_set_u64(sennit_gptr_at(tired, test.rank), 0));
    for (int late = 0; late < test.size; ++late) {
        test.barrier();
        if (test.rank == late) {
            wait_for_others(test, sennit_gptr_at(tired, late));
        } else {
            const double start = sennit_wtime();
            test.is(sennit_barrier(SENNIT_TEAM_WORLD, 5 * kMillisecond), SENNIT_ERR_TIMEOUT);
            test.require(sennit_wtime() - start >= 0.0049, "it waited as long as it was told");
            test.ok(sennit_atomic_inc_u64(sennit_gptr_at(tired, late)));
        }
        test.barrier();
    }
    test.free(tired);
}

// Broken by a SENNIT_ERR_TIMEOUT that does not name the missing ranks.
RANK_TEST(barrier, a_timed_out_wait_names_the_missing_ranks, kTwoRanks | kLoadStore | kOnce) {
    const int late = test.size - 1;
    const std::string name = "rank " + std::to_string(late) + " has not arrived";
    const sennit_gptr flag = test.allocate(sizeof(std::uint64_t));
    std::uint64_t word = 1;
    test.barrier();
    if (test.rank == late) {
        while (read_counter(test, flag, late) + 1 < static_cast<std::uint64_t>(test.size))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        test.barrier();
        test.ok(sennit_allreduce(SENNIT_TEAM_WORLD, SENNIT_IN_PLACE, &word,
                                 sennit_reduction_of(1, SENNIT_UINT64, SENNIT_SUM),
                                 SENNIT_FOREVER));
    } else {
        // All other ranks have arrived before any of them gives up.
        sennit_status status = SENNIT_ERR_TIMEOUT;
        for (int i = 0; i < 50; ++i) {
            status = sennit_barrier(SENNIT_TEAM_WORLD, 5'000'000);
            test.is(status, SENNIT_ERR_TIMEOUT);
            if (std::strstr(sennit_last_error()->text, name.c_str()) != nullptr) break;
        }
        test.require(std::strstr(sennit_last_error()->text, name.c_str()),
                     "the late rank is named");
        test.equal(sennit_last_error()->peer, late);
        (void)sennit_atomic_fetch_add_u64(sennit_gptr_at(flag, late), 1, &word);
        test.barrier();
        word = 1;
        test.ok(sennit_allreduce(SENNIT_TEAM_WORLD, SENNIT_IN_PLACE, &word,
                                 sennit_reduction_of(1, SENNIT_UINT64, SENNIT_SUM),
                                 SENNIT_FOREVER));
    }
    test.free(flag);
}

// Broken by ranks in different calls that wait without end, or do not learn of each other.
RANK_TEST(barrier, ranks_in_two_different_calls_learn_of_each_other,
          kTwoRanks | kLoadStore | kOnce) {
    sennit_team team{};
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team));
    std::uint64_t word = 1;
    const bool reduces = test.rank == 0;
    const sennit_status status =
        reduces
            ? sennit_allreduce(team, SENNIT_IN_PLACE, &word,
                               sennit_reduction_of(1, SENNIT_UINT64, SENNIT_SUM), SENNIT_FOREVER)
            : sennit_barrier(team, SENNIT_FOREVER);
    test.is(status, SENNIT_ERR_ARG);
    const char *text = sennit_last_error()->text;
    test.require(
        std::strstr(text, reduces ? "waits in sennit_barrier" : "rank 0 waits in sennit_allreduce"),
        "the other call is named");
    test.barrier();
}

// Broken by a collective call that is allowed in the middle of a barrier.
RANK_TEST(barrier, a_barrier_under_way_keeps_other_collective_calls_out,
          kTwoRanks | kFreeThreads | kAtomics) {
    const sennit_gptr segment = test.allocate(64);
    const sennit_gptr refused = sennit_gptr_at(segment, 0);  // counts refused ranks
    if (test.rank == 0) test.ok(sennit_atomic_set_u64(refused, 0));
    test.barrier();
    if (test.rank == 0) {
        wait_for_others(test, refused);
    } else {
        test.is(sennit_barrier(SENNIT_TEAM_WORLD, 0), SENNIT_ERR_TIMEOUT);
        sennit_gptr other{7, 7, 7};
        test.is(sennit_alloc(SENNIT_TEAM_WORLD, 8, 0, 0, &other), SENNIT_ERR_STATE);
        test.equal(other.segment, 7u);
        test.is(sennit_free(segment), SENNIT_ERR_STATE);
        test.ok(sennit_atomic_inc_u64(refused));
    }
    test.barrier();
    test.free(segment);
}

// Broken by a barrier that does not order plain loads and stores.
RANK_TEST(barrier, plain_stores_before_are_seen_after, kLoadStore) {
    const std::size_t words = 500;
    const sennit_gptr segment = test.allocate(words * 8);
    auto *mine = static_cast<std::uint64_t *>(sennit_ptr(segment));
    const std::uint64_t rounds = test.quick ? 20 : 200;
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        for (std::size_t i = 0; i < words; ++i)
            mine[i] = round * 1000 + i;
        test.ok(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
        for (int peer = 0; peer < test.size; ++peer) {
            const auto *theirs =
                static_cast<const std::uint64_t *>(sennit_ptr(sennit_gptr_at(segment, peer)));
            for (std::size_t i = 0; i < words; ++i)
                test.equal(theirs[i], round * 1000 + i);
        }
        test.ok(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    }
    test.free(segment);
}

// Broken by a barrier that forgets implicit operations.
RANK_TEST(barrier, implicit_operations_before_are_complete_after, kAnything) {
    const std::size_t bytes = 20000;
    const sennit_gptr segment = test.allocate(bytes);
    std::vector<std::uint8_t> out(bytes);
    std::vector<std::uint8_t> in(bytes);
    for (std::uint64_t round = 0; round < 20; ++round) {
        fill(out.data(), bytes, round * 64 + static_cast<std::uint64_t>(test.rank));
        test.ok(sennit_put_nbi(sennit_gptr_at(segment, test.next()), out.data(), bytes));
        test.ok(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
        test.ok(sennit_get_nbi(in.data(), segment, bytes));
        test.ok(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
        check_pattern(test, in.data(), bytes,
                      round * 64 + static_cast<std::uint64_t>(test.previous()));
        test.barrier();
    }
    test.free(segment);
}
