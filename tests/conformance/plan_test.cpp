// Plans: recorded, committed, and run again and again.
#include <vector>

#include "signals.hpp"

using namespace conformance;

namespace {

// The memory of a rank, a signal for puts and one for gets, and the next rank's block with both.
struct Ring {
    sennit_gptr memory = SENNIT_GPTR_NULL;
    sennit_signal read = SENNIT_SIGNAL_NULL;
    sennit_signal arrived = SENNIT_SIGNAL_NULL;
    sennit_peer_block next = SENNIT_PEER_BLOCK_NULL;
    std::uint8_t *own = nullptr;

    Ring(Ranks &test, std::size_t bytes, std::uint32_t puts, std::uint32_t gets) {
        memory = test.allocate(bytes);
        own = static_cast<std::uint8_t *>(sennit_ptr(memory));
        arrived = make_signal(test, puts, 10000);
        read = make_signal(test, gets, 10000);
        sennit_block mine;
        test.ok(sennit_block_init({sennit_gptr_at(memory, test.rank), bytes}, 0, bytes, read,
                                  arrived, &mine));
        const auto blocks = test.tell_all(mine);
        test.ok(sennit_block_attach(&blocks[static_cast<std::size_t>(test.next())], &next));
    }
    void end(Ranks &test) const {
        test.barrier();
        test.ok(sennit_block_detach(next));
        test.ok(sennit_signal_destroy(arrived));
        test.ok(sennit_signal_destroy(read));
        test.free(memory);
    }
};

sennit_plan make_plan(Ranks &test) {
    sennit_plan plan = SENNIT_PLAN_NULL;
    test.ok(sennit_plan_create(&plan));
    test.require(plan.handle != 0, "there is a handle");
    return plan;
}

void start_when_taken(Ranks &test, sennit_plan plan) {
    const std::uint64_t word = 0;
    sennit_status status = sennit_plan_start(plan);
    while (status == SENNIT_ERR_SIGNAL_EARLY) {
        (void)sennit_signal_wait_word(&word, SENNIT_NOT_EQUAL, 0, 0);
        status = sennit_plan_start(plan);
    }
    test.ok(status);
}

}  // namespace

// Broken by pieces that are merged although they do not touch, a lost event of a merged piece, or a
// run in another run's epoch. Two plans take turns with two halves.
RANK_TEST(plan, pieces_of_every_size_arrive_in_every_run, kAnything) {
    test.programs(test.quick ? 3 : 25, [&] {
        const std::size_t count = test.common.between(1, 40);
        const std::size_t half = 4096;
        const Ring ring(test, 2 * half, static_cast<std::uint32_t>(count), 1);
        std::vector<std::uint8_t> data(2 * half);
        sennit_plan plans[2] = {make_plan(test), make_plan(test)};
        // The same pieces on all ranks, often adjacent.
        std::vector<std::uint8_t> is_put(half, 0);
        std::size_t offset = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t bytes = test.common.between(0, 90);
            if (test.common.one_in(3)) offset += test.common.between(1, 12);
            for (std::size_t b = 0; b < bytes; ++b)
                is_put[offset + b] = 1;
            for (std::size_t turn = 0; turn < 2; ++turn)
                test.ok(sennit_plan_put(plans[turn], ring.next, turn * half + offset,
                                        data.data() + turn * half + offset, bytes));
            offset += bytes;
        }
        test.ok(sennit_plan_commit(plans[0], 0, 2));
        test.ok(sennit_plan_commit(plans[1], 1, 2));
        for (std::uint64_t epoch = 0; epoch < (test.quick ? 6u : 30u); ++epoch) {
            const std::size_t begin = epoch % 2 * half;
            fill(data.data() + begin, half, epoch * 64 + static_cast<std::uint64_t>(test.rank));
            start_when_taken(test, plans[epoch % 2]);
            test.ok(sennit_plan_wait(plans[epoch % 2], SENNIT_FOREVER));
            test.ok(sennit_signal_wait(ring.arrived, SENNIT_FOREVER));
            for (std::size_t b = 0; b < half; ++b) {
                const std::uint8_t wanted =
                    pattern_byte(epoch * 64 + static_cast<std::uint64_t>(test.previous()), b);
                test.equal(ring.own[begin + b], is_put[b] != 0 ? wanted : 0);
            }
            test.ok(sennit_signal_reset(ring.arrived));
        }
        test.barrier();
        for (const sennit_plan plan : plans)
            test.ok(sennit_plan_destroy(plan));
        ring.end(test);
    });
}

