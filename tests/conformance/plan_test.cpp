// Plans: recorded, committed, run again and again.
#include <vector>

#include "signals.hpp"

using namespace conformance;

namespace {

// The memory of a rank, a signal for what is put there and one for what is got, and the next
// rank's block with both.
struct Ring {
    sennit_gptr memory = SENNIT_GPTR_NULL;
    sennit_signal read = SENNIT_SIGNAL_NULL;
    sennit_signal arrived = SENNIT_SIGNAL_NULL;
    sennit_peer_block next = SENNIT_PEER_BLOCK_NULL;
    std::uint8_t *own = nullptr;

    Ring(Ranks &it, std::size_t bytes, std::uint32_t puts, std::uint32_t gets) {
        memory = it.allocate(bytes);
        own = static_cast<std::uint8_t *>(sennit_ptr(memory));
        arrived = make_signal(it, puts, 10000);
        read = make_signal(it, gets, 10000);
        sennit_block mine;
        it.ok(sennit_block_init({sennit_gptr_at(memory, it.rank), bytes}, 0, bytes, read, arrived,
                                &mine));
        const auto blocks = it.tell_all(mine);
        it.ok(sennit_block_attach(&blocks[static_cast<std::size_t>(it.next())], &next));
    }
    void end(Ranks &it) const {
        it.barrier();
        it.ok(sennit_block_detach(next));
        it.ok(sennit_signal_destroy(arrived));
        it.ok(sennit_signal_destroy(read));
        it.free(memory);
    }
};

sennit_plan make_plan(Ranks &it) {
    sennit_plan plan = SENNIT_PLAN_NULL;
    it.ok(sennit_plan_create(&plan));
    it.require(plan.handle != 0, "there is a handle");
    return plan;
}

void start_when_taken(Ranks &it, sennit_plan plan) {
    const std::uint64_t word = 0;
    sennit_status status = sennit_plan_start(plan);
    while (status == SENNIT_ERR_SIGNAL_EARLY) {
        (void)sennit_signal_wait_word(&word, SENNIT_NOT_EQUAL, 0, 0);
        status = sennit_plan_start(plan);
    }
    it.ok(status);
}

}  // namespace

// Broken by pieces that are merged although they do not touch, an event for a merged piece that is
// forgotten, or a run in the epoch of another. Two plans take turns with two halves.
RANK_TEST(plan, pieces_of_every_size_arrive_in_every_run, kAnything) {
    it.programs(it.quick ? 3 : 25, [&] {
        const std::size_t count = it.common.between(1, 40);
        const std::size_t half = 4096;
        const Ring ring(it, 2 * half, static_cast<std::uint32_t>(count), 1);
        std::vector<std::uint8_t> data(2 * half);
        sennit_plan plans[2] = {make_plan(it), make_plan(it)};
        // The same pieces on all ranks: often right behind each other.
        std::vector<std::uint8_t> is_put(half, 0);
        std::size_t offset = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t bytes = it.common.between(0, 90);
            if (it.common.one_in(3)) offset += it.common.between(1, 12);
            for (std::size_t b = 0; b < bytes; ++b)
                is_put[offset + b] = 1;
            for (std::size_t turn = 0; turn < 2; ++turn)
                it.ok(sennit_plan_put(plans[turn], ring.next, turn * half + offset,
                                      data.data() + turn * half + offset, bytes));
            offset += bytes;
        }
        it.ok(sennit_plan_commit(plans[0], 0, 2));
        it.ok(sennit_plan_commit(plans[1], 1, 2));
        for (std::uint64_t epoch = 0; epoch < (it.quick ? 6u : 30u); ++epoch) {
            const std::size_t begin = epoch % 2 * half;
            fill(data.data() + begin, half, epoch * 64 + static_cast<std::uint64_t>(it.rank));
            start_when_taken(it, plans[epoch % 2]);
            it.ok(sennit_plan_wait(plans[epoch % 2], SENNIT_FOREVER));
            it.ok(sennit_signal_wait(ring.arrived, SENNIT_FOREVER));
            for (std::size_t b = 0; b < half; ++b) {
                const std::uint8_t wanted =
                    pattern_byte(epoch * 64 + static_cast<std::uint64_t>(it.previous()), b);
                it.equal(ring.own[begin + b], is_put[b] != 0 ? wanted : 0);
            }
            it.ok(sennit_signal_reset(ring.arrived));
        }
        it.barrier();
        for (const sennit_plan plan : plans)
            it.ok(sennit_plan_destroy(plan));
        ring.end(it);
    });
}

