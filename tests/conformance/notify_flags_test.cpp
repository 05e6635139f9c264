// Signals with flags: strict, unchecked, and both.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "signals.hpp"

using namespace conformance;

namespace {

constexpr std::size_t kLongBytes = 12288;  // two messages between nodes: data, and event
constexpr std::uint64_t kUntouched = 0xAAAAAAAAAAAAAAAAu;

// The ways to send an event, with or without data.
enum class Sends {
    short_put,
    long_put,
    get,
    short_batch,
    long_batch,
    put_that_goes_on,
    long_put_that_goes_on,
    plan,
    event_alone,
    end
};

// A buffer for one message on each rank, and this rank's access to the next one's.
struct OneBuffer {
    Ranks &test;
    sennit_gptr memory;
    std::uint64_t *own;
    sennit_signal arrived;
    sennit_signal there;
    sennit_peer_block peer = SENNIT_PEER_BLOCK_NULL;
    std::vector<std::uint64_t> words = std::vector<std::uint64_t>(kLongBytes / 8);

    OneBuffer(Ranks &ranks, std::uint32_t events, unsigned flags)
        : test(ranks),
          memory(test.allocate(kLongBytes)),
          own(static_cast<std::uint64_t *>(sennit_ptr(memory))),
          arrived(make_signal(test, events, 2 * events, flags)) {
        std::memset(own, 0xAA, kLongBytes);
        sennit_block mine;
        const sennit_region region{sennit_gptr_at(memory, test.rank), kLongBytes};
        test.ok(sennit_block_init(region, 0, kLongBytes, arrived, arrived, &mine));
        const auto next = static_cast<std::size_t>(test.next());
        const auto blocks = test.tell_all(mine);
        test.ok(sennit_block_attach(&blocks[next], &peer));
        there = test.tell_all(arrived)[next];
    }
    void end() {
        test.barrier();
        test.ok(sennit_block_detach(peer));
        test.ok(sennit_signal_destroy(arrived));
        test.barrier();
        test.free(memory);
    }

    sennit_status send_batch(std::size_t bytes, const sennit_notice &notice) {
        sennit_notify_part part{peer, SENNIT_OK, 0, words.data(), bytes, &notice};
        std::size_t done = 77;
        const sennit_status status = sennit_put_notify_batch(1, &part, &done);
        test.equal(done, status == SENNIT_OK ? 1u : 0u);
        return status;
    }
    sennit_status send_nb(std::size_t bytes, const sennit_notice &notice) {
        sennit_request request = SENNIT_REQUEST_NULL;
        sennit_status status =
            sennit_put_notify_nb(peer, 0, words.data(), bytes, &notice, &request);
        if (status == SENNIT_OK) status = sennit_wait(&request, SENNIT_FOREVER);
        return status;
    }
    sennit_status send_plan(std::uint64_t epoch) {
        sennit_plan plan = SENNIT_PLAN_NULL;
        test.ok(sennit_plan_create(&plan));
        test.ok(sennit_plan_put(plan, peer, 0, words.data(), 24));
        test.ok(sennit_plan_commit(plan, epoch, 1));
        sennit_status status = sennit_plan_start(plan);
        if (status == SENNIT_OK) status = sennit_plan_wait(plan, SENNIT_FOREVER);
        const sennit_error why = *sennit_last_error();
        test.ok(sennit_plan_destroy(plan));
        return status == SENNIT_OK ? status : sennit_error_report(why.status, "plan", why.text, 0);
    }
    // Sends one event of the epoch to the next rank. Returns the call's status.
    sennit_status send(Sends what, std::uint64_t epoch, std::int64_t wait_ns = 0) {
        const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch, wait_ns};
        switch (what) {
            case Sends::short_put:
                return sennit_put_notify_with(peer, 0, words.data(), 8, &notice);
            case Sends::long_put:
                return sennit_put_notify_with(peer, 0, words.data(), kLongBytes, &notice);
            case Sends::get:
                return sennit_get_notify_with(words.data(), peer, 0, 8, &notice);
            case Sends::short_batch:
                return send_batch(8, notice);
            case Sends::long_batch:
                return send_batch(kLongBytes, notice);
            case Sends::put_that_goes_on:
                return send_nb(8, notice);
            case Sends::long_put_that_goes_on:
                return send_nb(kLongBytes, notice);
            case Sends::plan:
                return send_plan(epoch);
            default:
                return sennit_signal_notify(there, epoch);
        }
    }
    // The call reports no error of the epoch; a flush may report the owner's answer.
    void send_unrefused(Sends what, std::uint64_t epoch) {
        test.ok(send(what, epoch));
        (void)sennit_flush(test.next(), SENNIT_FOREVER);
    }
    // True if the event may still be unread at its owner after a flush; a long message has several
    // events.
    bool rides(Sends what) const {
        return !test.load_store && (what == Sends::short_put || what == Sends::long_put ||
                                    what == Sends::short_batch || what == Sends::long_batch);
    }
    // The owner's signal has not fired; it reports one event of this epoch, once.
    void hears(sennit_status wanted, std::uint64_t epoch) {
        says(sennit_signal_wait(arrived, 20 * kSecond), wanted, epoch);
        test.require(!is_fired(test, arrived),
                     "a reported event is not counted, and is reported once");
    }
    void has_fired_and_goes_on() {
        test.ok(sennit_signal_wait(arrived, SENNIT_FOREVER));
        test.ok(sennit_signal_reset(arrived));
    }
    void says(sennit_status status, sennit_status wanted, std::uint64_t epoch) {
        test.is(status, wanted);
        const std::string text = sennit_last_error()->text;
        const std::string part = "epoch " + std::to_string(epoch);
        test.require(text.find(part) != std::string::npos,
                     ("the error has " + part + ": " + text).c_str());
    }
};

