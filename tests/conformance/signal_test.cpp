// Signals: events of all ranks, epochs, refusals, and wait sets.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <set>
#include <thread>

#include "signals.hpp"
#include "threads.hpp"

using namespace conformance;

// Broken by an event that is lost, counted twice, or counted in a neighbouring epoch.
RANK_TEST(signal, events_of_all_ranks_fire_it_once_each_epoch, kAnything) {
    const auto events = static_cast<std::uint32_t>(2 * test.size);
    const sennit_signal mine = make_signal(test, events, 100);
    const auto all = test.tell_all(mine);
    const std::uint64_t epochs = test.quick ? 12 : 300;
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
        for (int i = 0; i < test.size; ++i) {
            const sennit_signal peer = all[static_cast<std::size_t>((test.rank + i) % test.size)];
            add_when_taken(test, peer, epoch);
            add_when_taken(test, peer, epoch);
        }
        test.equal(epoch_of(test, mine), epoch);
        test.ok(sennit_signal_wait(mine, SENNIT_FOREVER));
        test.require(is_fired(test, mine), "it stays fired until it is reset");
        test.equal(left_of(test, mine), 0u);
        test.ok(sennit_signal_reset(mine));
    }
    test.barrier();
    test.equal(left_of(test, mine), events);
    test.ok(sennit_signal_destroy(mine));
}

// Repeats short waits until the error of one has this text, since an event may still be under way.
// False if none has.
bool is_said_soon(Ranks &test, sennit_signal signal, const char *text) {
    for (int i = 0; i < 2000; ++i) {
        test.is(sennit_signal_wait(signal, kMillisecond), SENNIT_ERR_TIMEOUT);
        if (std::strstr(sennit_last_error()->text, text) != nullptr) return true;
    }
    return false;
}

// Broken by two epochs that share a count, a third epoch that is counted, or a refusal that counts.
RANK_TEST(signal, events_of_the_next_epoch_wait_for_it_and_later_ones_are_refused, kAnything) {
    const sennit_signal mine = make_signal(test, 2);
    const auto all = test.tell_all(mine);
    const sennit_signal peer = all[static_cast<std::size_t>(test.next())];
    test.ok(sennit_signal_notify(peer, 1));
    test.require(is_said_soon(test, mine, "1 event of epoch 1 has already arrived"),
                 "a wait says that its sender is ahead");
    test.barrier();
    test.ok(sennit_signal_notify(peer, 1));
    test.is(sennit_signal_notify(peer, 2), SENNIT_ERR_SIGNAL_EARLY);
    test.equal(sennit_last_error()->peer, test.next());
    char reset[80];
    (void)std::snprintf(reset, sizeof reset, "rank %d has not reset epoch 0 (sennit_signal_reset)",
                        peer.rank);
    test.require(std::strstr(sennit_last_error()->text, reset) != nullptr,
                 "the refusal says what its owner has forgotten");
    test.is(sennit_signal_notify(peer, 3), SENNIT_ERR_SIGNAL_EARLY);
    test.is(sennit_signal_notify(peer, UINT64_MAX), SENNIT_ERR_SIGNAL_OVERFLOW);
    test.barrier();
    test.require(!is_fired(test, mine), "events of the next epoch do not fire this one");
    test.equal(left_of(test, mine), 2u);
    test.is(sennit_signal_reset(mine), SENNIT_ERR_STATE);
    for (const std::int64_t limit : {std::int64_t{0}, kMillisecond}) {
        test.is(sennit_signal_wait(mine, limit), SENNIT_ERR_TIMEOUT);
        test.require(std::strstr(sennit_last_error()->text,
                                 "2 of 2 events of epoch 0 are missing") != nullptr,
                     "the text says what is missing");
    }
    test.barrier();
    test.ok(sennit_signal_notify(peer, 0));
    test.ok(sennit_signal_notify(peer, 0));
    test.ok(sennit_signal_wait(mine, SENNIT_FOREVER));
    test.ok(sennit_signal_reset(mine));
    test.require(is_fired(test, mine), "an early event counts as soon as its epoch begins");
    test.barrier();
    test.is(told(sennit_signal_notify(peer, 0), peer.rank), SENNIT_ERR_SIGNAL_OVERFLOW);
    test.ok(sennit_signal_notify(peer, 2));
    test.barrier();
    test.ok(sennit_signal_reset(mine));
    test.equal(epoch_of(test, mine), 2u);
    test.equal(left_of(test, mine), 1u);
    test.ok(sennit_signal_destroy(mine));
    test.barrier();
}

