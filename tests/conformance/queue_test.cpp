// Queues: items of many producers, full and empty queues, and their ends.
#include <cstdio>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "queues.hpp"
#include "threads.hpp"

using namespace conformance;

namespace {

struct Item {
    std::uint64_t from;
    std::uint64_t number;
};

std::string in_hex(std::uint32_t handle) {
    char text[16];
    (void)std::snprintf(text, sizeof text, "%#x", handle);
    return text;
}

void expect_words(Ranks &test, const std::string &words) {
    test.require(std::strstr(sennit_last_error()->text, words.c_str()) != nullptr, words.c_str());
}

}  // namespace

// Broken by an item that is lost, doubled or overtaken, or a slot that is overwritten before it was
// read. Every rank pushes to all queues and pops from its own.
RANK_TEST(queue, items_of_each_producer_come_out_once_and_in_order, kAnything) {
    if (!queues_lead_everywhere(test)) return;
    const auto size = static_cast<std::size_t>(test.size);
    test.programs(test.quick ? 2 : 8, [&] {
        const std::size_t capacity = test.common.between(1, 5) * test.common.between(1, 5);
        const Made mine =
            make_queue(test, sizeof(Item), capacity, static_cast<unsigned>(test.size));
        std::vector<sennit_producer> producers;
        for (const sennit_queue_address &address : test.tell_all(mine.address))
            producers.push_back(attach(test, address));
        const std::uint64_t count = test.quick ? 100 : 1000;
        std::vector<std::uint64_t> put(size, 0);
        std::vector<std::uint64_t> taken(size, 0);
        std::uint64_t left_to_put = count * size;
        std::uint64_t left_to_take = count * size;
        while (left_to_put + left_to_take > 0) {
            for (std::size_t peer = 0; peer < size; ++peer) {
                if (put[peer] == count) continue;
                const Item item{static_cast<std::uint64_t>(test.rank), put[peer]};
                const sennit_status status = sennit_queue_push(producers[peer], &item, 0);
                if (status == SENNIT_ERR_TIMEOUT) continue;
                test.ok(status);
                ++put[peer];
                --left_to_put;
            }
            Item item{};
            const sennit_status status =
                left_to_take == 0 ? SENNIT_ERR_TIMEOUT : sennit_queue_pop(mine.queue, &item, 0);
            if (status == SENNIT_ERR_TIMEOUT) continue;
            test.ok(status);
            test.require(item.from < size, "the item is of a rank");
            test.equal(item.number, taken[item.from]++);
            --left_to_take;
        }
        Item item{};
        test.is(sennit_queue_pop(mine.queue, &item, 0), SENNIT_ERR_TIMEOUT);
        test.barrier();
        for (const sennit_producer producer : producers)
            test.ok(sennit_queue_detach(producer));
        test.barrier();
        test.ok(sennit_queue_destroy(mine.queue));
    });
}

// Broken by an item that is lost, doubled or overtaken when one call moves several, also across the
// end of the ring, and by a wrong count.
RANK_TEST(queue, many_items_in_one_call_come_out_once_and_in_order, kAnything) {
    if (!queues_lead_everywhere(test)) return;
    for (const std::size_t words : {1u, 2u, 9u, 100u}) {
        const std::size_t capacity = test.common.between(1, 40);
        const Made mine = make_queue(test, words * 8, capacity, 1);
        const auto all = test.tell_all(mine.address);
        const sennit_producer producer = attach(test, all[static_cast<std::size_t>(test.next())]);
        const std::uint64_t count = test.quick ? 200 : 2000;
        std::vector<std::uint64_t> out(64 * words);
        std::vector<std::uint64_t> in(64 * words);
        std::uint64_t put = 0;
        std::uint64_t taken = 0;
        while (put + taken < 2 * count) {
            const std::size_t some = std::min<std::uint64_t>(test.own.below(65), count - put);
            for (std::size_t i = 0; i < some * words; ++i)
                out[i] = (put + i / words) * words + i % words;
            std::size_t moved = 77;
            sennit_status status = sennit_queue_push_many(producer, out.data(), some, 0, &moved);
            test.require(status == (moved == some ? SENNIT_OK : SENNIT_ERR_TIMEOUT),
                         "all are put in, or there is no place");
            test.require(moved <= some, "no more than were offered");
            put += moved;
            const std::size_t most = test.own.below(65);
            std::fill(in.begin(), in.end(), ~std::uint64_t{0});
            moved = 77;
            status = sennit_queue_pop_many(mine.queue, in.data(), most, 0, &moved);
            test.require(status == SENNIT_OK || (status == SENNIT_ERR_TIMEOUT && moved == 0),
                         "the pop takes some, or finds none");
            test.require(moved <= most, "no more than are asked for");
            for (std::size_t i = 0; i < moved * words; ++i)
                test.equal(in[i], (taken + i / words) * words + i % words);
            for (std::size_t i = moved * words; i < in.size(); ++i)
                test.equal(in[i], ~std::uint64_t{0});
            taken += moved;
        }
        std::size_t moved = 77;
        test.is(sennit_queue_pop_many(mine.queue, in.data(), 3, kMillisecond, &moved),
                SENNIT_ERR_TIMEOUT);
        test.equal(moved, std::size_t{0});
        test.barrier();
        test.ok(sennit_queue_detach(producer));
        test.barrier();
        test.ok(sennit_queue_destroy(mine.queue));
    }
}