// Broken by a direction that uses the state of the other one.
RANK_TEST(plan, puts_and_gets_of_one_plan_count_in_their_own_signals, kAnything) {
    const Ring ring(test, 128, 2, 1);
    std::uint64_t out[2] = {0, 0};
    std::uint64_t in = 0;
    const sennit_plan plan = make_plan(test);
    test.ok(sennit_plan_put(plan, ring.next, 0, &out[0], 8));
    test.ok(sennit_plan_get(plan, &in, ring.next, 64, 8));
    test.ok(sennit_plan_put(plan, ring.next, 8, &out[1], 8));
    test.ok(sennit_plan_commit(plan, 0, 1));
    auto *words = reinterpret_cast<std::uint64_t *>(ring.own);
    for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
        words[8] = 1000 * epoch + static_cast<std::uint64_t>(test.rank);
        test.barrier();
        out[0] = 10 * epoch;
        out[1] = 10 * epoch + 1;
        test.ok(sennit_plan_start(plan));
        test.ok(sennit_plan_wait(plan, SENNIT_FOREVER));
        test.equal(in, 1000 * epoch + static_cast<std::uint64_t>(test.next()));
        test.ok(sennit_signal_wait(ring.arrived, SENNIT_FOREVER));
        test.ok(sennit_signal_wait(ring.read, SENNIT_FOREVER));
        test.equal(words[0], 10 * epoch);
        test.equal(words[1], 10 * epoch + 1);
        test.barrier();
        test.ok(sennit_signal_reset(ring.arrived));
        test.ok(sennit_signal_reset(ring.read));
    }
    test.ok(sennit_plan_destroy(plan));
    ring.end(test);
}

// Broken by a call that ignores the plan's state, or a refused run that moves data.
RANK_TEST(plan, calls_that_do_not_fit_the_state_are_refused, kAnything) {
    const Ring ring(test, 64, 2, 1);
    const std::uint64_t word = 7;
    std::uint64_t got = 9;
    const sennit_plan plan = make_plan(test);
    test.is(sennit_plan_start(plan), SENNIT_ERR_STATE);
    test.is(sennit_plan_wait(plan, 0), SENNIT_ERR_STATE);
    test.is(sennit_plan_put(plan, ring.next, 57, &word, 8), SENNIT_ERR_RANGE);
    test.is(sennit_plan_get(plan, &got, ring.next, SIZE_MAX, 8), SENNIT_ERR_RANGE);
    test.is(sennit_plan_put(plan, ring.next, 0, nullptr, 8), SENNIT_ERR_ARG);
    test.is(sennit_plan_put(plan, {0x7FFFFFFF}, 0, &word, 8), SENNIT_ERR_ARG);
    test.ok(sennit_plan_put(plan, ring.next, 0, &word, 8));
    test.ok(sennit_plan_put(plan, ring.next, 8, nullptr, 0));
    test.ok(sennit_plan_put(plan, ring.next, 16, &word, 8));
    test.is(sennit_plan_commit(plan, 0, 1), SENNIT_ERR_ARG);  // the signal expects two
    test.ok(sennit_plan_destroy(plan));
    test.is(sennit_plan_destroy(plan), SENNIT_ERR_ARG);
    test.is(sennit_plan_start(plan), SENNIT_ERR_ARG);

    const sennit_plan next = make_plan(test);
    test.require(next.handle != plan.handle, "a handle is not reused soon");
    test.ok(sennit_plan_put(next, ring.next, 0, &word, 8));
    test.ok(sennit_plan_put(next, ring.next, 8, &word, 8));
    test.ok(sennit_plan_commit(next, 0, 1));
    test.is(sennit_plan_commit(next, 0, 1), SENNIT_ERR_STATE);
    test.is(sennit_plan_put(next, ring.next, 0, &word, 8), SENNIT_ERR_STATE);
    test.ok(sennit_plan_start(next));
    test.is(sennit_plan_start(next), SENNIT_ERR_STATE);
    test.is(sennit_plan_destroy(next), SENNIT_ERR_STATE);
    test.is(sennit_plan_wait(next, -1), SENNIT_ERR_ARG);
    test.ok(sennit_plan_wait(next, SENNIT_FOREVER));
    test.is(sennit_plan_wait(next, 0), SENNIT_ERR_STATE);
    test.ok(sennit_plan_start(next));  // epoch 1, early
    test.ok(sennit_plan_wait(next, SENNIT_FOREVER));
    test.is(sennit_plan_start(next), SENNIT_ERR_SIGNAL_EARLY);
    test.ok(sennit_signal_wait(ring.arrived, SENNIT_FOREVER));
    test.barrier();
    test.ok(sennit_signal_reset(ring.arrived));
    test.barrier();
    test.ok(sennit_plan_start(next));  // the same run, now in time
    test.ok(sennit_plan_wait(next, SENNIT_FOREVER));
    test.ok(sennit_plan_destroy(next));

    const sennit_plan empty = make_plan(test);
    test.ok(sennit_plan_commit(empty, 0, 1));
    test.ok(sennit_plan_start(empty));
    test.ok(sennit_plan_wait(empty, SENNIT_FOREVER));
    test.ok(sennit_plan_destroy(empty));

    const sennit_plan stale = make_plan(test);
    test.ok(sennit_plan_put(stale, ring.next, 0, &word, 8));
    test.ok(sennit_plan_commit(stale, 5, 1));
    test.is(sennit_plan_start(stale), SENNIT_ERR_SIGNAL_EARLY);
    test.barrier();
    ring.end(test);
    test.is(sennit_plan_start(stale), SENNIT_ERR_ARG);  // its block is detached
    test.ok(sennit_plan_destroy(stale));
}