// The owner's first call reports the surplus event: a reset, a test or a wait for a set.
void owner_is_told_once(Ranks &test, sennit_signal mine, std::uint64_t epoch) {
    sennit_waitset set = SENNIT_WAITSET_NULL;
    sennit_fired fired{};
    int done = 0;
    test.ok(sennit_waitset_create(&set));
    test.ok(sennit_waitset_add(set, mine, 0));
    const auto call = [&](std::uint64_t which) {
        if (which == 0) return sennit_signal_test(mine, &done);
        if (which == 1) return sennit_waitset_wait_any(set, SENNIT_FOREVER, &fired);
        return sennit_signal_reset(mine);
    };
    test.is(call(epoch % 3), SENNIT_ERR_SIGNAL_OVERFLOW);
    test.require(std::strstr(sennit_last_error()->text, "and one more arrived") != nullptr,
                 "the error names the surplus event");
    test.ok(call(0));
    test.ok(call(1));
    test.equal(done, 1);
    test.equal(epoch_of(test, mine), epoch);
    test.ok(sennit_waitset_destroy(set));
}

// Broken by a surplus event that stays in the count, or that only its sender sees.
RANK_TEST(signal, one_event_too_many_is_refused_and_the_epoch_goes_on, kAnything) {
    for (const std::uint32_t most : {3u, 1000u}) {
        const sennit_signal mine = make_signal(test, 3, most);
        const auto all = test.tell_all(mine);
        const sennit_signal peer = all[static_cast<std::size_t>(test.next())];
        for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
            for (int i = 0; i < 3; ++i)
                test.ok(sennit_signal_notify(peer, epoch));
            for (int i = 0; i < 5; ++i)
                test.is(told(sennit_signal_notify(peer, epoch), peer.rank),
                        SENNIT_ERR_SIGNAL_OVERFLOW);
            // A wait in the moment before a surplus event is undone may report it too.
            test.barrier();
            test.ok(sennit_signal_wait(mine, SENNIT_FOREVER));
            owner_is_told_once(test, mine, epoch);
            test.ok(sennit_signal_reset(mine));
            test.equal(left_of(test, mine), 3u);
            test.barrier();
        }
        test.ok(sennit_signal_destroy(mine));
        test.barrier();
    }
}

// Broken by a wait that sleeps on, or a refusal that ends the signal.
RANK_TEST(signal, a_wait_reports_a_surplus_event_of_the_next_epoch, kAnything) {
    const sennit_signal mine = make_signal(test, 1);
    const auto all = test.tell_all(mine);
    const sennit_signal peer = all[static_cast<std::size_t>(test.next())];
    test.ok(sennit_signal_notify(peer, 1));
    test.is(told(sennit_signal_notify(peer, 1), peer.rank), SENNIT_ERR_SIGNAL_OVERFLOW);
    test.is(sennit_signal_wait(mine, 5000 * kMillisecond), SENNIT_ERR_SIGNAL_OVERFLOW);
    test.is(sennit_signal_wait(mine, 0), SENNIT_ERR_TIMEOUT);
    test.barrier();
    test.ok(sennit_signal_notify(peer, 0));
    for (int epoch = 0; epoch < 2; ++epoch) {
        test.ok(sennit_signal_wait(mine, SENNIT_FOREVER));
        test.ok(sennit_signal_reset(mine));
    }
    test.barrier();
    test.ok(sennit_signal_destroy(mine));
    test.barrier();
}

