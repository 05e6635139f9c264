// Requests: wait, test, and their forms for many requests. If load and store reach the peer, every
// request is complete at once; on the path sim most are not.
#include "harness.hpp"

#include <algorithm>

#include "late.hpp"

using namespace conformance;

namespace {

struct Many {
    sennit_gptr segment;
    std::size_t part;
    std::vector<std::vector<std::uint8_t>> data;
    std::vector<sennit_request> requests;
};

// `count` puts to the next rank, each with its own bytes.
Many start_puts(Ranks &test, sennit_gptr segment, std::size_t count, std::size_t part,
                std::uint64_t salt) {
    Many many{segment, part, {}, std::vector<sennit_request>(count, SENNIT_REQUEST_NULL)};
    for (std::size_t i = 0; i < count; ++i) {
        many.data.emplace_back(part);
        fill(many.data[i].data(), part, salt + i);
        test.ok(sennit_put_nb(
            sennit_gptr_add(sennit_gptr_at(segment, test.next()), static_cast<int64_t>(i * part)),
            many.data[i].data(), part, &many.requests[i]));
    }
    return many;
}

void check_puts(Ranks &test, const Many &many, std::uint64_t salt) {
    std::vector<std::uint8_t> in(many.part);
    for (std::size_t i = 0; i < many.data.size(); ++i) {
        test.ok(sennit_get(in.data(),
                           sennit_gptr_add(sennit_gptr_at(many.segment, test.next()),
                                           static_cast<int64_t>(i * many.part)),
                           many.part));
        check_pattern(test, in.data(), many.part, salt + i);
    }
}

bool all_null(const std::vector<sennit_request> &requests) {
    return std::all_of(requests.begin(), requests.end(),
                       [](sennit_request request) { return request.handle == 0; });
}

}  // namespace

// Broken by a null request that is searched in the table.
RANK_TEST(request, a_null_request_is_complete, kAnything) {
    sennit_request request = SENNIT_REQUEST_NULL;
    test.ok(sennit_wait(&request, 0));
    int done = 0;
    test.ok(sennit_test(&request, &done));
    test.equal(done, 1);
    sennit_request many[3] = {};
    test.ok(sennit_wait_all(3, many, 0));
    done = 0;
    test.ok(sennit_test_all(3, many, &done));
    test.equal(done, 1);
    std::size_t index = 99;
    test.ok(sennit_wait_any(3, many, 0, &index));
    test.equal(index, 3u);
    test.ok(sennit_wait_all(0, nullptr, 0));
    done = 0;
    test.ok(sennit_test_all(0, nullptr, &done));
    test.equal(done, 1);
    test.ok(sennit_wait_any(0, nullptr, 0, &index));
    test.equal(index, 0u);
}

namespace {

// Requests that stay open until the late rank arrives.
constexpr int kForms = 4;
constexpr std::size_t kMany = 3000;

struct Collected {
    std::vector<std::uint64_t> words = std::vector<std::uint64_t>(kMany, 1);
    std::uint64_t mine = 0;

    sennit_status start(int form, int late, sennit_request *request) {
        if (form == 0) return sennit_barrier_nb(SENNIT_TEAM_WORLD, request);
        if (form == 1)
            return sennit_broadcast_nb(SENNIT_TEAM_WORLD, late, words.data(), 8, request);
        if (form == 2)
            return sennit_allgather_nb(SENNIT_TEAM_WORLD, &mine, words.data(), 8, request);
        return sennit_allreduce_nb(SENNIT_TEAM_WORLD, SENNIT_IN_PLACE, words.data(),
                                   sennit_reduction_of(kMany, SENNIT_UINT64, SENNIT_SUM), request);
    }
};

void test_in_vain(Ranks &test, sennit_request *request) {
    const std::uint64_t handle = request->handle;
    const double start = sennit_wtime();
    for (int tries = 0; tries < 100; ++tries) {
        int is_done = 9;
        test.ok(sennit_test(request, &is_done));
        test.equal(is_done, 0);
        is_done = 9;
        test.ok(sennit_test_all(1, request, &is_done));
        test.equal(is_done, 0);
        test.equal(request->handle, handle);
    }
    // A test that sleeps would take long, however late the peer is.
    test.require(sennit_wtime() - start < 10, "200 tests take less than 10 s");
}

}  // namespace

