// The end of queues while other ranks are producers, or are about to attach.
#include <vector>

#include "queues.hpp"
#include "threads.hpp"

using namespace conformance;

// Broken by memory that is freed while a producer still has a ring in it, or by a producer that
// writes to a later queue.
RANK_TEST(queue, a_producer_of_an_ended_queue_gets_an_error_and_touches_no_later_one, kAnything) {
    if (!queues_lead_everywhere(test)) return;
    for (int round = 0; round < (test.quick ? 3 : 20); ++round) {
        const Made old = make_queue(test, 8, 4, 3);
        const sennit_queue_address there =
            test.tell_all(old.address)[static_cast<std::size_t>(test.next())];
        std::uint64_t word = 1;
        sennit_producer producers[3] = {};  // one is refused, one is idle, one has pushed
        for (sennit_producer &producer : producers)
            test.ok(sennit_queue_attach(there, &producer));
        test.ok(sennit_queue_push(producers[2], &word, 0));
        test.barrier();
        test.ok(sennit_queue_destroy(old.queue));
        // If the old queue's memory were free, one of these would get it. All rings are in use.
        std::vector<Made> later;
        std::vector<sennit_producer> own;
        for (int i = 0; i < 9; ++i) {
            if (i % 3 == 0) later.push_back(make_queue(test, 8, 4, 3));
            own.push_back(SENNIT_PRODUCER_NULL);
            test.ok(sennit_queue_attach(later.back().address, &own.back()));
        }
        test.barrier();
        sennit_producer none = SENNIT_PRODUCER_NULL;
        test.is(sennit_queue_attach(there, &none), SENNIT_ERR_NOT_REGISTERED);
        word = 2;
        for (int i = 0; i < 2; ++i)
            test.is(sennit_queue_push(producers[0], &word, i * kMillisecond),
                    SENNIT_ERR_NOT_REGISTERED);
        test.is(sennit_queue_push(producers[2], &word, SENNIT_FOREVER), SENNIT_ERR_NOT_REGISTERED);
        for (const sennit_producer producer : producers)
            test.ok(sennit_queue_detach(producer));
        test.barrier();
        for (const Made &made : later) {
            test.is(sennit_queue_pop(made.queue, &word, 0), SENNIT_ERR_TIMEOUT);
            test.is(sennit_queue_attach(made.address, &none), SENNIT_ERR_NOMEM);
        }
        later.push_back(make_queue(test, 8, 4, 3));  // the old queue's memory is free
        test.is(sennit_queue_attach(there, &none), SENNIT_ERR_NOT_REGISTERED);
        for (const sennit_producer producer : own)
            test.ok(sennit_queue_detach(producer));
        for (const Made &made : later)
            test.ok(sennit_queue_destroy(made.queue));
        test.barrier();
    }
}

// Broken by memory of ended queues that nobody frees: a rank has 16383 segments.
RANK_TEST(queue, the_memory_of_a_queue_is_freed_after_its_last_producer, kOnce) {
    if (!queues_lead_everywhere(test)) return;
    const int rounds = test.quick || test.rank != 0 ? 300 : 16500;
    std::vector<sennit_producer> own;
    for (int round = 0; round < rounds; ++round) {
        const Made made = make_queue(test, 8, 1, 1);
        sennit_producer producer = SENNIT_PRODUCER_NULL;
        test.ok(sennit_queue_attach(made.address, &producer));
        test.ok(sennit_queue_destroy(made.queue));
        const std::uint64_t word = 0;
        if (round % 2 == 0)
            test.is(sennit_queue_push(producer, &word, 0), SENNIT_ERR_NOT_REGISTERED);
        own.push_back(producer);
        if (own.size() < 50) continue;
        for (const sennit_producer each : own)
            test.ok(sennit_queue_detach(each));
        own.clear();
    }
    for (const sennit_producer each : own)
        test.ok(sennit_queue_detach(each));
    test.barrier();
}

// Broken by memory that is freed under a producer, or an item that arrives in another queue. Each
// rank creates and ends queues all the time, and pushes to those of all other ranks as it finds
// them in their memory.
RANK_TEST(queue, queues_end_while_others_attach_and_put_in, kAnything) {
    if (!queues_lead_everywhere(test)) return;
    const sennit_gptr memory = test.allocate(8);
    auto *shared = static_cast<std::uint64_t *>(sennit_ptr(memory));
    const auto show = [&](const sennit_queue_address &address, std::uint64_t number) {
        test.ok(sennit_atomic_set_u64(sennit_gptr_at(memory, test.rank),
                                      std::uint64_t{address.gptr.segment} << 32 | number));
    };
    test.programs(test.quick ? 2 : 4, [&] {
        std::uint64_t number = 1;
        Made mine = make_queue(test, 8, 2, static_cast<unsigned>(test.size));
        show(mine.address, number);
        test.barrier();
        struct Producer {
            sennit_producer handle;
            std::uint64_t item;
        };
        std::vector<Producer> producers;
        const int steps = test.quick ? 2000 : 8000;
        for (int step = 0; step < steps; ++step) {
            const std::uint64_t what = test.own.between(0, 9);
            if (what == 0) {
                test.ok(sennit_queue_destroy(mine.queue));
                mine =
                    make_queue(test, 8, test.own.between(1, 4), static_cast<unsigned>(test.size));
                show(mine.address, ++number);
            } else if (what < 3) {
                std::uint64_t item = 0;
                const sennit_status status = sennit_queue_pop(mine.queue, &item, 0);
                if (status == SENNIT_OK) test.equal(item, number);
                if (status != SENNIT_OK) test.is(status, SENNIT_ERR_TIMEOUT);
            } else if (what < 5 && producers.size() < 8) {
                const int peer = static_cast<int>(test.own.between(0, test.size - 1));
                std::uint64_t shown = 0;
                test.ok(sennit_atomic_fetch_u64(sennit_gptr_at(memory, peer), &shown));
                const sennit_gptr gptr{peer, static_cast<std::uint32_t>(shown >> 32), 0};
                Producer made{SENNIT_PRODUCER_NULL, shown & UINT32_MAX};
                const sennit_status status = sennit_queue_attach({gptr}, &made.handle);
                if (status == SENNIT_OK) producers.push_back(made);
                if (status != SENNIT_OK && status != SENNIT_ERR_NOMEM)
                    test.is(status, SENNIT_ERR_NOT_REGISTERED);
            } else if (!producers.empty()) {
                const std::size_t which = test.own.between(0, producers.size() - 1);
                const Producer it_is = producers[which];
                const sennit_status status = sennit_queue_push(it_is.handle, &it_is.item, 0);
                if (status != SENNIT_OK && status != SENNIT_ERR_TIMEOUT)
                    test.is(status, SENNIT_ERR_NOT_REGISTERED);
                if (status == SENNIT_OK && what < 9) continue;
                test.ok(sennit_queue_detach(it_is.handle));
                producers.erase(producers.begin() + static_cast<std::ptrdiff_t>(which));
            }
        }
        test.barrier();
        test.ok(sennit_queue_destroy(mine.queue));
        for (const Producer &producer : producers)
            test.ok(sennit_queue_detach(producer.handle));
        test.barrier();
    });
    test.equal(*shared != 0, true);
    test.free(memory);
}