// Broken by a handle that becomes valid for the next signal in its slot.
RANK_TEST(signal, a_destroyed_signal_is_refused_everywhere, kAnything) {
    const sennit_signal old = make_signal(test, 1);
    const auto all = test.tell_all(old);
    const sennit_signal peer = all[static_cast<std::size_t>(test.next())];
    test.ok(sennit_signal_notify(peer, 0));
    test.barrier();
    test.ok(sennit_signal_destroy(old));
    std::vector<sennit_signal> later;
    for (int i = 0; i < (test.quick ? 70 : 700); ++i) {
        later.push_back(make_signal(test, 1));
        test.require(!is_same(later.back(), old), "a handle is not reused soon");
        if (i % 3 != 0) continue;
        test.ok(sennit_signal_destroy(later.back()));
        later.pop_back();
    }
    test.barrier();
    int done = 7;
    test.is(sennit_signal_destroy(old), SENNIT_ERR_ARG);
    test.is(sennit_signal_test(old, &done), SENNIT_ERR_ARG);
    test.is(sennit_signal_wait(old, SENNIT_FOREVER), SENNIT_ERR_ARG);
    test.is(told(sennit_signal_notify(peer, 0), peer.rank), SENNIT_ERR_NOT_REGISTERED);
    test.is(sennit_signal_notify({test.next(), 0}, 0), SENNIT_ERR_NOT_REGISTERED);
    test.is(sennit_signal_notify({test.next(), UINT32_MAX}, 0), SENNIT_ERR_NOT_REGISTERED);
    test.is(sennit_signal_notify({test.next(), 0x00FFFF01}, 0), SENNIT_ERR_NOT_REGISTERED);
    test.is(sennit_signal_notify({test.size, 1}, 0), SENNIT_ERR_RANGE);
    test.is(sennit_signal_notify({-1, 1}, 0), SENNIT_ERR_RANGE);
    test.equal(done, 7);
    for (const sennit_signal signal : later) {
        test.require(!is_fired(test, signal), "a refused event fires nothing");
        test.ok(sennit_signal_destroy(signal));
    }
    test.barrier();
}

// Broken by an event that is visible before its sender's earlier stores.
RANK_TEST(signal, data_put_before_an_event_is_visible_after_it, kAnything) {
    const std::size_t words = 64;
    const sennit_gptr memory = test.allocate(8 * words * 2);
    const sennit_signal mine = make_signal(test, 1);
    const auto all = test.tell_all(mine);
    const sennit_signal peer = all[static_cast<std::size_t>(test.next())];
    const auto *own = static_cast<const std::uint64_t *>(sennit_ptr(memory));
    std::vector<std::uint64_t> data(words);
    for (std::uint64_t epoch = 0; epoch < (test.quick ? 20u : 500u); ++epoch) {
        const std::uint64_t half = epoch % 2 * 8 * words;
        for (std::size_t i = 0; i < words; ++i)
            data[i] = epoch * 1000 + i;
        test.ok(sennit_put(
            sennit_gptr_add(sennit_gptr_at(memory, test.next()), static_cast<std::int64_t>(half)),
            data.data(), 8 * words));
        test.ok(sennit_signal_notify(peer, epoch));
        test.ok(sennit_signal_wait(mine, SENNIT_FOREVER));
        for (std::size_t i = 0; i < words; ++i)
            test.equal(own[half / 8 + i], epoch * 1000 + i);
        test.ok(sennit_signal_reset(mine));
        test.barrier();
    }
    test.barrier();
    test.ok(sennit_signal_destroy(mine));
    test.free(memory);
}

