// Plans with events of the owner's current epoch, and plans whose operations name signals.
#include <vector>

#include "next_block.hpp"

using namespace conformance;

namespace {

struct PlanBlock : NextBlock {
    PlanBlock(Ranks &ranks, std::size_t bytes, std::uint32_t puts, std::uint32_t gets)
        : NextBlock(ranks, bytes, make_signal(ranks, puts, 1000), make_signal(ranks, gets, 1000)) {}
    std::uint64_t *words() const { return static_cast<std::uint64_t *>(sennit_ptr(memory)); }
};

sennit_plan new_plan(Ranks &test) {
    sennit_plan plan = SENNIT_PLAN_NULL;
    test.ok(sennit_plan_create(&plan));
    return plan;
}

void run_plan(Ranks &test, sennit_plan plan) {
    test.ok(sennit_plan_start(plan));
    test.ok(sennit_plan_wait(plan, SENNIT_FOREVER));
}

void wait_and_reset(Ranks &test, sennit_signal signal) {
    test.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
    test.ok(sennit_signal_reset(signal));
}

}  // namespace

// Broken by a plan that counts in its own epoch, by a run that waits for the owner's epoch, and by
// surplus events that are counted in the next epoch.
RANK_TEST(plan, a_plan_counts_in_the_current_epoch_of_the_owner, kAnything) {
    const PlanBlock at(test, 20000, 3, 1);
    // Each owner is in a different epoch.
    for (int i = 0; i < test.rank; ++i) {
        for (int k = 0; k < 3; ++k)
            test.ok(sennit_signal_notify(at.arrived, SENNIT_EPOCH_CURRENT));
        wait_and_reset(test, at.arrived);
    }
    test.barrier();
    std::vector<std::uint64_t> data(2000);
    std::uint64_t got = 0;
    const sennit_plan plan = new_plan(test);
    test.ok(sennit_plan_put(plan, at.next, 0, &data[0], 8));
    test.ok(sennit_plan_put(plan, at.next, 8, &data[1], 16000 - 8));
    test.ok(sennit_plan_get(plan, &got, at.next, 16000, 8));
    test.ok(sennit_plan_put(plan, at.next, 17000, nullptr, 0));
    test.is(sennit_plan_commit(plan, SENNIT_EPOCH_NEXT, 0), SENNIT_ERR_ARG);
    test.is(sennit_plan_commit(plan, SENNIT_EPOCH_CURRENT, 1), SENNIT_ERR_ARG);
    test.ok(sennit_plan_commit(plan, SENNIT_EPOCH_CURRENT, 0));
    for (std::uint64_t round = 0; round < 10; ++round) {
        at.words()[2000] = 100 * round + static_cast<std::uint64_t>(test.rank);
        test.barrier();
        data.assign(data.size(), round + 1);
        run_plan(test, plan);
        test.equal(got, 100 * round + static_cast<std::uint64_t>(test.next()));
        test.ok(sennit_signal_wait(at.arrived, SENNIT_FOREVER));
        test.ok(sennit_signal_wait(at.read, SENNIT_FOREVER));
        test.equal(at.words()[0], round + 1);
        test.equal(at.words()[1999], round + 1);
        if (round == 4) {
            test.barrier();
            const sennit_status started = sennit_plan_start(plan);
            test.is(told(started, test.next()), SENNIT_ERR_SIGNAL_OVERFLOW);
            if (started == SENNIT_OK) test.ok(sennit_plan_wait(plan, SENNIT_FOREVER));
            test.barrier();
            test.is(sennit_signal_reset(at.arrived), SENNIT_ERR_SIGNAL_OVERFLOW);
            // Where each part is a message, the refused run has ended before its get: `read` has no
            // surplus.
            int done = 0;
            (void)sennit_signal_test(at.read, &done);
        }
        test.barrier();
        test.ok(sennit_signal_reset(at.arrived));
        test.ok(sennit_signal_reset(at.read));
        test.equal(left_of(test, at.arrived), 3u);
    }
    test.equal(epoch_of(test, at.arrived), static_cast<std::uint64_t>(test.rank) + 10);
    test.barrier();
    test.ok(sennit_plan_destroy(plan));
    at.end();
}

// A plan of single words takes a short way. Broken by a short way that ignores
// SENNIT_EPOCH_CURRENT.
RANK_TEST(plan, words_of_a_plan_count_in_the_current_epoch_of_the_owner, kAnything) {
    const PlanBlock at(test, 64, 2, 1);
    std::uint64_t words[2] = {0, 0};
    const sennit_plan plan = new_plan(test);
    test.ok(sennit_plan_put(plan, at.next, 0, &words[0], 8));
    test.ok(sennit_plan_put(plan, at.next, 16, &words[1], 8));
    test.ok(sennit_plan_commit(plan, SENNIT_EPOCH_CURRENT, 0));
    for (std::uint64_t round = 1; round < 10; ++round) {
        words[0] = words[1] = round;
        run_plan(test, plan);
        test.ok(sennit_signal_wait(at.arrived, SENNIT_FOREVER));
        test.equal(at.words()[0], round);
        test.equal(at.words()[2], round);
        test.ok(sennit_signal_reset(at.arrived));
        test.barrier();
    }
    test.ok(sennit_plan_destroy(plan));
    at.end();
}