template <class Body>
void each_way(Body body) {
    for (int i = 0; i < static_cast<int>(Sends::end); ++i)
        body(static_cast<Sends>(i));
}

}  // namespace

// Broken by a sender that gets in before the reset, by data that moves first, by a refused call
// that uses up an epoch, or by an owner that is told of refused events.
RANK_TEST(notify, a_strict_signal_refuses_events_before_its_reset_and_nothing_moves, kAnything) {
    OneBuffer buffer(test, 1, SENNIT_SIGNAL_STRICT);
    std::uint64_t epoch = 0;
    each_way([&](Sends what) {
        buffer.words.assign(buffer.words.size(), epoch);
        test.ok(buffer.send(Sends::long_put, epoch));
        test.ok(sennit_signal_wait(buffer.arrived, SENNIT_FOREVER));
        buffer.words.assign(buffer.words.size(), kUntouched);
        buffer.says(buffer.send(what, epoch + 1), SENNIT_ERR_SIGNAL_EARLY, epoch + 1);
        buffer.says(buffer.send(what, epoch + 2), SENNIT_ERR_SIGNAL_EARLY, epoch + 2);
        test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
        test.barrier();
        test.require(buffer.own[0] == epoch && buffer.own[kLongBytes / 8 - 1] == epoch,
                     "a refused event writes nothing");
        test.equal(epoch_of(test, buffer.arrived), epoch);
        test.ok(sennit_signal_reset(buffer.arrived));
        test.barrier();
        test.ok(buffer.send(what, epoch + 1));
        test.ok(sennit_signal_wait(buffer.arrived, SENNIT_FOREVER));
        test.ok(sennit_signal_reset(buffer.arrived));
        epoch += 2;
        test.barrier();
    });
    // The block's own epochs continue with the counted calls.
    test.ok(buffer.send(Sends::short_put, epoch));
    test.ok(sennit_signal_wait(buffer.arrived, SENNIT_FOREVER));
    test.ok(sennit_signal_reset(buffer.arrived));
    test.barrier();
    test.ok(sennit_put_notify(buffer.peer, 0, buffer.words.data(), 8));
    test.is(sennit_put_notify(buffer.peer, 0, buffer.words.data(), 8), SENNIT_ERR_SIGNAL_EARLY);
    test.is(sennit_put_notify(buffer.peer, 0, buffer.words.data(), kLongBytes),
            SENNIT_ERR_SIGNAL_EARLY);
    test.ok(sennit_signal_wait(buffer.arrived, SENNIT_FOREVER));
    buffer.end();
}

