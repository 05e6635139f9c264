// Atomic operations on words and accumulate: each alone against plain arithmetic, then by many
// ranks at once, where totals, permutations and single winners show the result.
#include "harness.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "atomic_calls.hpp"

using namespace conformance;

namespace {

// One word of type T at the next rank, through every call of the family.
template <class T>
void check_integer(Ranks &test, sennit_gptr word) {
    using Calls = AtomicCalls<T>;
    const T low = std::numeric_limits<T>::min();
    const T high = std::numeric_limits<T>::max();
    T old{};
    test.ok(Calls::set(word, 5));
    test.ok(Calls::fetch(word, &old));
    test.require(old == 5, "fetch returns what set stored");
    test.ok(Calls::add(word, 3));
    test.ok(Calls::inc(word));
    test.ok(Calls::fetch_add(word, 10, &old));
    test.require(old == 9, "fetch_add returns the sum so far");
    test.ok(Calls::fetch_inc(word, &old));
    test.require(old == 19, "fetch_inc returns the sum so far");
    test.ok(Calls::swap(word, high, &old));
    test.require(old == 20, "swap returns the old value");
    test.ok(Calls::fetch_inc(word, &old));
    test.require(old == high, "swap stored the largest value");
    test.ok(Calls::fetch(word, &old));
    test.require(old == low, "the largest value plus 1 wraps around");
    test.ok(Calls::compare_swap(word, 1, 2, &old));
    test.require(old == low,
                 "a compare_swap of another value changes nothing and returns the word");
    test.ok(Calls::compare_swap(word, low, 0x5A, &old));
    test.require(old == low, "compare_swap returns the old value");
    test.ok(Calls::fetch_and(word, 0x0F, &old));
    test.require(old == 0x5A, "compare_swap has stored");
    test.ok(Calls::fetch_or(word, 0x30, &old));
    test.require(old == 0x0A, "and");
    test.ok(Calls::fetch_xor(word, 0x21, &old));
    test.require(old == 0x3A, "or");
    test.ok(Calls::fetch(word, &old));
    test.require(old == 0x1B, "xor");
    test.ok(Calls::and_(word, 0x12));
    test.ok(Calls::or_(word, 0x40));
    test.ok(Calls::xor_(word, 0x02));
    test.ok(Calls::fetch(word, &old));
    test.require(old == 0x50, "the forms that return nothing do the same");
}

template <class T>
void check_integer_later(Ranks &test, sennit_gptr word) {
    using Calls = AtomicCalls<T>;
    test.ok(Calls::set_nbi(word, 100));
    test.ok(sennit_flush(word.rank, SENNIT_FOREVER));
    for (int i = 0; i < 5; ++i) {
        test.ok(Calls::add_nbi(word, 2));
        test.ok(Calls::inc_nbi(word));
    }
    test.ok(sennit_flush(word.rank, SENNIT_FOREVER));
    const auto after = [&](sennit_status (*call)(sennit_gptr, T, T *, sennit_request *), T value) {
        T old{};
        sennit_request request = SENNIT_REQUEST_NULL;
        test.ok(call(word, value, &old, &request));
        test.ok(sennit_wait(&request, SENNIT_FOREVER));
        return old;
    };
    test.require(after(Calls::fetch_add_nb, 1) == 115, "the flush completes _nbi additions");
    test.require(after(Calls::swap_nb, 0x0F) == 116, "fetch_add_nb has added");
    test.require(after(Calls::fetch_and_nb, 0x0C) == 0x0F, "swap_nb has stored");
    test.require(after(Calls::fetch_or_nb, 0x01) == 0x0C, "fetch_and_nb");
    test.require(after(Calls::fetch_xor_nb, 0x10) == 0x0D, "fetch_or_nb");
    T old{};
    sennit_request request = SENNIT_REQUEST_NULL;
    test.ok(Calls::fetch_inc_nb(word, &old, &request));
    test.ok(sennit_wait(&request, SENNIT_FOREVER));
    test.require(old == 0x1D, "fetch_xor_nb");
    test.ok(Calls::compare_swap_nb(word, 0x1E, 7, &old, &request));
    test.ok(sennit_wait(&request, SENNIT_FOREVER));
    test.require(old == 0x1E, "fetch_inc_nb");
    test.ok(Calls::and_nbi(word, 6));
    test.ok(sennit_flush(word.rank, SENNIT_FOREVER));
    test.ok(Calls::or_nbi(word, 8));
    test.ok(sennit_flush(word.rank, SENNIT_FOREVER));
    test.ok(Calls::xor_nbi(word, 1));
    test.ok(sennit_flush_all(SENNIT_FOREVER));
    test.ok(Calls::fetch_nb(word, &old, &request));
    test.ok(sennit_wait(&request, SENNIT_FOREVER));
    test.require(old == 15, "and, or, xor work with _nbi");
}

template <class T>
void check_float(Ranks &test, sennit_gptr word) {
    using Calls = AtomicCalls<T>;
    const T nan = std::numeric_limits<T>::quiet_NaN();
    T old{};
    test.ok(Calls::set(word, T(1.5)));
    test.ok(Calls::fetch(word, &old));
    test.require(old == T(1.5), "fetch returns what set stored");
    test.ok(Calls::swap(word, T(0.0), &old));
    test.require(old == T(1.5), "swap returns the old value");
    test.ok(Calls::compare_swap(word, T(-0.0), T(2), &old));
    test.require(old == T(0) && !std::signbit(old), "-0.0 is not 0.0");
    test.ok(Calls::compare_swap(word, T(0.0), nan, &old));
    test.ok(Calls::compare_swap(word, nan, T(3), &old));
    test.require(std::isnan(old), "the NaN was stored");
    test.ok(Calls::fetch(word, &old));
    test.require(old == T(3), "the same NaN is equal");
    sennit_request request = SENNIT_REQUEST_NULL;
    test.ok(Calls::swap_nb(word, T(4), &old, &request));
    test.ok(sennit_wait(&request, SENNIT_FOREVER));
    test.require(old == T(3), "swap_nb");
    test.ok(Calls::compare_swap_nb(word, T(4), T(5), &old, &request));
    test.ok(sennit_wait(&request, SENNIT_FOREVER));
    test.ok(Calls::set_nbi(word, T(6)));
    test.ok(sennit_flush(word.rank, SENNIT_FOREVER));
    test.ok(Calls::fetch_nb(word, &old, &request));
    test.ok(sennit_wait(&request, SENNIT_FOREVER));
    test.require(old == T(6), "set_nbi");
}

sennit_gptr next_word(Ranks &test, sennit_gptr segment, std::int64_t offset) {
    return sennit_gptr_add(sennit_gptr_at(segment, test.next()), offset);
}

}  // namespace

