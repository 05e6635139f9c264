// The texts of errors of events.
#include <cstdio>
#include <string>
#include <vector>

#include "signals.hpp"

using namespace conformance;

// The call was refused with this status, and the error's text names the signal and all of these
// parts.
static void refused(Ranks &test, sennit_status status, sennit_status wanted, sennit_signal signal,
                    const std::vector<std::string> &parts) {
    test.is(status, wanted);
    char handle[16];
    (void)std::snprintf(handle, sizeof handle, "%#x", signal.handle);
    const std::string text = sennit_last_error()->text;
    test.require(text.find(handle) != std::string::npos,
                 ("the error names the signal: " + text).c_str());
    for (const std::string &part : parts)
        test.require(text.find(part) != std::string::npos,
                     ("the error has " + part + ": " + text).c_str());
}

// Broken by an error that does not name the signal, the epoch or the difference. Errors of the
// owner's own calls are in tests/engine/sim_levels_test.cpp: here every event is visible to its
// sender.
RANK_TEST(notify, errors_name_the_signal_and_the_expected_and_seen_events, kAnything) {
    const sennit_gptr memory = test.allocate(64);
    const sennit_signal bound = make_signal(test, 3);
    const sennit_signal local = make_signal(test, 1);
    const sennit_region region{sennit_gptr_at(memory, test.rank), 64};
    sennit_block mine;
    test.ok(sennit_block_init(region, 0, 64, bound, bound, &mine));
    const auto blocks = test.tell_all(mine);
    const auto all = test.tell_all(bound);
    const sennit_signal there = all[static_cast<std::size_t>(test.next())];
    sennit_peer_block peer = SENNIT_PEER_BLOCK_NULL;
    test.ok(sennit_block_attach(&blocks[static_cast<std::size_t>(test.next())], &peer));
    std::uint64_t word = 7;
    std::size_t done = 0;
    sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 2, 0};
    sennit_notify_part part{peer, SENNIT_OK, 0, &word, 8, &notice};
    const auto early = [&](sennit_status status) {
        refused(test, status, SENNIT_ERR_SIGNAL_EARLY, there, {"epoch 2 ", "epochs 0 and 1"});
        test.equal(sennit_last_error()->peer, test.next());
    };
    early(sennit_signal_notify(there, 2));
    early(sennit_put_notify_with(peer, 0, &word, 8, &notice));
    early(sennit_get_notify_with(&word, peer, 0, 8, &notice));
    early(sennit_put_notify_batch(1, &part, &done));
    sennit_plan plan = SENNIT_PLAN_NULL;
    test.ok(sennit_plan_create(&plan));
    test.ok(sennit_plan_put(plan, peer, 0, &word, 8));
    test.ok(sennit_plan_commit(plan, 2, 1));
    early(sennit_plan_start(plan));
    test.ok(sennit_plan_destroy(plan));
    refused(test, sennit_signal_notify(there, UINT64_MAX), SENNIT_ERR_SIGNAL_OVERFLOW, there,
            {"epoch 18446744073709551615 ", "epochs 0 and 1"});

    for (int i = 0; i < 3; ++i)
        test.ok(sennit_signal_notify(there, 0));
    const auto surplus = [&](sennit_status status) {
        refused(test, told(status, test.next()), SENNIT_ERR_SIGNAL_OVERFLOW, there,
                {"3 events in epoch 0", "with this one 4 have arrived"});
        test.equal(sennit_last_error()->peer, test.next());
    };
    notice.epoch = 0;
    surplus(sennit_signal_notify(there, 0));
    surplus(sennit_put_notify(peer, 0, &word, 8));
    surplus(sennit_put_notify_with(peer, 0, &word, 8, &notice));
    surplus(sennit_get_notify(&word, peer, 0, 8));
    surplus(sennit_put_notify_batch(1, &part, &done));
    surplus(sennit_get_notify_batch(1, &part, &done));
    test.ok(sennit_plan_create(&plan));
    test.ok(sennit_plan_put(plan, peer, 0, &word, 8));
    test.ok(sennit_plan_commit(plan, 0, 1));
    const sennit_status started = sennit_plan_start(plan);
    surplus(started);
    if (started == SENNIT_OK) test.ok(sennit_plan_wait(plan, SENNIT_FOREVER));
    test.ok(sennit_plan_destroy(plan));

    test.ok(sennit_signal_notify(local, 0));
    notice = {SENNIT_SIGNAL_NULL, local, 1, 0};
    refused(test, sennit_put_notify_with(peer, 0, &word, 8, &notice), SENNIT_ERR_SIGNAL_OVERFLOW,
            local, {"1 event in epoch 0", "with this one 2 have arrived"});
    test.barrier();
    test.ok(sennit_block_detach(peer));
    test.ok(sennit_signal_destroy(local));
    test.ok(sennit_signal_destroy(bound));
    test.barrier();
    test.free(memory);
}