// Broken by a test that waits for a peer: the late rank arrives only after all tests have returned.
RANK_TEST(request, a_test_with_a_late_peer_returns_at_once_and_says_not_done, kTwoRanks) {
    const auto size = static_cast<std::size_t>(test.size);
    const sennit_gptr segment = test.allocate(8 * size);
    std::memset(sennit_ptr(segment), 0, 8 * size);
    test.barrier();
    std::uint64_t round = 0;
    for (int late = 0; late < test.size; late += test.size - 1) {
        for (int form = 0; form < kForms; ++form) {
            ++round;
            if (test.rank == late) be_late(test, segment, round);
            Collected collected;
            collected.mine = round;
            sennit_request request = SENNIT_REQUEST_NULL;
            test.ok(collected.start(form, late, &request));
            if (test.rank != late) {
                test_in_vain(test, &request);
                tell_late(test, segment, late, round);
            }
            test.ok(sennit_wait(&request, 20 * kSecond));
            if (form == 2) test.equal(collected.words[size - 1], round);
            if (form == 3) test.equal(collected.words[kMany - 1], size);
        }
    }
    test.barrier();
    test.free(segment);
}

// Counts the words that are 1, at `there`. Word by word, since a get of one word is atomic.
int count_ones(Ranks &test, sennit_gptr there) {
    int count = 0;
    for (int i = 0; i < test.size; ++i) {
        std::uint64_t word = 0;
        test.ok(sennit_get(&word, sennit_gptr_add(there, i * std::int64_t{8}), sizeof word));
        count += word == 1 ? 1 : 0;
    }
    return count;
}

// Broken by a test that progresses only its own request, or only its own team: a broadcast of
// several pieces needs its root until the last piece.
RANK_TEST(request, a_test_progresses_collective_calls_too, kTwoRanks | kOnce) {
    std::vector<std::uint8_t> data(test.load_store ? 300000 : 30000);
    // A word for each rank, in the memory of rank 0.
    std::vector<std::uint64_t> words(static_cast<std::size_t>(test.size));
    sennit_gptr all = SENNIT_GPTR_NULL;
    test.ok(sennit_alloc(SENNIT_TEAM_WORLD, words.size() * 8, 0, 0, &all));
    const sennit_gptr there = sennit_gptr_at(all, 0);
    sennit_team team{};
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team));
    for (const bool tests_other_team : {false, true}) {
        if (test.rank == 0) test.ok(sennit_put(there, words.data(), words.size() * 8));
        test.barrier();
        sennit_request tested = SENNIT_REQUEST_NULL;
        if (test.rank == 0) {
            fill(data.data(), data.size(), 1);
            sennit_request request = SENNIT_REQUEST_NULL;
            test.ok(sennit_broadcast_nb(SENNIT_TEAM_WORLD, 0, data.data(), data.size(), &request));
            if (tests_other_team) test.ok(sennit_barrier_nb(team, &tested));
            const double end = sennit_wtime() + 20;
            while (count_ones(test, there) < test.size - 1 && sennit_wtime() < end) {
                int is_done = 0;
                test.ok(sennit_test(&tested, &is_done));
            }
            test.equal(count_ones(test, there), test.size - 1);
            test.ok(sennit_wait(&request, SENNIT_FOREVER));
        } else {
            const std::uint64_t one = 1;
            test.ok(
                sennit_broadcast(SENNIT_TEAM_WORLD, 0, data.data(), data.size(), SENNIT_FOREVER));
            test.ok(
                sennit_put(sennit_gptr_add(there, test.rank * std::int64_t{8}), &one, sizeof one));
            if (tests_other_team) test.ok(sennit_barrier_nb(team, &tested));
        }
        test.ok(sennit_wait(&tested, 20 * kSecond));
        check_pattern(test, data.data(), data.size(), 1);
        test.barrier();
    }
    test.ok(sennit_team_destroy(team));
    test.ok(sennit_free(all));
}