// Broken by a sleep without end, or a wait that checks something else after its sleep. Sleeps end
// by themselves after some milliseconds; tests/faults/wake_rank.cpp tests that an event ends them.
RANK_TEST(signal, a_wait_that_sleeps_ends_with_its_event, kFreeThreads) {
    const sennit_signal mine = make_signal(test, 1);
    const auto all = test.tell_all(mine);
    const sennit_signal peer = all[static_cast<std::size_t>(test.next())];
    for (std::uint64_t epoch = 0; epoch < (test.quick ? 2u : 6u); ++epoch) {
        if (test.rank % 2 == static_cast<int>(epoch % 2)) {
            std::uint64_t never = 0;
            test.is(sennit_signal_wait_word(&never, SENNIT_EQUAL, 1, 20 * kMillisecond),
                    SENNIT_ERR_TIMEOUT);
        }
        add_when_taken(test, peer, epoch);
        test.ok(sennit_signal_wait(mine, SENNIT_FOREVER));
        test.ok(sennit_signal_reset(mine));
    }
    test.barrier();
    test.ok(sennit_signal_destroy(mine));
}

// Broken by a signed comparison, or the wrong one.
RANK_TEST(signal, a_word_of_the_program_is_waited_for_in_every_comparison, kAnything) {
    const sennit_gptr memory = test.allocate(8);
    auto *word = static_cast<std::uint64_t *>(sennit_ptr(memory));
    struct Case {
        sennit_comparison comparison;
        std::uint64_t from, to, value;
    };
    const Case cases[] = {{SENNIT_EQUAL, 0, 5, 5},
                          {SENNIT_NOT_EQUAL, 5, 6, 5},
                          {SENNIT_GREATER, 6, UINT64_MAX, 6},
                          {SENNIT_GREATER_EQUAL, 6, 7, 7},
                          {SENNIT_LESS, UINT64_MAX, 7, UINT64_MAX},
                          {SENNIT_LESS_EQUAL, 8, 7, 7}};
    for (const Case &one : cases) {
        *word = one.from;
        test.barrier();
        test.is(sennit_signal_wait_word(word, one.comparison, one.value, 0), SENNIT_ERR_TIMEOUT);
        test.barrier();
        test.ok(sennit_put(sennit_gptr_at(memory, test.next()), &one.to, sizeof one.to));
        test.ok(sennit_signal_wait_word(word, one.comparison, one.value, SENNIT_FOREVER));
        test.barrier();
    }
    test.free(memory);
}

// Broken by a wait that checks only once, or checks a stale word.
RANK_TEST(signal, a_condition_of_the_program_is_waited_for, kAnything) {
    const sennit_gptr memory = test.allocate(8);
    auto *words = static_cast<std::uint32_t *>(sennit_ptr(memory));
    // True when both halves have arrived, which no single comparison can express.
    const sennit_condition both = [](void *context) {
        const auto *halves = static_cast<const std::uint32_t *>(context);
        return static_cast<int>(__atomic_load_n(&halves[0], __ATOMIC_ACQUIRE) == 7 &&
                                __atomic_load_n(&halves[1], __ATOMIC_ACQUIRE) == 9);
    };
    test.barrier();
    test.is(sennit_wait_until(both, words, 0), SENNIT_ERR_TIMEOUT);
    test.is(sennit_wait_until(both, words, 3 * kMillisecond), SENNIT_ERR_TIMEOUT);
    test.barrier();
    const sennit_gptr there = sennit_gptr_at(memory, test.next());
    const std::uint32_t second = 9;
    test.ok(sennit_put(sennit_gptr_add(there, 4), &second, sizeof second));
    const std::uint32_t first = 7;
    test.ok(sennit_put(there, &first, sizeof first));
    test.ok(sennit_wait_until(both, words, SENNIT_FOREVER));
    test.ok(sennit_wait_until(both, words, 0));
    test.barrier();
    test.free(memory);
}