// Broken by a function that does the work of another one, or uses another type's width.
RANK_TEST(atomic, every_operation_on_a_word_does_what_it_says, kAtomics) {
    const sennit_gptr segment = test.allocate(64);
    check_integer<std::int32_t>(test, next_word(test, segment, 4));
    check_integer<std::uint32_t>(test, next_word(test, segment, 12));
    check_integer<std::int64_t>(test, next_word(test, segment, 16));
    check_integer<std::uint64_t>(test, next_word(test, segment, 24));
    check_float<float>(test, next_word(test, segment, 36));
    check_float<double>(test, next_word(test, segment, 48));
    test.barrier();
    std::uint32_t words[16] = {};
    test.ok(sennit_get(words, sennit_gptr_at(segment, test.rank), sizeof words));
    for (const int neighbour : {0, 2, 8, 10, 11, 14, 15})
        test.equal(words[neighbour], 0u);
    test.free(segment);
}

// Broken by a request or a flush that forgets the old value or the operation.
RANK_TEST(atomic, operations_with_requests_and_flush_do_the_same, kAtomics) {
    const sennit_gptr segment = test.allocate(64);
    check_integer_later<std::int32_t>(test, next_word(test, segment, 4));
    check_integer_later<std::uint32_t>(test, next_word(test, segment, 12));
    check_integer_later<std::int64_t>(test, next_word(test, segment, 16));
    check_integer_later<std::uint64_t>(test, next_word(test, segment, 24));
    test.free(segment);
}

