// Large puts and gets where a rail brings a part while the processor copies the rest
// (SENNIT_RAIL_SHARE). The tests also hold without the knob; CMakeLists.txt has the runs with it.
#include <algorithm>

#include "next_block.hpp"

using namespace conformance;

namespace {

constexpr std::size_t kSplitFrom = 524288;
constexpr std::size_t kMost = 3 * kSplitFrom + 777;
constexpr unsigned kNeeds = kTwoRanks | kOnlyNamed;

struct Ring : NextBlock {
    std::uint8_t *own;

    explicit Ring(Ranks &ranks)
        : NextBlock(ranks, 2 * kMost, make_signal(ranks, 1), make_signal(ranks, 1)),
          own(static_cast<std::uint8_t *>(sennit_ptr(memory))) {}
};

}  // namespace

// Broken by parts that leave a gap or leave the range, by a call that returns before the rail has
// brought its part, or that reads its private buffer after its return.
RANK_TEST(split, all_bytes_of_a_large_copy_move_and_no_others, kNeeds) {
    const sennit_gptr segment = test.allocate(kMost + 64);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    std::vector<std::uint8_t> out(kMost + 64);
    std::vector<std::uint8_t> in(kMost + 64);
    std::uint64_t number = 0;
    for (const std::size_t bytes : {kSplitFrom - 1, kSplitFrom, kSplitFrom + 1, kMost})
        for (int way = 0; way < 4; ++way) {
            const std::uint64_t salt = ++number * 64 + static_cast<std::uint64_t>(test.rank);
            const std::size_t skew = number % 7;
            const sennit_gptr place = sennit_gptr_add(there, static_cast<std::int64_t>(skew) + 1);
            sennit_request request = SENNIT_REQUEST_NULL;
            std::fill(out.begin(), out.end(), std::uint8_t{0x11});
            test.ok(sennit_put(there, out.data(), out.size()));
            fill(out.data() + 3, bytes, salt);
            if (way == 0) test.ok(sennit_put(place, out.data() + 3, bytes));
            if (way == 1) test.ok(sennit_put_nb(place, out.data() + 3, bytes, &request));
            if (way == 2) test.ok(sennit_put_nbi(place, out.data() + 3, bytes));
            if (way == 3) test.ok(sennit_put_local(place, out.data() + 3, bytes));
            test.ok(sennit_wait(&request, SENNIT_FOREVER));
            if (way == 2) test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
            std::fill(out.begin(), out.end(), std::uint8_t{0x22});
            test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
            std::fill(in.begin(), in.end(), std::uint8_t{0x33});
            if (way == 0 || way == 3) test.ok(sennit_get(in.data() + 5, place, bytes));
            if (way == 1) test.ok(sennit_get_nb(in.data() + 5, place, bytes, &request));
            if (way == 2) test.ok(sennit_get_nbi(in.data() + 5, place, bytes));
            test.ok(sennit_wait(&request, SENNIT_FOREVER));
            if (way == 2) test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
            check_pattern(test, in.data() + 5, bytes, salt);
            test.equal(in[4], 0x33);
            test.equal(in[5 + bytes], 0x33);
            std::uint8_t around[2] = {};
            test.ok(sennit_get(&around[0], sennit_gptr_add(place, -1), 1));
            test.ok(sennit_get(&around[1], sennit_gptr_add(place, static_cast<std::int64_t>(bytes)),
                               1));
            test.equal(around[0], 0x11);
            test.equal(around[1], 0x11);
        }
    test.barrier();
    test.free(segment);
}