// Broken by a start that checks one owner after data for another has moved or an event has been
// counted: the repeated run would count it twice.
RANK_TEST(plan, nothing_moves_for_any_owner_when_one_of_them_is_behind, kAnything) {
    // The caller's own block, whose signal advances, is recorded first, then the next rank's block.
    const Ring ahead(test, 64, 1, 1);
    const Ring behind(test, 64, 1, 1);
    sennit_block mine;
    test.ok(sennit_block_init({sennit_gptr_at(ahead.memory, test.rank), 64}, 0, 64, ahead.read,
                              ahead.arrived, &mine));
    sennit_peer_block own = SENNIT_PEER_BLOCK_NULL;
    test.ok(sennit_block_attach(&mine, &own));
    std::uint64_t word = 0;
    std::uint64_t got = 99;
    auto *there = reinterpret_cast<std::uint64_t *>(ahead.own);
    const sennit_plan plan = make_plan(test);
    test.ok(sennit_plan_put(plan, own, 0, &word, 8));
    test.ok(sennit_plan_get(plan, &got, own, 8, 8));
    test.ok(sennit_plan_put(plan, behind.next, 0, &word, 8));
    test.ok(sennit_plan_commit(plan, 0, 1));
    for (std::uint64_t run = 0; run < 3; ++run) {
        word = run + 1;
        there[1] = 10 * run;
        if (run == 2) {
            const std::uint64_t before = got;
            test.is(sennit_plan_start(plan), SENNIT_ERR_SIGNAL_EARLY);
            test.equal(there[0], 2u);
            test.equal(got, before);
            test.equal(left_of(test, ahead.arrived), 1u);
            test.equal(left_of(test, ahead.read), 1u);
            test.ok(sennit_signal_wait(behind.arrived, SENNIT_FOREVER));
            test.barrier();
            test.ok(sennit_signal_reset(behind.arrived));
            test.barrier();
        }
        test.ok(sennit_plan_start(plan));
        test.ok(sennit_plan_wait(plan, SENNIT_FOREVER));
        test.equal(there[0], run + 1);
        test.equal(got, 10 * run);
        for (const sennit_signal signal : {ahead.arrived, ahead.read}) {
            test.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
            test.ok(sennit_signal_reset(signal));
        }
    }
    test.barrier();
    test.ok(sennit_plan_destroy(plan));
    test.ok(sennit_block_detach(own));
    behind.end(test);
    ahead.end(test);
}

// Each plan puts one word, and every hundredth runs. Broken by a limit on the number of plans, by a
// run that moves another plan's data, and by the end of one plan that ends others.
RANK_TEST(plan, a_rank_has_fifty_thousand_plans, kOnce) {
    constexpr std::size_t kPlans = 50'000;
    constexpr std::size_t kStride = 100;
    const Ring ring(test, kPlans * 8, kPlans / kStride, 1);
    const auto word_of = [](int rank, std::size_t plan) {
        return std::uint64_t{plan + 1} << 16 | static_cast<std::uint64_t>(rank);
    };
    std::vector<std::uint64_t> words(kPlans);
    std::vector<sennit_plan> plans(kPlans);
    for (std::size_t i = 0; i < kPlans; ++i) {
        words[i] = word_of(test.rank, i);
        plans[i] = make_plan(test);
        test.ok(sennit_plan_put(plans[i], ring.next, i * 8, &words[i], 8));
        test.ok(sennit_plan_commit(plans[i], 0, 1));
    }
    // When the last plan of a hundred runs, the plans before it have been destroyed.
    for (std::size_t i = 0; i < kPlans; ++i) {
        if (i % kStride == kStride - 1) {
            test.ok(sennit_plan_start(plans[i]));
            test.ok(sennit_plan_wait(plans[i], SENNIT_FOREVER));
        }
        test.ok(sennit_plan_destroy(plans[i]));
        test.is(sennit_plan_start(plans[i]), SENNIT_ERR_ARG);
    }
    test.ok(sennit_signal_wait(ring.arrived, SENNIT_FOREVER));
    const auto *own = reinterpret_cast<const std::uint64_t *>(ring.own);
    for (std::size_t i = 0; i < kPlans; ++i)
        test.equal(own[i], i % kStride == kStride - 1 ? word_of(test.previous(), i) : 0);
    ring.end(test);
}