// Broken by an add that is not a single step, or is applied twice or never.
RANK_TEST(atomic, fetch_add_returns_each_value_to_one_rank, kAtomics) {
    const int each = test.quick ? 60 : 2000;
    const sennit_gptr segment = test.allocate(64);
    const sennit_gptr counter = sennit_gptr_at(segment, test.size - 1);
    const sennit_gptr tickets =
        test.allocate(static_cast<std::size_t>(each) * static_cast<std::size_t>(test.size) * 4);
    for (int i = 0; i < each; ++i) {
        std::int64_t old = -1;
        if (i % 3 == 0) {
            test.ok(sennit_atomic_fetch_inc_i64(counter, &old));
        } else if (i % 3 == 1) {
            test.ok(sennit_atomic_fetch_add_i64(counter, 1, &old));
        } else {
            sennit_request request = SENNIT_REQUEST_NULL;
            test.ok(sennit_atomic_fetch_add_i64_nb(counter, 1, &old, &request));
            test.ok(sennit_wait(&request, SENNIT_FOREVER));
        }
        test.require(old >= 0 && old < std::int64_t{each} * test.size, "the number is in range");
        test.ok(sennit_atomic_inc_u32_nbi(sennit_gptr_add(sennit_gptr_at(tickets, 0), 4 * old)));
    }
    test.ok(sennit_flush_all(SENNIT_FOREVER));
    test.barrier();
    std::vector<std::uint32_t> seen(static_cast<std::size_t>(each) *
                                    static_cast<std::size_t>(test.size));
    test.ok(sennit_get(seen.data(), sennit_gptr_at(tickets, 0), seen.size() * 4));
    test.require(
        std::all_of(seen.begin(), seen.end(), [](std::uint32_t times) { return times == 1; }),
        "each number was returned once");
    test.barrier();
    test.free(tickets);
    test.free(segment);
}

// Broken by a compare_swap with two winners.
RANK_TEST(atomic, one_rank_wins_each_compare_swap, kAtomics) {
    const int rounds = test.quick ? 10 : 200;
    const sennit_gptr segment = test.allocate(8 * static_cast<std::size_t>(rounds));
    int won = 0;
    for (int round = 0; round < rounds; ++round) {
        const sennit_gptr word =
            sennit_gptr_add(sennit_gptr_at(segment, round % test.size), 8 * round);
        std::uint64_t old = 99;
        test.ok(sennit_atomic_compare_swap_u64(word, 0, static_cast<std::uint64_t>(test.rank) + 1,
                                               &old));
        if (old == 0) ++won;
        std::uint64_t now = 0;
        test.ok(sennit_atomic_fetch_u64(word, &now));
        test.equal(now, old == 0 ? static_cast<std::uint64_t>(test.rank) + 1 : old);
    }
    int all = 0;
    for (const int theirs : test.tell_all(won))
        all += theirs;
    test.equal(all, rounds);
    test.free(segment);
}

// Broken by an atomic operation without release order for earlier puts, or without acquire order.
RANK_TEST(atomic, data_put_before_a_flag_is_visible_with_it, kAtomics | kTwoRanks) {
    const int rounds = test.quick ? 5 : 100;
    const sennit_gptr segment = test.allocate(4096);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    const sennit_gptr mine = sennit_gptr_at(segment, test.rank);
    std::vector<std::uint8_t> bytes(2048);
    for (std::uint64_t round = 1; round <= static_cast<std::uint64_t>(rounds); ++round) {
        fill(bytes.data(), bytes.size(), round);
        test.ok(sennit_put(sennit_gptr_add(there, 1024), bytes.data(), bytes.size()));
        test.ok(sennit_atomic_set_u64(there, round));
        std::uint64_t seen = 0;
        while (seen < round) {
            test.ok(sennit_atomic_fetch_u64(mine, &seen));
            if (seen < round) {
                // The previous rank may need this rank's progress, and its processor.
                int done = 0;
                sennit_request request = SENNIT_REQUEST_NULL;
                test.ok(sennit_test(&request, &done));
                test.ok(sennit_flush_all(SENNIT_FOREVER));
            }
        }
        test.ok(sennit_get(bytes.data(), sennit_gptr_add(mine, 1024), bytes.size()));
        check_pattern(test, bytes.data(), bytes.size(), round);
        test.barrier();
    }
    test.free(segment);
}

// Broken by a fence that treats atomic operations as reads.
RANK_TEST(atomic, fence_orders_operations_that_change_a_word, kAtomics) {
    const int rounds = test.quick ? 10 : 100;
    const sennit_gptr segment = test.allocate(64);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    for (int round = 0; round < rounds; ++round) {
        const auto value = static_cast<std::uint64_t>(round) * 16;
        test.ok(sennit_atomic_set_u64_nbi(there, value));
        test.ok(sennit_fence());
        test.ok(sennit_atomic_add_u64_nbi(there, 5));
        test.ok(sennit_fence());
        test.ok(sennit_atomic_or_u64_nbi(there, 8));
        test.ok(sennit_fence());
        std::uint64_t last = value + 1;
        if (round % 2 == 1) test.ok(sennit_put_nbi(there, &last, 8));
        test.ok(sennit_flush(there.rank, SENNIT_FOREVER));
        std::uint64_t now = 0;
        test.ok(sennit_atomic_fetch_u64(there, &now));
        test.equal(now, round % 2 == 1 ? last : (value + 5) | 8);
    }
    test.barrier();
    test.free(segment);
}