// Broken by a push that does not wait for all its items, or a pop that waits for more than the
// first.
RANK_TEST(queue, many_items_wait_for_places_and_for_one_item, kTwoRanks) {
    if (!queues_lead_everywhere(test)) return;
    constexpr std::size_t kCapacity = 5;
    constexpr std::size_t kCount = 1000;
    const Made mine = make_queue(test, 8, kCapacity, 1);
    const auto all = test.tell_all(mine.address);
    std::vector<std::uint64_t> words(kCount);
    std::size_t moved = 0;
    if (test.rank == 1) {
        const sennit_producer producer = attach(test, all[0]);
        for (std::size_t i = 0; i < kCount; ++i)
            words[i] = i;
        test.ok(sennit_queue_push_many(producer, words.data(), kCount, SENNIT_FOREVER, &moved));
        test.equal(moved, kCount);
        test.barrier();
        test.is(sennit_queue_push_many(producer, words.data(), 8, kMillisecond, &moved),
                SENNIT_ERR_TIMEOUT);
        test.equal(moved, kCapacity);
        test.barrier();
        test.ok(sennit_queue_detach(producer));
    } else if (test.rank == 0) {
        for (std::size_t taken = 0; taken < kCount; taken += moved) {
            test.ok(
                sennit_queue_pop_many(mine.queue, words.data(), kCount, SENNIT_FOREVER, &moved));
            test.require(moved != 0 && taken + moved <= kCount, "a pop takes one at least");
            for (std::size_t i = 0; i < moved; ++i)
                test.equal(words[i], std::uint64_t{taken + i});
        }
        test.barrier();
        test.barrier();
        test.ok(sennit_queue_pop_many(mine.queue, words.data(), kCount, 0, &moved));
        test.equal(moved, kCapacity);
    } else {
        test.barrier();
        test.barrier();
    }
    test.barrier();
    test.ok(sennit_queue_destroy(mine.queue));
}

// Broken by a stride that differs from the item's size, or a write beside an item.
RANK_TEST(queue, items_of_every_size_are_whole, kAnything) {
    if (!queues_lead_everywhere(test)) return;
    for (const std::size_t bytes : {1u, 2u, 7u, 8u, 9u, 63u, 64u, 65u, 1000u, 5000u}) {
        const Made mine = make_queue(test, bytes, 3, 1);
        const auto all = test.tell_all(mine.address);
        const sennit_producer producer = attach(test, all[static_cast<std::size_t>(test.next())]);
        std::vector<std::uint8_t> item(bytes + 1, 0);
        for (std::uint64_t number = 0; number < 10; ++number) {
            fill(item.data(), bytes, number * 64 + static_cast<std::uint64_t>(test.rank));
            test.ok(sennit_queue_push(producer, item.data(), SENNIT_FOREVER));
            item[bytes] = 0x77;
            test.ok(sennit_queue_pop(mine.queue, item.data(), SENNIT_FOREVER));
            check_pattern(test, item.data(), bytes,
                          number * 64 + static_cast<std::uint64_t>(test.previous()));
            test.equal(item[bytes], 0x77);
        }
        test.barrier();
        test.ok(sennit_queue_detach(producer));
        test.barrier();
        test.ok(sennit_queue_destroy(mine.queue));
    }
}