// Broken by a refusal that does not say whether the call waited as long as its notice allows.
RANK_TEST(notify, an_early_call_that_waited_says_how_long, kAnything) {
    const sennit_gptr memory = test.allocate(64);
    const sennit_signal bound = make_signal(test, 1);
    sennit_block mine;
    test.ok(sennit_block_init({sennit_gptr_at(memory, test.rank), 64}, 0, 64, bound, bound, &mine));
    const auto blocks = test.tell_all(mine);
    sennit_peer_block peer = SENNIT_PEER_BLOCK_NULL;
    test.ok(sennit_block_attach(&blocks[static_cast<std::size_t>(test.next())], &peer));
    std::uint64_t word = 7;
    std::size_t done = 0;
    const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 2, 2'000'000};
    sennit_notify_part part{peer, SENNIT_OK, 0, &word, 8, &notice};
    const auto says = [&](sennit_status status) {
        test.is(status, SENNIT_ERR_SIGNAL_EARLY);
        const std::string text = sennit_last_error()->text;
        test.require(text.rfind("after a wait of ", 0) == 0, text.c_str());
        test.require(text.find(" has not reset epoch 0 ") != std::string::npos, text.c_str());
        test.equal(sennit_last_error()->peer, test.next());
    };
    says(sennit_put_notify_with(peer, 0, &word, 8, &notice));
    says(sennit_get_notify_with(&word, peer, 0, 8, &notice));
    says(sennit_put_notify_batch(1, &part, &done));
    test.barrier();
    test.ok(sennit_block_detach(peer));
    test.ok(sennit_signal_destroy(bound));
    test.barrier();
    test.free(memory);
}

// Broken by a message such as "1 events".
RANK_TEST(notify, errors_name_one_thing_in_the_singular, kAnything) {
    const auto says = [&](sennit_status status, sennit_status wanted, const std::string &part) {
        test.is(status, wanted);
        const std::string text = sennit_last_error()->text;
        const std::size_t at = text.find(part);
        test.require(at != std::string::npos && text[at + part.size()] != 's', text.c_str());
    };
    const sennit_gptr memory = test.allocate(1);
    const sennit_region region{sennit_gptr_at(memory, test.rank), 1};
    sennit_signal signal = SENNIT_SIGNAL_NULL;
    sennit_block mine;
    std::uint64_t word = 0;
    test.ok(sennit_signal_create(1, 1, 0, &signal));
    says(sennit_signal_wait(signal, 0), SENNIT_ERR_TIMEOUT, "1 of 1 event");
    test.ok(sennit_signal_destroy(signal));
    says(sennit_put(region.gptr, &word, 8), SENNIT_ERR_RANGE, "the segment of 1 byte");
    says(sennit_block_init(region, 0, 2, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, &mine),
         SENNIT_ERR_RANGE, "the region of 1 byte");
    test.free(memory);
}
