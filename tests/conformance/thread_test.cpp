// Several threads of a rank, and the rank of a thread.
#include "threads.hpp"

using namespace conformance;

namespace {

// One thread's transfers in its own part of the segments.
void hammer(Ranks &test, sennit_gptr segment, std::size_t part, int number, int rounds) {
    std::vector<std::uint8_t> data(part);
    for (int round = 0; round < rounds; ++round) {
        const auto salt = static_cast<std::uint64_t>(round * 1000 + test.rank * 16 + number);
        const std::size_t bytes = test.own.between(1, part);
        const int peer = static_cast<int>(test.own.below(static_cast<std::uint64_t>(test.size)));
        // Every rank and thread has its own part at every peer.
        const sennit_gptr place = sennit_gptr_add(
            sennit_gptr_at(segment, peer), static_cast<int64_t>(part) * (test.rank * 4 + number));
        fill(data.data(), bytes, salt);
        sennit_request request = SENNIT_REQUEST_NULL;
        if (round % 3 == 0) {
            test.ok(sennit_put_nb(place, data.data(), bytes, &request));
            test.ok(sennit_wait(&request, SENNIT_FOREVER));
        } else if (round % 3 == 1) {
            test.ok(sennit_put_nbi(place, data.data(), bytes));
            test.ok(sennit_flush(peer, SENNIT_FOREVER));
        } else {
            test.ok(sennit_put(place, data.data(), bytes));
        }
        std::fill(data.begin(), data.end(), std::uint8_t{0});
        test.ok(sennit_get(data.data(), place, bytes));
        check_pattern(test, data.data(), bytes, salt);
    }
}

}  // namespace

// Broken by a table or a queue that two threads corrupt.
RANK_TEST(thread, many_threads_put_and_get_at_once, kFreeThreads) {
    const std::size_t part = 3000;
    const sennit_gptr segment = test.allocate(part * 4 * static_cast<std::size_t>(test.size));
    const int rounds = test.quick ? 30 : 200;
    in_threads(test, 4,
               [&](Ranks &mine, int number) { hammer(mine, segment, part, number, rounds); });
    test.barrier();
    test.free(segment);
}

// Broken by a segment that two threads get, or a free of another thread's segment.
RANK_TEST(thread, many_threads_allocate_and_free_at_once, kFreeThreads) {
    const int rounds = test.quick ? 30 : 150;
    in_threads(test, 4, [&](Ranks &mine, int number) {
        std::vector<sennit_gptr> held;
        for (int round = 0; round < rounds; ++round) {
            sennit_gptr made;
            mine.ok(sennit_alloc_local(mine.own.between(8, 9000), 0, 0, &made));
            const std::uint64_t word = static_cast<std::uint64_t>(number) << 32 | held.size();
            mine.ok(sennit_put(made, &word, sizeof word));
            held.push_back(made);
            if (held.size() > 10) {
                const std::size_t place = mine.own.below(held.size());
                std::uint64_t found = 0;
                mine.ok(sennit_get(&found, held[place], sizeof found));
                mine.equal(found >> 32, static_cast<std::uint64_t>(number));
                mine.ok(sennit_free(held[place]));
                mine.is(sennit_free(held[place]), SENNIT_ERR_NOT_REGISTERED);
                held[place] = held.back();
                held.pop_back();
            }
        }
        for (const sennit_gptr gptr : held)
            mine.ok(sennit_free(gptr));
    });
    test.barrier();
}

// Broken by two threads that first use a peer's segment at the same time.
RANK_TEST(thread, many_threads_meet_a_peers_segments_for_the_first_time, kFreeThreads) {
    const int count = test.quick ? 20 : 100;
    for (int round = 0; round < count; ++round) {
        sennit_gptr mine = SENNIT_GPTR_NULL;
        test.ok(sennit_alloc_local(256, 0, 0, &mine));
        const auto all = test.tell_all(mine);
        in_threads(test, 3, [&](Ranks &one, int number) {
            for (int peer = 0; peer < test.size; ++peer) {
                const sennit_gptr place =
                    sennit_gptr_add(all[static_cast<std::size_t>(peer)],
                                    test.rank < 10 ? 8 * (test.rank * 3 + number) : 0);
                const std::uint64_t word = static_cast<std::uint64_t>(round) + 1;
                one.ok(sennit_put(place, &word, sizeof word));
                std::uint64_t found = 0;
                one.ok(sennit_get(&found, place, sizeof found));
                one.equal(found, word);
            }
        });
        test.barrier();
        test.ok(sennit_free(mine));
        test.barrier();
    }
}

// Broken by a barrier that fails during other threads' transfers.
RANK_TEST(thread, one_thread_is_in_collective_calls_while_others_put, kFreeThreads) {
    const std::size_t part = 1000;
    const sennit_gptr segment = test.allocate(part * 4 * static_cast<std::size_t>(test.size));
    const int rounds = test.quick ? 20 : 100;
    in_threads(test, 4, [&](Ranks &mine, int number) {
        if (number > 0) return hammer(mine, segment, part, number, rounds);
        for (int round = 0; round < rounds; ++round) {
            const sennit_gptr other = mine.allocate(100);
            mine.barrier();
            mine.free(other);
        }
    });
    test.barrier();
    test.free(segment);
}