// Broken by polling that ignores the time: it would call the condition some thousand times.
RANK_TEST(signal, a_condition_that_takes_long_does_not_make_the_wait_longer, kAnything) {
    int looks = 0;
    const sennit_condition slow = [](void *context) {
        ++*static_cast<int *>(context);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        return 0;
    };
    test.is(sennit_wait_until(slow, &looks, 0), SENNIT_ERR_TIMEOUT);
    test.equal(looks, 1);
    looks = 0;
    test.is(sennit_wait_until(slow, &looks, 10 * kMillisecond), SENNIT_ERR_TIMEOUT);
    test.require(looks >= 1 && looks <= 6, "at most the calls that fit the time, and one more");
    test.barrier();
}

// The signals of the next rank, as many as the caller's. Collective.
static std::vector<sennit_signal> signals_of_next(Ranks &test,
                                                  const std::vector<sennit_signal> &mine) {
    const std::size_t bytes = sizeof(sennit_signal) * mine.size();
    const sennit_gptr memory = test.allocate(bytes);
    std::memcpy(sennit_ptr(memory), mine.data(), bytes);
    test.barrier();
    std::vector<sennit_signal> theirs(mine.size());
    test.ok(sennit_get(theirs.data(), sennit_gptr_at(memory, test.next()), bytes));
    test.barrier();
    test.free(memory);
    return theirs;
}

// Broken by a mark that is lost, or belongs to another signal or another set.
RANK_TEST(signal, a_set_reports_the_fired_signals, kAnything) {
    const std::size_t count = 150;
    std::vector<sennit_signal> mine;
    sennit_waitset sets[2] = {SENNIT_WAITSET_NULL, SENNIT_WAITSET_NULL};
    test.ok(sennit_waitset_create(&sets[0]));
    test.ok(sennit_waitset_create(&sets[1]));
    for (std::size_t i = 0; i < count; ++i) {
        mine.push_back(make_signal(test, 1));
        if (i < 100) test.ok(sennit_waitset_add(sets[i % 2], mine[i], i));
    }
    const std::vector<sennit_signal> theirs = signals_of_next(test, mine);
    std::vector<std::uint64_t> epochs(count, 0);
    for (int round = 0; round < (test.quick ? 4 : 60); ++round) {
        // Each rank fires these signals of its neighbour; the same on all ranks.
        std::set<std::size_t> chosen;
        for (std::uint64_t i = test.common.between(1, 20); i > 0; --i)
            chosen.insert(test.common.below(count));
        for (const std::size_t i : chosen)
            add_when_taken(test, theirs[i], epochs[i]);
        for (unsigned which = 0; which < 2; ++which) {
            std::set<std::size_t> wanted;
            for (const std::size_t i : chosen)
                if (i < 100 && i % 2 == which) wanted.insert(i);
            while (!wanted.empty()) {
                sennit_fired fired[7];
                std::size_t found = 0;
                test.ok(sennit_waitset_wait_some(sets[which], SENNIT_FOREVER,
                                                 test.own.between(1, 7), fired, &found));
                test.require(found >= 1 && found <= 7, "some have fired");
                for (std::size_t k = 0; k < found; ++k) {
                    test.equal(wanted.erase(fired[k].cookie), 1u);
                    test.require(is_same(fired[k].signal, mine[fired[k].cookie]),
                                 "the cookie of that signal");
                    test.ok(sennit_signal_reset(fired[k].signal));
                }
            }
            sennit_fired none{};
            test.is(sennit_waitset_wait_any(sets[which], 0, &none), SENNIT_ERR_TIMEOUT);
        }
        for (const std::size_t i : chosen) {
            if (i >= 100) test.ok(sennit_signal_wait(mine[i], SENNIT_FOREVER));
            if (i >= 100) test.ok(sennit_signal_reset(mine[i]));
            ++epochs[i];
        }
        test.barrier();  // no next event before all have checked
    }
    test.barrier();
    test.ok(sennit_waitset_destroy(sets[0]));
    test.is(sennit_waitset_destroy(sets[0]), SENNIT_ERR_ARG);
    for (const sennit_signal signal : mine)
        test.ok(sennit_signal_destroy(signal));
    sennit_fired none{};
    test.is(sennit_waitset_wait_any(sets[1], SENNIT_FOREVER, &none), SENNIT_ERR_STATE);
    test.ok(sennit_waitset_wait_all(sets[1], 0));
    test.ok(sennit_waitset_destroy(sets[1]));
}