// Broken by a put whose request completes before the data arrives.
RANK_TEST(request, after_wait_the_data_is_there_and_the_request_is_null, kAnything) {
    const std::size_t bytes = 10000;
    const sennit_gptr segment = test.allocate(bytes);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    std::vector<std::uint8_t> out(bytes);
    std::vector<std::uint8_t> in(bytes);
    for (std::uint64_t round = 0; round < 20; ++round) {
        fill(out.data(), bytes, round);
        sennit_request request = SENNIT_REQUEST_NULL;
        test.ok(sennit_put_nb(there, out.data(), bytes, &request));
        test.ok(sennit_wait(&request, SENNIT_FOREVER));
        test.equal(request.handle, 0u);
        std::fill(out.begin(), out.end(), std::uint8_t{0});
        test.ok(sennit_get_nb(in.data(), there, bytes, &request));
        int done = 0;
        while (done == 0)
            test.ok(sennit_test(&request, &done));
        test.equal(request.handle, 0u);
        check_pattern(test, in.data(), bytes, round);
        test.ok(sennit_wait(&request, 0));
    }
    test.barrier();
    test.free(segment);
}

// Broken by a handle that is valid after its request ended, or an invalid one that is accepted.
RANK_TEST(request, stale_and_invented_handles_are_refused, kAnything) {
    const sennit_gptr segment = test.allocate(64);
    std::uint64_t word = 1;
    sennit_request request = SENNIT_REQUEST_NULL;
    test.ok(sennit_put_nb(sennit_gptr_at(segment, test.next()), &word, 8, &request));
    const sennit_request copy = request;
    test.ok(sennit_wait(&request, SENNIT_FOREVER));
    std::vector<sennit_request> wrong = {{1}, {2}, {UINT64_MAX}, {0x100000000u}, {0x7fffffffu}};
    if (copy.handle != 0) wrong.push_back(copy);
    for (const sennit_request given : wrong) {
        sennit_request handle = given;
        int done = 7;
        test.is(sennit_wait(&handle, 0), SENNIT_ERR_ARG);
        test.is(sennit_wait(&handle, SENNIT_FOREVER), SENNIT_ERR_ARG);
        test.is(sennit_test(&handle, &done), SENNIT_ERR_ARG);
        test.equal(done, 7);
        test.is(sennit_wait_all(1, &handle, SENNIT_FOREVER), SENNIT_ERR_ARG);
        test.equal(handle.handle, given.handle);
        std::size_t index = 5;
        test.is(sennit_wait_any(1, &handle, SENNIT_FOREVER, &index), SENNIT_ERR_ARG);
        test.equal(handle.handle, given.handle);
    }
    test.barrier();
    test.free(segment);
}

// Broken by a wait_all that misses a request, or leaves handles behind.
RANK_TEST(request, wait_all_completes_all, kAnything) {
    const std::size_t count = 50;
    const sennit_gptr segment = test.allocate(count * 100);
    for (std::uint64_t round = 0; round < 5; ++round) {
        Many many = start_puts(test, segment, count, 100, round * 1000);
        many.requests.insert(many.requests.begin() + 7, SENNIT_REQUEST_NULL);
        test.ok(sennit_wait_all(many.requests.size(), many.requests.data(), SENNIT_FOREVER));
        test.require(all_null(many.requests), "all requests are null after wait_all");
        check_puts(test, many, round * 1000);
    }
    test.barrier();
    test.free(segment);
}

// Broken by a test_all that reports completion too early, or never.
RANK_TEST(request, test_all_says_done_when_all_are, kAnything) {
    const std::size_t count = 50;
    const sennit_gptr segment = test.allocate(count * 100);
    for (std::uint64_t round = 0; round < 5; ++round) {
        Many many = start_puts(test, segment, count, 100, round * 1000);
        int done = 0;
        while (done == 0)
            test.ok(sennit_test_all(count, many.requests.data(), &done));
        test.require(all_null(many.requests), "all requests are null after test_all");
        check_puts(test, many, round * 1000);
    }
    test.barrier();
    test.free(segment);
}