// Broken by an event that the block's own signal counts, a named signal that replaces another one,
// and a local event that comes before the buffer is free, or never.
RANK_TEST(plan, operations_of_a_plan_count_in_their_signals, kAnything) {
    for (const bool is_current : {false, true}) {
        const PlanBlock at(test, 20000, 1, 1);
        const sennit_signal named = make_signal(test, 3);
        const sennit_signal other = make_signal(test, 2);
        const sennit_signal sent = make_signal(test, 4);
        const auto all_named = test.tell_all(named);
        const auto all_other = test.tell_all(other);
        const std::size_t next = static_cast<std::size_t>(test.next());
        const sennit_notice to_named{all_named[next], sent, SENNIT_EPOCH_NEXT, 0};
        const sennit_notice to_other{all_other[next], SENNIT_SIGNAL_NULL, SENNIT_EPOCH_NEXT, 0};
        const sennit_notice to_own{SENNIT_SIGNAL_NULL, sent, SENNIT_EPOCH_NEXT, 0};
        std::vector<std::uint64_t> data(2000);
        std::uint64_t got = 0;
        const sennit_plan plan = new_plan(test);
        test.ok(sennit_plan_put_with(plan, at.next, 0, &data[0], 8, &to_named));
        test.ok(sennit_plan_put_with(plan, at.next, 8, &data[1], 8, &to_named));
        test.ok(sennit_plan_put_with(plan, at.next, 16, &data[2], 8, &to_own));
        test.ok(sennit_plan_put_with(plan, at.next, 24, &data[3], 15000, &to_named));
        test.ok(sennit_plan_get_with(plan, &got, at.next, 16000, 8, &to_other));
        test.ok(sennit_plan_put_with(plan, at.next, 16800, &data[4], 8, &to_other));
        test.ok(
            sennit_plan_commit(plan, is_current ? SENNIT_EPOCH_CURRENT : 0, is_current ? 0 : 1));
        for (std::uint64_t round = 0; round < 6; ++round) {
            at.words()[2000] = 7 * round;
            test.barrier();
            data.assign(data.size(), round + 1);
            run_plan(test, plan);
            test.require(is_fired(test, sent), "the buffers are the caller's again");
            test.equal(got, 7 * round);
            for (const sennit_signal signal : {named, other, at.arrived})
                test.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
            for (const std::size_t place : {0u, 1u, 2u, 3u, 1877u, 2100u})
                test.equal(at.words()[place], round + 1);
            test.equal(left_of(test, at.read), 1u);
            test.barrier();
            for (const sennit_signal signal : {named, other, at.arrived})
                test.ok(sennit_signal_reset(signal));
            test.barrier();
            if (round == 2) {
                data.assign(data.size(), 99);
                test.is(sennit_plan_start(plan), SENNIT_ERR_SIGNAL_OVERFLOW);  // `sent` has fired
                test.barrier();
                test.equal(at.words()[0], round + 1);
                test.equal(left_of(test, named), 3u);
            }
            test.ok(sennit_signal_reset(sent));
        }
        test.barrier();
        test.ok(sennit_plan_destroy(plan));
        for (const sennit_signal signal : {named, other, sent})
            test.ok(sennit_signal_destroy(signal));
        at.end();
    }
}

// Broken by a notice that is not checked when it is recorded, or by a commit that does not count a
// signal's operations.
RANK_TEST(plan, a_notice_that_does_not_fit_a_plan_is_refused, kAnything) {
    const PlanBlock at(test, 64, 1, 1);
    const sennit_signal one = make_signal(test, 1);
    const auto all = test.tell_all(one);
    const sennit_signal theirs = all[static_cast<std::size_t>(test.next())];
    const std::uint64_t word = 1;
    const sennit_plan plan = new_plan(test);
    const auto put = [&](const sennit_notice *notice) {
        return sennit_plan_put_with(plan, at.next, 0, &word, 8, notice);
    };
    const sennit_signal none = SENNIT_SIGNAL_NULL;
    sennit_notice notice{none, none, 0, 0};
    test.is(put(nullptr), SENNIT_ERR_ARG);
    test.is(put(&notice), SENNIT_ERR_ARG);
    notice.epoch = SENNIT_EPOCH_CURRENT;
    test.is(put(&notice), SENNIT_ERR_ARG);
    notice = {none, none, SENNIT_EPOCH_NEXT, 1};
    test.is(put(&notice), SENNIT_ERR_ARG);
    notice = {none, {test.rank, 0x7FFFFFFF}, SENNIT_EPOCH_NEXT, 0};
    test.is(put(&notice), SENNIT_ERR_ARG);
    if (test.size > 1) {
        notice = {one, none, SENNIT_EPOCH_NEXT, 0};
        test.is(put(&notice), SENNIT_ERR_ARG);
        notice = {none, theirs, SENNIT_EPOCH_NEXT, 0};
        test.is(put(&notice), SENNIT_ERR_ARG);
    }
    notice = {none, one, SENNIT_EPOCH_NEXT, 0};
    test.ok(put(&notice));
    notice = {theirs, one, SENNIT_EPOCH_NEXT, 0};
    test.ok(put(&notice));
    test.is(sennit_plan_commit(plan, 0, 1), SENNIT_ERR_ARG);  // two events for `one`
    test.ok(sennit_plan_destroy(plan));

    const sennit_plan late = new_plan(test);
    notice = {theirs, none, SENNIT_EPOCH_NEXT, 0};
    test.ok(sennit_plan_put_with(late, at.next, 0, &word, 8, &notice));
    test.barrier();
    test.ok(sennit_signal_destroy(one));
    test.barrier();
    test.is(sennit_plan_commit(late, 0, 1), SENNIT_ERR_NOT_REGISTERED);
    test.ok(sennit_plan_destroy(late));
    at.end();
}