// Broken by two threads that share the state of one collective call.
RANK_TEST(thread, a_second_thread_in_a_barrier_gets_an_error, kTwoRanks | kFreeThreads) {
    // Rank 0 has a word for each rank, which says that two calls of that rank were refused. Rank 0
    // enters the barrier after all have said so.
    const sennit_gptr refused =
        sennit_gptr_at(test.allocate(8 * static_cast<std::size_t>(test.size)), 0);
    const std::int64_t yes = 1;
    test.barrier();
    if (test.rank == 0) {
        for (int rank = 1; rank < test.size; ++rank)
            for (std::int64_t said = 0; said != yes;)
                test.ok(sennit_get(&said, sennit_gptr_add(refused, 8 * rank), 8));
        test.barrier();
        return;
    }
    std::atomic<int> states{0};
    std::atomic<int> passed{0};
    in_threads(test, 3, [&](Ranks &mine, int) {
        const sennit_status status = sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
        if (status == SENNIT_OK) {
            ++passed;
            return;
        }
        mine.is(status, SENNIT_ERR_STATE);
        if (++states == 2) mine.ok(sennit_put(sennit_gptr_add(refused, 8 * test.rank), &yes, 8));
    });
    test.equal(passed.load(), 1);
    test.equal(states.load(), 2);
}

// Broken by requests that only the thread that started them can find.
RANK_TEST(thread, a_request_may_be_waited_for_in_another_thread, kFreeThreads) {
    const std::size_t bytes = 50000;
    const sennit_gptr segment = test.allocate(bytes);
    std::vector<std::uint8_t> data(bytes);
    fill(data.data(), bytes, 1);
    sennit_request request = SENNIT_REQUEST_NULL;
    test.ok(sennit_put_nb(sennit_gptr_at(segment, test.next()), data.data(), bytes, &request));
    in_threads(test, 1, [&](Ranks &mine, int) { mine.ok(sennit_wait(&request, SENNIT_FOREVER)); });
    test.equal(request.handle, 0u);
    test.barrier();
    test.ok(sennit_get(data.data(), segment, bytes));
    check_pattern(test, data.data(), bytes, 1);
    test.barrier();
    test.free(segment);
}

// Broken by threads that must attach although the process has only one rank.
RANK_TEST(thread, threads_of_a_process_with_one_rank_belong_to_it, kFreeThreads) {
    if (test.one_process && test.size > 1) return;
    int rank = -2;
    int size = -2;
    std::thread([&] {
        rank = sennit_rank();
        size = sennit_size();
    }).join();
    test.equal(rank, test.rank);
    test.equal(size, test.size);
    test.barrier();
}

// Broken by a thread that belongs to a rank without attaching, or after it has detached.
RANK_TEST(thread, a_thread_beside_several_ranks_has_no_rank_until_it_attaches,
          kThreads | kTwoRanks | kFreeThreads) {
    const sennit_gptr segment = test.allocate(64);
    test.barrier();
    std::atomic<int> failed{0};
    std::thread([&] {
        Ranks mine = test;
        try {
            std::uint64_t word = 5;
            mine.equal(sennit_initialized(), 0);
            mine.equal(sennit_rank(), -1);
            mine.is(sennit_put(segment, &word, 8), SENNIT_ERR_STATE);
            mine.is(sennit_finalize(), SENNIT_ERR_STATE);
            mine.is(sennit_thread_attach(test.size), SENNIT_ERR_RANGE);
            mine.is(sennit_thread_attach(-2), SENNIT_ERR_RANGE);
            for (const int rank : {test.rank, test.next(), test.rank}) {
                mine.ok(sennit_thread_attach(rank));
                mine.equal(sennit_rank(), rank);
                mine.ok(sennit_put(sennit_gptr_at(segment, test.rank), &word, 8));
            }
            mine.ok(sennit_thread_attach(-1));
            mine.equal(sennit_rank(), -1);
            mine.is(sennit_put(segment, &word, 8), SENNIT_ERR_STATE);
        } catch (const Failed &) {
            ++failed;
        }
    }).join();
    test.equal(failed.load(), 0);
    test.barrier();
    test.free(segment);
}

// Broken by threads of a finished rank that become threads of a remaining one.
RANK_TEST(thread, threads_of_a_rank_that_left_have_no_rank,
          kThreads | kTwoRanks | kNoWorld | kFreeThreads) {
    test.start();
    test.barrier();
    test.stop();
    test.equal(sennit_rank(), -1);
    test.is(sennit_finalize(), SENNIT_ERR_STATE);
    std::uint64_t word = 0;
    test.is(sennit_get(&word, sennit_gptr{0, 1, 0}, 8), SENNIT_ERR_STATE);
}

// Broken by a thread that keeps a rank object which now belongs to another rank.
RANK_TEST(thread, a_thread_of_a_rank_that_left_follows_the_process_to_its_next_rank, kNoWorld) {
    if (test.one_process && test.size > 1) return;
    for (int round = 0; round < 3; ++round) {
        test.start();
        int rank = -2;
        std::atomic<bool> stop{false};
        // Attaches in an earlier world, and asks for its rank in the next.
        std::thread helper([&] {
            (void)sennit_thread_attach(test.rank);
            while (!stop)
                std::this_thread::yield();
            rank = sennit_rank();
        });
        test.barrier();
        test.stop();
        test.start();
        stop = true;
        helper.join();
        test.equal(rank, test.rank);
        test.stop();
    }
}