// Broken by a cookie that is cut to fewer bits, stays with a signal that has left the set, or comes
// with another signal.
RANK_TEST(signal, a_set_gives_back_the_cookie_of_each_signal, kAnything) {
    const std::size_t count = 80;
    sennit_waitset sets[2] = {SENNIT_WAITSET_NULL, SENNIT_WAITSET_NULL};
    for (sennit_waitset &set : sets)
        test.ok(sennit_waitset_create(&set));
    std::vector<sennit_signal> mine;
    std::vector<std::uint64_t> cookies(count);
    const auto add = [&](std::size_t i, sennit_waitset set, std::uint64_t cookie) {
        cookies[i] = cookie;
        test.ok(sennit_waitset_add(set, mine[i], cookie));
    };
    for (std::size_t i = 0; i < count; ++i) {
        mine.push_back(make_signal(test, 1));
        // 0, all bits, the highest and the lowest bit are ordinary cookies.
        const std::uint64_t first[] = {0, UINT64_MAX, std::uint64_t{1} << 63, 1};
        add(i, sets[0], i < 4 ? first[i] : test.own.next());
    }
    const std::vector<sennit_signal> theirs = signals_of_next(test, mine);
    for (std::uint64_t epoch = 0; epoch < (test.quick ? 3u : 20u); ++epoch) {
        const sennit_waitset set = sets[epoch % 2];
        for (const sennit_signal signal : theirs)
            add_when_taken(test, signal, epoch);
        std::set<std::size_t> left;
        for (std::size_t i = 0; i < count; ++i)
            left.insert(i);
        while (!left.empty()) {
            sennit_fired fired[9] = {};
            std::size_t found = 1;
            test.ok(test.own.one_in(2)
                        ? sennit_waitset_wait_any(set, SENNIT_FOREVER, fired)
                        : sennit_waitset_wait_some(set, SENNIT_FOREVER, 9, fired, &found));
            for (std::size_t k = 0; k < found; ++k) {
                std::size_t i = 0;
                while (i < count && !is_same(mine[i], fired[k].signal))
                    ++i;
                test.equal(left.erase(i), 1u);
                test.equal(fired[k].cookie, cookies[i]);
                test.ok(sennit_signal_reset(mine[i]));
                // Moves it to the other set, with another cookie.
                test.ok(sennit_waitset_remove(set, mine[i]));
                add(i, sets[1 - epoch % 2], test.own.next());
            }
        }
    }
    test.barrier();
    for (const sennit_waitset set : sets)
        test.ok(sennit_waitset_destroy(set));
    for (const sennit_signal signal : mine)
        test.ok(sennit_signal_destroy(signal));
}