// Broken by a wait that ends before the reset, or does not end after it: the owner reads its only
// buffer while the next put to the same place waits.
RANK_TEST(notify, a_put_to_a_strict_signal_waits_for_the_reset, kAnything) {
    OneBuffer buffer(test, 1, SENNIT_SIGNAL_STRICT);
    const std::uint64_t epochs = test.quick ? 12 : 100;
    const bool sends = test.size > 1 && test.rank % 2 == 0 && test.rank + 1 < test.size;
    const bool owns = test.rank % 2 == 1;
    for (std::uint64_t epoch = 0; sends && epoch < epochs; ++epoch) {
        buffer.words.assign(buffer.words.size(), epoch + 1);
        const Sends what = epoch % 3 == 0 ? Sends::long_put : Sends::short_put;
        test.ok(buffer.send(epoch % 4 == 3 ? Sends::long_batch : what, epoch, SENNIT_FOREVER));
    }
    for (std::uint64_t epoch = 0; owns && epoch < epochs; ++epoch) {
        test.ok(sennit_signal_wait(buffer.arrived, SENNIT_FOREVER));
        test.equal(buffer.own[0], epoch + 1);
        // Without the wait, a put of the next epoch would arrive about now.
        (void)sennit_signal_wait_word(&epoch, SENNIT_NOT_EQUAL, epoch, kMillisecond / 10);
        test.equal(buffer.own[0], epoch + 1);
        test.ok(sennit_signal_reset(buffer.arrived));
    }
    buffer.end();
}

// Broken by an event that is refused at its sender, counted in another epoch than its own, or not
// reported to its owner, and by a report of a valid event.
RANK_TEST(notify, an_unchecked_signal_judges_events_by_their_own_epoch, kAnything) {
    OneBuffer buffer(test, 1, SENNIT_SIGNAL_UNCHECKED);
    std::uint64_t epoch = 0;
    each_way([&](Sends what) {
        // Parts of an early message may arrive after its epoch has started.
        const bool is_whole =
            !buffer.rides(what) || what == Sends::short_put || what == Sends::short_batch;
        if (is_whole) {
            buffer.send_unrefused(what, epoch + 2);
            test.barrier();
            buffer.hears(SENNIT_ERR_SIGNAL_EARLY, epoch + 2);
            test.barrier();
        }
        if (is_whole && epoch != 0) {
            buffer.send_unrefused(what, epoch - 1);
            test.barrier();
            buffer.hears(SENNIT_ERR_SIGNAL_OVERFLOW, epoch - 1);
            test.barrier();
        }
        test.ok(told(buffer.send(what, epoch + 1), test.next()));
        test.barrier();
        test.require(!is_fired(test, buffer.arrived), "an event of the next epoch waits for it");
        test.barrier();
        test.ok(told(buffer.send(what, epoch), test.next()));
        buffer.has_fired_and_goes_on();
        buffer.has_fired_and_goes_on();
        epoch += 2;
        test.barrier();
    });
    test.ok(buffer.send(Sends::event_alone, epoch));
    test.ok(sennit_signal_wait(buffer.arrived, SENNIT_FOREVER));
    test.barrier();
    // If the signal has fired, the reset reports an early event.
    buffer.send_unrefused(Sends::put_that_goes_on, epoch + 3);
    test.barrier();
    buffer.says(sennit_signal_reset(buffer.arrived), SENNIT_ERR_SIGNAL_EARLY, epoch + 3);
    test.barrier();
    test.is(told(buffer.send(Sends::event_alone, epoch), test.next()), SENNIT_ERR_SIGNAL_OVERFLOW);
    test.barrier();
    test.is(sennit_signal_reset(buffer.arrived), SENNIT_ERR_SIGNAL_OVERFLOW);
    test.ok(sennit_signal_reset(buffer.arrived));
    test.require(!is_fired(test, buffer.arrived), "a reported event is not counted");
    buffer.end();
}