// Broken by an alignment that is checked in the wrong place, or too late.
RANK_TEST(atomic, words_that_are_not_aligned_or_leave_the_segment_are_refused, kAtomics) {
    const sennit_gptr segment = test.allocate(64);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    std::int64_t old = 77;
    test.is(sennit_atomic_fetch_add_i64(sennit_gptr_add(there, 4), 1, &old), SENNIT_ERR_ARG);
    test.is(sennit_atomic_add_i32(sennit_gptr_add(there, 2), 1), SENNIT_ERR_ARG);
    test.is(sennit_atomic_fetch_add_i64(sennit_gptr_add(there, 64), 1, &old), SENNIT_ERR_RANGE);
    test.is(sennit_atomic_add_i32(sennit_gptr_add(there, -4), 1), SENNIT_ERR_RANGE);
    const std::int32_t ones[4] = {1, 1, 1, 1};
    test.is(sennit_accumulate(sennit_gptr_add(there, 2), ones, 1, SENNIT_INT32, SENNIT_SUM),
            SENNIT_ERR_ARG);
    test.is(sennit_accumulate(sennit_gptr_add(there, 52), ones, 4, SENNIT_INT32, SENNIT_SUM),
            SENNIT_ERR_RANGE);
    test.is(sennit_accumulate(there, ones, SIZE_MAX / 2, SENNIT_INT32, SENNIT_SUM),
            SENNIT_ERR_RANGE);
    test.is(sennit_accumulate(there, ones, 1, SENNIT_FLOAT, SENNIT_XOR), SENNIT_ERR_UNSUPPORTED);
    test.equal(old, 77);
    test.ok(sennit_accumulate(there, ones, 0, SENNIT_INT32, SENNIT_SUM));
    test.barrier();
    std::uint64_t words[8] = {};
    test.ok(sennit_get(words, sennit_gptr_at(segment, test.rank), sizeof words));
    for (const std::uint64_t word : words)
        test.equal(word, 0u);
    test.barrier();
    test.free(segment);
}

// Broken by an atomic operation that copies private memory, changes the copy and copies it back:
// other ranks' updates between the copies would be lost.
RANK_TEST(atomic, atomics_on_registered_memory_work_or_are_refused, kAnything) {
    alignas(64) std::int64_t words[8] = {};
    sennit_region mine = SENNIT_REGION_NULL;
    std::vector<sennit_region> regions(static_cast<std::size_t>(test.size));
    test.ok(sennit_register(words, sizeof words, 0, &mine));
    const sennit_status attached = sennit_region_attach(SENNIT_TEAM_WORLD, mine, regions.data());
    if (attached != SENNIT_OK) test.is(attached, SENNIT_ERR_UNSUPPORTED);
    if (attached == SENNIT_OK) {
        const sennit_gptr there = regions[static_cast<std::size_t>(test.next())].gptr;
        sennit_path path = SENNIT_PATH_NONE;
        test.ok(sennit_peer_path(test.next(), &path));
        const bool possible = sennit_ptr(there) != nullptr || test.sends_to(test.next());
        std::int64_t old = -1;
        test.is(sennit_atomic_fetch_add_i64(there, 7, &old),
                possible ? SENNIT_OK : SENNIT_ERR_UNSUPPORTED);
        test.equal(old, possible ? 0 : -1);
        test.is(sennit_accumulate(there, &old, 1, SENNIT_INT64, SENNIT_SUM),
                possible ? SENNIT_OK : SENNIT_ERR_UNSUPPORTED);
        test.barrier();
        test.ok(sennit_get(&old, regions[static_cast<std::size_t>(test.rank)].gptr, 8));
        sennit_path from = SENNIT_PATH_NONE;
        test.ok(sennit_peer_path(test.previous(), &from));
        if (possible && from == path) test.equal(old, 7);
    }
    test.barrier();
    test.ok(sennit_deregister(mine));
}