// Broken by a wait_any that returns a request twice, or never.
RANK_TEST(request, wait_any_returns_each_request_once, kAnything) {
    const std::size_t count = 30;
    const sennit_gptr segment = test.allocate(count * 100);
    Many many = start_puts(test, segment, count, 100, 5);
    std::vector<bool> open(count);
    for (std::size_t i = 0; i < count; ++i)
        open[i] = many.requests[i].handle != 0;
    for (;;) {
        std::size_t index = SIZE_MAX;
        test.ok(sennit_wait_any(count, many.requests.data(), SENNIT_FOREVER, &index));
        if (index == count) break;
        test.require(index < count, "the index is one of those given");
        test.require(open[index], "no request comes twice");
        open[index] = false;
        test.equal(many.requests[index].handle, 0u);
    }
    test.require(std::find(open.begin(), open.end(), true) == open.end(), "each request came");
    check_puts(test, many, 5);
    test.barrier();
    test.free(segment);
}

// Broken by requests that must be completed in order.
RANK_TEST(request, a_thousand_requests_may_be_completed_in_any_order, kAnything) {
    const std::size_t count = test.quick ? 200 : 1000;
    const sennit_gptr segment = test.allocate(count * 16);
    Many many = start_puts(test, segment, count, 16, 9);
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i)
        order[i] = i;
    for (std::size_t i = count; i > 1; --i)
        std::swap(order[i - 1], order[test.own.below(i)]);
    for (const std::size_t i : order)
        test.ok(sennit_wait(&many.requests[i], SENNIT_FOREVER));
    test.require(all_null(many.requests), "all are null");
    check_puts(test, many, 9);
    test.barrier();
    test.free(segment);
}

// Broken by a wait whose timeout ends the operation.
RANK_TEST(request, a_wait_that_timed_out_can_be_repeated, kAnything) {
    const std::size_t bytes = test.quick ? 10000 : 100000;
    const sennit_gptr segment = test.allocate(bytes);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    std::vector<std::uint8_t> out(bytes);
    for (std::uint64_t round = 0; round < 5; ++round) {
        fill(out.data(), bytes, round);
        sennit_request request = SENNIT_REQUEST_NULL;
        test.ok(sennit_put_nb(there, out.data(), bytes, &request));
        const std::uint64_t handle = request.handle;
        sennit_status status = sennit_wait(&request, 0);
        while (status == SENNIT_ERR_TIMEOUT) {
            test.equal(request.handle, handle);
            status = sennit_wait_all(1, &request, 1000);
        }
        test.ok(status);
        test.equal(request.handle, 0u);
        std::vector<std::uint8_t> in(bytes);
        test.ok(sennit_get(in.data(), there, bytes));
        check_pattern(test, in.data(), bytes, round);
    }
    test.barrier();
    test.free(segment);
}

// Broken by a flush or barrier that removes requests.
RANK_TEST(request, requests_outlive_flush_and_barrier, kAnything) {
    const sennit_gptr segment = test.allocate(20 * 100);
    Many many = start_puts(test, segment, 20, 100, 3);
    test.ok(sennit_flush_all(SENNIT_FOREVER));
    test.barrier();
    // A flush completes puts: their data has arrived before any wait for the requests.
    check_puts(test, many, 3);
    test.ok(sennit_wait_all(20, many.requests.data(), SENNIT_FOREVER));
    test.require(all_null(many.requests), "they were still there to be waited for");
    test.barrier();
    test.free(segment);
}

// Broken by a flush that leaves an implicit get pending.
RANK_TEST(request, flush_completes_implicit_operations, kAnything) {
    const std::size_t count = 40;
    const sennit_gptr segment = test.allocate(count * 500);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    std::vector<std::uint8_t> out(count * 500);
    fill(out.data(), out.size(), static_cast<std::uint64_t>(test.rank));
    for (std::size_t i = 0; i < count; ++i)
        test.ok(sennit_put_nbi(sennit_gptr_add(there, static_cast<int64_t>(i * 500)),
                               out.data() + i * 500, 500));
    sennit_status status = sennit_flush(test.next(), 0);
    while (status == SENNIT_ERR_TIMEOUT)
        status = sennit_flush(test.next(), 1000);
    test.ok(status);
    std::vector<std::uint8_t> in(count * 500);
    for (std::size_t i = 0; i < count; ++i)
        test.ok(sennit_get_nbi(in.data() + i * 500,
                               sennit_gptr_add(there, static_cast<int64_t>(i * 500)), 500));
    test.ok(sennit_flush_all(SENNIT_FOREVER));
    check_pattern(test, in.data(), in.size(), static_cast<std::uint64_t>(test.rank));
    test.barrier();
    test.free(segment);
}