// Broken by marks that are consumed before their epoch, or a list that keeps reset signals.
RANK_TEST(signal, a_set_counts_early_events_and_forgets_reset_signals, kAnything) {
    sennit_waitset set = SENNIT_WAITSET_NULL;
    test.ok(sennit_waitset_create(&set));
    const sennit_signal a = make_signal(test, 1);
    const sennit_signal b = make_signal(test, 2);
    sennit_fired got{};
    test.is(sennit_waitset_wait_any(set, SENNIT_FOREVER, &got), SENNIT_ERR_STATE);
    test.ok(sennit_signal_notify(a, 1));
    test.ok(sennit_waitset_add(set, a, 0));
    test.is(sennit_waitset_add(set, a, 0), SENNIT_ERR_STATE);
    test.is(sennit_waitset_remove(set, b), SENNIT_ERR_ARG);
    test.is(sennit_waitset_wait_any(set, 0, &got), SENNIT_ERR_TIMEOUT);
    test.ok(sennit_signal_notify(a, 0));
    test.ok(sennit_waitset_wait_any(set, 0, &got));
    test.require(is_same(got.signal, a), "the signal that fired");
    test.ok(sennit_waitset_wait_any(set, 0, &got));
    test.ok(sennit_signal_reset(a));
    test.ok(sennit_waitset_wait_all(set, 0));  // its next epoch is complete
    test.ok(sennit_signal_reset(a));
    test.is(sennit_waitset_wait_any(set, 0, &got), SENNIT_ERR_TIMEOUT);
    test.ok(sennit_signal_notify(a, 2));
    test.ok(sennit_signal_notify(b, 0));
    test.ok(sennit_signal_notify(b, 0));
    test.ok(sennit_waitset_add(set, b, 0));  // has fired already
    test.ok(sennit_waitset_wait_all(set, 0));
    std::set<std::uint32_t> seen;
    for (int i = 0; i < 2; ++i) {
        test.ok(sennit_waitset_wait_any(set, 0, &got));
        seen.insert(got.signal.handle);
    }
    test.equal(seen.size(), 2u);  // in turn
    test.ok(sennit_waitset_remove(set, a));
    test.ok(sennit_waitset_wait_any(set, 0, &got));
    test.require(is_same(got.signal, b), "a removed signal is not reported");
    test.ok(sennit_signal_destroy(b));
    test.is(sennit_waitset_wait_any(set, 0, &got), SENNIT_ERR_STATE);
    test.ok(sennit_waitset_destroy(set));
    test.ok(sennit_signal_destroy(a));
}

// Broken by a table that grows wrongly. tests/signal/set_visits_test.cpp finds a set that scans all
// signals, which would pass here.
RANK_TEST(signal, a_hundred_thousand_signals_are_waited_for_at_once, kOnce) {
    const bool long_run = !test.quick && test.load_store;
    const std::uint32_t count = long_run ? 100000 : 3000;
    sennit_waitset set = SENNIT_WAITSET_NULL;
    test.ok(sennit_waitset_create(&set));
    std::vector<sennit_signal> mine;
    for (std::uint32_t i = 0; i < count; ++i) {
        mine.push_back(make_signal(test, 1));
        test.ok(sennit_waitset_add(set, mine.back(), i));
    }
    std::vector<std::uint32_t> handles;
    for (const sennit_signal signal : mine)
        handles.push_back(signal.handle);
    std::sort(handles.begin(), handles.end());
    test.require(std::adjacent_find(handles.begin(), handles.end()) == handles.end(),
                 "every signal has a handle of its own");
    const auto lasts = test.tell_all(mine.back());
    const auto firsts = test.tell_all(mine.front());
    const auto next = static_cast<std::size_t>(test.next());
    test.ok(sennit_signal_notify(lasts[next], 0));
    sennit_fired got{};
    test.ok(sennit_waitset_wait_any(set, SENNIT_FOREVER, &got));
    test.require(is_same(got.signal, mine.back()), "the last one");
    test.equal(got.cookie, count - 1);
    test.ok(sennit_signal_reset(got.signal));
    test.barrier();
    test.ok(sennit_signal_notify(firsts[next], 0));
    test.ok(sennit_waitset_wait_any(set, SENNIT_FOREVER, &got));
    test.require(is_same(got.signal, mine.front()), "the first one");
    test.equal(got.cookie, 0u);
    test.barrier();
    for (const sennit_signal signal : mine)
        test.ok(sennit_signal_notify(signal, is_same(signal, mine.back())  ? 1
                                             : is_same(signal, got.signal) ? 1
                                                                           : 0));
    test.ok(sennit_signal_reset(got.signal));
    test.ok(sennit_waitset_wait_all(set, SENNIT_FOREVER));
    test.ok(sennit_waitset_destroy(set));
    for (const sennit_signal signal : mine)
        test.ok(sennit_signal_destroy(signal));
    test.barrier();
}