// Broken by a slot that is used twice, a producer's place that is not reused, or an error that does
// not name the queue, or whether it is full or empty.
RANK_TEST(queue, a_full_queue_refuses_and_places_of_producers_are_reused, kAnything) {
    if (!queues_lead_everywhere(test)) return;
    const Made mine = make_queue(test, 8, 3, 2);
    const auto all = test.tell_all(mine.address);
    const sennit_queue_address there = all[static_cast<std::size_t>(test.next())];
    std::uint64_t word = 0;
    for (int round = 0; round < 5; ++round) {
        const sennit_producer one = attach(test, there);
        const sennit_producer two = attach(test, there);
        sennit_producer three{77};
        test.is(sennit_queue_attach(there, &three), SENNIT_ERR_NOMEM);
        test.equal(three.handle, 77u);
        for (word = 0; word < 3; ++word)
            test.ok(sennit_queue_push(one, &word, 0));
        for (const std::int64_t limit : {std::int64_t{0}, kMillisecond}) {
            test.is(sennit_queue_push(one, &word, limit), SENNIT_ERR_TIMEOUT);
            expect_words(test, "all 3 places of producer " + in_hex(one.handle) +
                                   " in the queue of rank " + std::to_string(test.next()) +
                                   " are taken");
        }
        word = 100;
        test.ok(sennit_queue_push(two, &word, 0));
        test.ok(sennit_queue_detach(one));
        test.is(sennit_queue_push(one, &word, 0), SENNIT_ERR_ARG);
        three = attach(test, there);  // behind the items of the producer before
        test.is(sennit_queue_push(three, &word, 0), SENNIT_ERR_TIMEOUT);
        test.ok(sennit_queue_detach(three));
        test.barrier();
        std::uint64_t sum = 0;
        for (int i = 0; i < 4; ++i) {
            test.ok(sennit_queue_pop(mine.queue, &word, 0));
            sum += word;
        }
        test.equal(sum, 103u);
        for (const std::int64_t limit : {std::int64_t{0}, kMillisecond}) {
            test.is(sennit_queue_pop(mine.queue, &word, limit), SENNIT_ERR_TIMEOUT);
            expect_words(test, "queue " + in_hex(mine.queue.handle) + " is empty");
        }
        test.barrier();
        test.ok(sennit_queue_detach(two));
        test.barrier();
        // Nobody learns that no producer is left.
        test.is(sennit_queue_pop(mine.queue, &word, 2 * kMillisecond), SENNIT_ERR_TIMEOUT);
        test.barrier();
    }
    const sennit_producer last = attach(test, there);
    test.ok(sennit_queue_push(last, &word, 0));
    test.barrier();
    test.ok(sennit_queue_destroy(mine.queue));
    test.is(sennit_queue_destroy(mine.queue), SENNIT_ERR_ARG);
    test.is(sennit_queue_pop(mine.queue, &word, 0), SENNIT_ERR_ARG);
    test.barrier();
    test.is(sennit_queue_push(last, &word, SENNIT_FOREVER), SENNIT_ERR_NOT_REGISTERED);
    sennit_producer none = SENNIT_PRODUCER_NULL;
    test.is(sennit_queue_attach(there, &none), SENNIT_ERR_NOT_REGISTERED);
    test.ok(sennit_queue_detach(last));
    test.barrier();
}

// Broken by an address of other memory that is accepted.
RANK_TEST(queue, an_invalid_address_is_refused, kAnything) {
    if (!queues_lead_everywhere(test)) return;
    const sennit_gptr memory = test.allocate(4096);
    const Made mine = make_queue(test, 8, 1, 1);
    sennit_producer none = SENNIT_PRODUCER_NULL;
    test.is(sennit_queue_attach({sennit_gptr_at(memory, test.next())}, &none), SENNIT_ERR_ARG);
    test.is(sennit_queue_attach({sennit_gptr_add(mine.address.gptr, 384)}, &none), SENNIT_ERR_ARG);
    test.is(sennit_queue_attach({sennit_gptr_add(mine.address.gptr, 4096)}, &none),
            SENNIT_ERR_RANGE);
    test.is(sennit_queue_attach({sennit_gptr_at(mine.address.gptr, test.size)}, &none),
            SENNIT_ERR_RANGE);
    test.equal(none.handle, 0u);
    test.ok(sennit_queue_destroy(mine.queue));
    test.barrier();
    test.free(memory);
}

// Broken by a wait that misses the space or item that it waits for, or sleeps without end.
// tests/faults/wake_rank.cpp tests that a push or pop ends a sleep.
RANK_TEST(queue, a_sleeper_gets_the_place_or_item_that_it_waits_for, kTwoRanks | kFreeThreads) {
    if (!queues_lead_everywhere(test)) return;
    const Made mine = make_queue(test, 8, 1, 1);
    const auto all = test.tell_all(mine.address);
    const sennit_producer producer = attach(test, all[static_cast<std::size_t>(test.next())]);
    const std::uint64_t count = test.quick ? 4 : 12;
    in_threads(test, 2, [&](Ranks &own, int number) {
        const std::uint64_t never = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            // Each side sleeps in turn, long enough that the other side's wait sleeps too.
            if (i % 4 == static_cast<std::uint64_t>(number) * 2)
                own.is(sennit_signal_wait_word(&never, SENNIT_EQUAL, 1, 15 * kMillisecond),
                       SENNIT_ERR_TIMEOUT);
            std::uint64_t word = i;
            if (number == 0) {
                own.ok(sennit_queue_push(producer, &word, SENNIT_FOREVER));
            } else {
                own.ok(sennit_queue_pop(mine.queue, &word, SENNIT_FOREVER));
                own.equal(word, i);
            }
        }
    });
    test.barrier();
    test.ok(sennit_queue_detach(producer));
    test.barrier();
    test.ok(sennit_queue_destroy(mine.queue));
}