// Broken by directions that share what belongs to one of them.
RANK_TEST(plan, puts_and_gets_of_one_plan_count_in_their_own_signals, kAnything) {
    const Ring ring(it, 128, 2, 1);
    std::uint64_t out[2] = {0, 0};
    std::uint64_t in = 0;
    const sennit_plan plan = make_plan(it);
    it.ok(sennit_plan_put(plan, ring.next, 0, &out[0], 8));
    it.ok(sennit_plan_get(plan, &in, ring.next, 64, 8));
    it.ok(sennit_plan_put(plan, ring.next, 8, &out[1], 8));
    it.ok(sennit_plan_commit(plan, 0, 1));
    auto *words = reinterpret_cast<std::uint64_t *>(ring.own);
    for (std::uint64_t epoch = 0; epoch < 20; ++epoch) {
        words[8] = 1000 * epoch + static_cast<std::uint64_t>(it.rank);
        it.barrier();
        out[0] = 10 * epoch;
        out[1] = 10 * epoch + 1;
        it.ok(sennit_plan_start(plan));
        it.ok(sennit_plan_wait(plan, SENNIT_FOREVER));
        it.equal(in, 1000 * epoch + static_cast<std::uint64_t>(it.next()));
        it.ok(sennit_signal_wait(ring.arrived, SENNIT_FOREVER));
        it.ok(sennit_signal_wait(ring.read, SENNIT_FOREVER));
        it.equal(words[0], 10 * epoch);
        it.equal(words[1], 10 * epoch + 1);
        it.barrier();
        it.ok(sennit_signal_reset(ring.arrived));
        it.ok(sennit_signal_reset(ring.read));
    }
    it.ok(sennit_plan_destroy(plan));
    ring.end(it);
}

// Broken by a state that is not looked at, or a run that moves something before it is refused.
RANK_TEST(plan, calls_that_do_not_fit_the_state_are_refused, kAnything) {
    const Ring ring(it, 64, 2, 1);
    const std::uint64_t word = 7;
    std::uint64_t got = 9;
    const sennit_plan plan = make_plan(it);
    it.is(sennit_plan_start(plan), SENNIT_ERR_STATE);
    it.is(sennit_plan_wait(plan, 0), SENNIT_ERR_STATE);
    it.is(sennit_plan_put(plan, ring.next, 57, &word, 8), SENNIT_ERR_RANGE);
    it.is(sennit_plan_get(plan, &got, ring.next, SIZE_MAX, 8), SENNIT_ERR_RANGE);
    it.is(sennit_plan_put(plan, ring.next, 0, nullptr, 8), SENNIT_ERR_ARG);
    it.is(sennit_plan_put(plan, {0x7FFFFFFF}, 0, &word, 8), SENNIT_ERR_ARG);
    it.ok(sennit_plan_put(plan, ring.next, 0, &word, 8));
    it.ok(sennit_plan_put(plan, ring.next, 8, nullptr, 0));
    it.ok(sennit_plan_put(plan, ring.next, 16, &word, 8));
    it.is(sennit_plan_commit(plan, 0, 1), SENNIT_ERR_ARG);  // the signal expects two
    it.ok(sennit_plan_destroy(plan));
    it.is(sennit_plan_destroy(plan), SENNIT_ERR_ARG);
    it.is(sennit_plan_start(plan), SENNIT_ERR_ARG);

    const sennit_plan next = make_plan(it);
    it.require(next.handle != plan.handle, "handles come back late");
    it.ok(sennit_plan_put(next, ring.next, 0, &word, 8));
    it.ok(sennit_plan_put(next, ring.next, 8, &word, 8));
    it.ok(sennit_plan_commit(next, 0, 1));
    it.is(sennit_plan_commit(next, 0, 1), SENNIT_ERR_STATE);
    it.is(sennit_plan_put(next, ring.next, 0, &word, 8), SENNIT_ERR_STATE);
    it.ok(sennit_plan_start(next));
    it.is(sennit_plan_start(next), SENNIT_ERR_STATE);
    it.is(sennit_plan_destroy(next), SENNIT_ERR_STATE);
    it.is(sennit_plan_wait(next, -1), SENNIT_ERR_ARG);
    it.ok(sennit_plan_wait(next, 0));
    it.is(sennit_plan_wait(next, 0), SENNIT_ERR_STATE);
    it.ok(sennit_plan_start(next));  // epoch 1, early
    it.ok(sennit_plan_wait(next, 0));
    it.is(sennit_plan_start(next), SENNIT_ERR_SIGNAL_EARLY);
    it.ok(sennit_signal_wait(ring.arrived, SENNIT_FOREVER));
    it.barrier();
    it.ok(sennit_signal_reset(ring.arrived));
    it.barrier();
    it.ok(sennit_plan_start(next));  // the same run, now in time
    it.ok(sennit_plan_wait(next, 0));
    it.ok(sennit_plan_destroy(next));

    const sennit_plan empty = make_plan(it);
    it.ok(sennit_plan_commit(empty, 0, 1));
    it.ok(sennit_plan_start(empty));
    it.ok(sennit_plan_wait(empty, 0));
    it.ok(sennit_plan_destroy(empty));

    const sennit_plan stale = make_plan(it);
    it.ok(sennit_plan_put(stale, ring.next, 0, &word, 8));
    it.ok(sennit_plan_commit(stale, 5, 1));
    it.is(sennit_plan_start(stale), SENNIT_ERR_SIGNAL_EARLY);
    it.barrier();
    ring.end(it);
    it.is(sennit_plan_start(stale), SENNIT_ERR_ARG);  // its block is not attached any more
    it.ok(sennit_plan_destroy(stale));
}