// Each call with each error. A wait for a fired signal has nothing to report. Broken by a call that
// does not check, or reports an error twice.
RANK_TEST(notify, wait_test_and_reset_of_an_unchecked_signal_report_each_fault_once, kAnything) {
    OneBuffer buffer(test, 1, SENNIT_SIGNAL_UNCHECKED);
    std::uint64_t epoch = 0;
    const auto go_on = [&] {
        test.ok(told(buffer.send(Sends::short_put, epoch), test.next()));
        buffer.has_fired_and_goes_on();
        ++epoch;
        test.barrier();
    };
    go_on();
    for (int call = 0; call < 3; ++call) {
        for (int fault = 0; fault < 3; ++fault) {
            const bool is_surplus = fault == 2;
            const std::uint64_t wrong = fault == 0 ? epoch + 2 : fault == 1 ? epoch - 1 : epoch + 1;
            if (call == 2) test.ok(told(buffer.send(Sends::short_put, epoch), test.next()));
            if (is_surplus) test.ok(told(buffer.send(Sends::short_put, wrong), test.next()));
            if (is_surplus)
                test.is(told(buffer.send(Sends::short_put, wrong), test.next()),
                        SENNIT_ERR_SIGNAL_OVERFLOW);
            else
                buffer.send_unrefused(Sends::short_put, wrong);
            test.barrier();
            const auto hears = [&] {
                int done = 7;
                if (call == 0) return sennit_signal_wait(buffer.arrived, kMillisecond);
                if (call == 1) return sennit_signal_test(buffer.arrived, &done);
                return sennit_signal_reset(buffer.arrived);
            };
            buffer.says(hears(), fault == 0 ? SENNIT_ERR_SIGNAL_EARLY : SENNIT_ERR_SIGNAL_OVERFLOW,
                        wrong);
            test.is(hears(), call == 0 ? SENNIT_ERR_TIMEOUT : SENNIT_OK);
            test.barrier();
            if (call != 2) go_on();
            if (call == 2) ++epoch;
            if (is_surplus) {
                buffer.has_fired_and_goes_on();
                ++epoch;
            }
            test.barrier();
        }
    }
    buffer.end();
}

// Broken by an event of the next epoch that is refused, lost or not reported. It is reported once:
// by the reset if the signal has fired, otherwise by a wait or test, also of a set.
RANK_TEST(notify, an_unchecked_strict_signal_reports_events_before_its_reset, kAnything) {
    OneBuffer buffer(test, 1, SENNIT_SIGNAL_UNCHECKED | SENNIT_SIGNAL_STRICT);
    std::uint64_t epoch = 0;
    each_way([&](Sends what) {
        test.ok(told(buffer.send(what, epoch + 1), test.next()));
        buffer.hears(SENNIT_ERR_SIGNAL_EARLY, epoch + 1);
        test.barrier();
        test.ok(told(buffer.send(what, epoch), test.next()));
        buffer.has_fired_and_goes_on();
        buffer.has_fired_and_goes_on();
        test.barrier();
        epoch += 2;
        test.ok(told(buffer.send(what, epoch), test.next()));
        test.ok(told(buffer.send(what, epoch + 1), test.next()));
        test.barrier();
        test.ok(sennit_signal_wait(buffer.arrived, SENNIT_FOREVER));
        const sennit_status status = sennit_signal_reset(buffer.arrived);
        buffer.says(status, SENNIT_ERR_SIGNAL_EARLY, epoch + 1);
        buffer.says(status, SENNIT_ERR_SIGNAL_EARLY, epoch);
        buffer.has_fired_and_goes_on();
        buffer.has_fired_and_goes_on();
        test.barrier();
        epoch += 2;
    });
    sennit_waitset set = SENNIT_WAITSET_NULL;
    test.ok(sennit_waitset_create(&set));
    test.ok(sennit_waitset_add(set, buffer.arrived, 0));
    sennit_fired fired;
    int done = 7;
    for (int look = 0; look < 3; ++look) {
        test.ok(told(buffer.send(Sends::event_alone, epoch + 1), test.next()));
        test.barrier();
        const sennit_status status = look == 0 ? sennit_signal_test(buffer.arrived, &done)
                                     : look == 1
                                         ? sennit_signal_wait(buffer.arrived, 10 * kSecond)
                                         : sennit_waitset_wait_any(set, 10 * kSecond, &fired);
        buffer.says(status, SENNIT_ERR_SIGNAL_EARLY, epoch + 1);
        test.is(sennit_signal_wait(buffer.arrived, 0), SENNIT_ERR_TIMEOUT);
        test.barrier();
        test.ok(told(buffer.send(Sends::event_alone, epoch), test.next()));
        buffer.has_fired_and_goes_on();
        buffer.has_fired_and_goes_on();
        test.barrier();
        epoch += 2;
    }
    test.ok(sennit_waitset_destroy(set));
    buffer.end();
}