// Broken by tables or marks that threads of one rank corrupt.
RANK_TEST(signal, threads_of_a_rank_use_signals_at_once, kFreeThreads) {
    const int threads = 4;
    sennit_waitset set = SENNIT_WAITSET_NULL;
    test.ok(sennit_waitset_create(&set));
    in_threads(test, threads, [&](Ranks &mine, int) {
        for (int round = 0; round < (mine.quick ? 5 : 60); ++round) {
            sennit_signal own[3];
            for (sennit_signal &signal : own) {
                signal = make_signal(mine, 2);
                mine.ok(sennit_waitset_add(set, signal, signal.handle));
            }
            for (std::uint64_t epoch = 0; epoch < 3; ++epoch)
                for (const sennit_signal signal : own) {
                    mine.ok(sennit_signal_notify(signal, epoch));
                    mine.ok(sennit_signal_notify(signal, epoch));
                    mine.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
                    sennit_fired any{};
                    mine.ok(sennit_waitset_wait_any(set, SENNIT_FOREVER, &any));
                    mine.equal(any.cookie, any.signal.handle);
                    mine.ok(sennit_signal_reset(signal));
                }
            for (const sennit_signal signal : own)
                mine.ok(sennit_signal_destroy(signal));
        }
    });
    test.ok(sennit_waitset_destroy(set));
    test.barrier();
}

// Broken by a reset of two threads at once that skips an epoch, or a reset that overwrites a
// concurrent event.
RANK_TEST(signal, one_of_several_resets_at_once_begins_the_next_epoch, kFreeThreads) {
    using Clock = std::chrono::steady_clock;
    const std::uint64_t epochs = test.quick ? 300 : 2000;
    const sennit_signal mine = make_signal(test, 2);
    test.ok(sennit_signal_notify(mine, 0));
    std::atomic<std::uint64_t> begun{0};  // epochs that have fired
    std::atomic<std::uint64_t> over{0};   // attempted resets
    std::atomic<std::uint64_t> resets{0};
    std::atomic<Clock::rep> instant{0};  // the time when both reset
    std::atomic<bool> is_wrong{false};   // set by the thread that finds an error
    const auto wait_for = [&](const std::atomic<std::uint64_t> &count, std::uint64_t wanted) {
        for (unsigned looks = 0; count < wanted && !is_wrong; ++looks)
            if (looks > 2000) std::this_thread::yield();
    };
    in_threads(test, 2, [&](Ranks &own, int number) {
        for (std::uint64_t epoch = 0; epoch < epochs && !is_wrong; ++epoch) {
            if (number == 0) {
                own.ok(sennit_signal_notify(mine, epoch));
                instant = (Clock::now() + std::chrono::microseconds(4)).time_since_epoch().count();
                begun = epoch + 1;
            }
            wait_for(begun, epoch + 1);
            // One event of the next epoch comes before or during the resets.
            if (number == 1 && epoch % 2 == 0) own.ok(sennit_signal_notify(mine, epoch + 1));
            while (Clock::now().time_since_epoch().count() < instant)
                continue;
            // One of the threads is a little later, by a different time in each epoch.
            const std::uint64_t later = number == 0 ? epoch % 16 : epoch / 16 % 16;
            for (std::atomic<std::uint64_t> i{0}; i < later;)
                ++i;
            const sennit_status status = sennit_signal_reset(mine);
            if (number == 1 && epoch % 2 == 1) own.ok(sennit_signal_notify(mine, epoch + 1));
            if (status == SENNIT_OK) ++resets;
            if (status != SENNIT_OK) own.is(status, SENNIT_ERR_STATE);
            ++over;
            wait_for(over, 2 * (epoch + 1));
            if (number == 1) continue;
            is_wrong = resets != epoch + 1;
            own.equal(resets.load(), epoch + 1);
            own.equal(epoch_of(own, mine), epoch + 1);
            own.equal(left_of(own, mine), 1u);
        }
    });
    test.ok(sennit_signal_destroy(mine));
    test.barrier();
}