// Broken by a start that looks at an owner when data for another has moved, or an event of its has
// been counted: who starts the run again would count it twice.
RANK_TEST(plan, nothing_moves_for_any_owner_when_one_of_them_is_behind, kAnything) {
    // The caller's own block, whose signal goes on, is recorded first, then the next rank's.
    const Ring ahead(it, 64, 1, 1);
    const Ring behind(it, 64, 1, 1);
    sennit_block mine;
    it.ok(sennit_block_init({sennit_gptr_at(ahead.memory, it.rank), 64}, 0, 64, ahead.read,
                            ahead.arrived, &mine));
    sennit_peer_block own = SENNIT_PEER_BLOCK_NULL;
    it.ok(sennit_block_attach(&mine, &own));
    std::uint64_t word = 0;
    std::uint64_t got = 99;
    auto *there = reinterpret_cast<std::uint64_t *>(ahead.own);
    const sennit_plan plan = make_plan(it);
    it.ok(sennit_plan_put(plan, own, 0, &word, 8));
    it.ok(sennit_plan_get(plan, &got, own, 8, 8));
    it.ok(sennit_plan_put(plan, behind.next, 0, &word, 8));
    it.ok(sennit_plan_commit(plan, 0, 1));
    for (std::uint64_t run = 0; run < 3; ++run) {
        word = run + 1;
        there[1] = 10 * run;
        if (run == 2) {
            const std::uint64_t before = got;
            it.is(sennit_plan_start(plan), SENNIT_ERR_SIGNAL_EARLY);
            it.equal(there[0], 2u);
            it.equal(got, before);
            it.equal(left_of(it, ahead.arrived), 1u);
            it.equal(left_of(it, ahead.read), 1u);
            it.ok(sennit_signal_wait(behind.arrived, SENNIT_FOREVER));
            it.barrier();
            it.ok(sennit_signal_reset(behind.arrived));
            it.barrier();
        }
        it.ok(sennit_plan_start(plan));
        it.ok(sennit_plan_wait(plan, SENNIT_FOREVER));
        it.equal(there[0], run + 1);
        it.equal(got, 10 * run);
        for (const sennit_signal signal : {ahead.arrived, ahead.read}) {
            it.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
            it.ok(sennit_signal_reset(signal));
        }
    }
    it.barrier();
    it.ok(sennit_plan_destroy(plan));
    it.ok(sennit_block_detach(own));
    behind.end(it);
    ahead.end(it);
}