// Broken by an event that is counted when the processor has copied its part, but before the rail
// has brought the other. Two halves take turns, as senders run an epoch ahead.
RANK_TEST(split, the_event_of_a_large_put_comes_after_both_parts, kNeeds) {
    Ring ring(test);
    std::vector<std::uint8_t> data(kMost);
    for (std::uint64_t epoch = 0; epoch < (test.quick ? 12u : 60u); ++epoch) {
        const std::size_t bytes = test.common.between(kSplitFrom, kMost);
        const std::size_t begin = epoch % 2 * kMost;
        fill(data.data(), bytes, epoch * 64 + static_cast<std::uint64_t>(test.rank));
        // On paths with messages the request may report that the owner is behind.
        if (epoch % 3 == 2 && test.loads_from(test.next())) {
            sennit_request request = SENNIT_REQUEST_NULL;
            when_taken(test, [&] {
                return sennit_put_notify_nb(ring.next, begin, data.data(), bytes, nullptr,
                                            &request);
            });
            test.ok(sennit_wait(&request, SENNIT_FOREVER));
        } else {
            when_taken(test,
                       [&] { return sennit_put_notify(ring.next, begin, data.data(), bytes); });
        }
        std::fill(data.begin(), data.end(), std::uint8_t{0x44});
        test.ok(sennit_signal_wait(ring.arrived, SENNIT_FOREVER));
        check_pattern(test, ring.own + begin, bytes,
                      epoch * 64 + static_cast<std::uint64_t>(test.previous()));
        test.ok(sennit_signal_reset(ring.arrived));
    }
    ring.end();
}

// Broken by an event that lets the owner write while the rail still reads.
RANK_TEST(split, the_owner_is_notified_of_a_large_get_after_both_parts, kNeeds) {
    Ring ring(test);
    std::vector<std::uint8_t> got(kMost);
    for (std::uint64_t epoch = 0; epoch < (test.quick ? 8u : 40u); ++epoch) {
        fill(ring.own, kMost, epoch * 64 + static_cast<std::uint64_t>(test.rank));
        test.barrier();
        test.ok(sennit_get_notify(got.data(), ring.next, 0, kMost));
        check_pattern(test, got.data(), kMost,
                      epoch * 64 + static_cast<std::uint64_t>(test.next()));
        test.ok(sennit_signal_wait(ring.read, SENNIT_FOREVER));
        std::fill_n(ring.own, kMost, std::uint8_t{0x55});
        test.ok(sennit_signal_reset(ring.read));
    }
    ring.end();
}

// Broken by a flush that ignores the rail's part.
RANK_TEST(split, data_of_a_large_put_is_visible_after_the_flush, kNeeds) {
    const sennit_gptr segment = test.allocate(kMost + 64);
    auto *own = static_cast<std::uint8_t *>(sennit_ptr(segment));
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    const auto *word = reinterpret_cast<const std::uint64_t *>(own);
    std::vector<std::uint8_t> data(kMost);
    for (std::uint64_t round = 1; round <= (test.quick ? 8u : 40u); ++round) {
        fill(data.data(), kMost, round * 64 + static_cast<std::uint64_t>(test.rank));
        test.ok(sennit_put_nbi(sennit_gptr_add(there, 64), data.data(), kMost));
        test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
        test.ok(sennit_put(there, &round, sizeof round));
        test.ok(sennit_signal_wait_word(word, SENNIT_GREATER_EQUAL, round, SENNIT_FOREVER));
        check_pattern(test, own + 64, kMost,
                      round * 64 + static_cast<std::uint64_t>(test.previous()));
        test.barrier();
    }
    test.free(segment);
}

// Broken by a part of a move that overwrites the unread source of another part.
RANK_TEST(split, large_moves_within_a_peers_memory_may_overlap, kNeeds) {
    const sennit_gptr segment = test.allocate(2 * kMost);
    const sennit_gptr there = sennit_gptr_at(segment, test.next());
    auto *theirs = static_cast<std::uint8_t *>(sennit_ptr(there));
    for (const std::int64_t distance : {100, 300000, 1000000}) {
        test.barrier();
        if (theirs == nullptr) continue;
        const auto salt = static_cast<std::uint64_t>(test.rank + distance);
        fill(theirs, kMost, salt);
        test.ok(sennit_put(sennit_gptr_add(there, distance), theirs, kMost));
        check_pattern(test, theirs + distance, kMost, salt);
        fill(theirs + distance, kMost, salt + 1);
        test.ok(sennit_put(there, theirs + distance, kMost));
        check_pattern(test, theirs, kMost, salt + 1);
    }
    test.barrier();
    test.free(segment);
}
