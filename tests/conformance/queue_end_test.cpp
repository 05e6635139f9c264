// Queues that end while others are producers of them, or on their way to become that.
#include <vector>

#include "queues.hpp"
#include "threads.hpp"

using namespace conformance;

// Broken by memory that goes while a producer still has a ring in it, or by a producer that writes
// to a queue which was made later.
RANK_TEST(queue, a_producer_of_a_queue_that_has_ended_is_told_and_leaves_later_ones_alone,
          kAnything) {
    if (!queues_lead_everywhere(it)) return;
    for (int round = 0; round < (it.quick ? 3 : 20); ++round) {
        const Made old = make_queue(it, 8, 4, 3);
        const sennit_queue_address there =
            it.tell_all(old.address)[static_cast<std::size_t>(it.next())];
        std::uint64_t word = 1;
        sennit_producer producers[3] = {};  // one finds out, one does not look, one had put in
        for (sennit_producer &producer : producers)
            it.ok(sennit_queue_attach(there, &producer));
        it.ok(sennit_queue_push(producers[2], &word, 0));
        it.barrier();
        it.ok(sennit_queue_destroy(old.queue));
        // One of these would lie where the old one was, if that were free. All rings are in use.
        std::vector<Made> later;
        std::vector<sennit_producer> own;
        for (int i = 0; i < 9; ++i) {
            if (i % 3 == 0) later.push_back(make_queue(it, 8, 4, 3));
            own.push_back(SENNIT_PRODUCER_NULL);
            it.ok(sennit_queue_attach(later.back().address, &own.back()));
        }
        it.barrier();
        sennit_producer none = SENNIT_PRODUCER_NULL;
        it.is(sennit_queue_attach(there, &none), SENNIT_ERR_NOT_REGISTERED);
        word = 2;
        for (int i = 0; i < 2; ++i)
            it.is(sennit_queue_push(producers[0], &word, i * kMillisecond),
                  SENNIT_ERR_NOT_REGISTERED);
        it.is(sennit_queue_push(producers[2], &word, SENNIT_FOREVER), SENNIT_ERR_NOT_REGISTERED);
        for (const sennit_producer producer : producers)
            it.ok(sennit_queue_detach(producer));
        it.barrier();
        for (const Made &made : later) {
            it.is(sennit_queue_pop(made.queue, &word, 0), SENNIT_ERR_TIMEOUT);
            it.is(sennit_queue_attach(made.address, &none), SENNIT_ERR_NOMEM);
        }
        later.push_back(make_queue(it, 8, 4, 3));  // the old one's memory has gone
        it.is(sennit_queue_attach(there, &none), SENNIT_ERR_NOT_REGISTERED);
        for (const sennit_producer producer : own)
            it.ok(sennit_queue_detach(producer));
        for (const Made &made : later)
            it.ok(sennit_queue_destroy(made.queue));
        it.barrier();
    }
}

// Broken by memory of queues that have ended and that nobody frees: a rank has 16384 segments.
RANK_TEST(queue, what_a_queue_took_is_free_when_its_last_producer_has_gone, kOnce) {
    if (!queues_lead_everywhere(it)) return;
    const int rounds = it.quick || it.rank != 0 ? 300 : 16500;
    std::vector<sennit_producer> own;
    for (int round = 0; round < rounds; ++round) {
        const Made made = make_queue(it, 8, 1, 1);
        sennit_producer producer = SENNIT_PRODUCER_NULL;
        it.ok(sennit_queue_attach(made.address, &producer));
        it.ok(sennit_queue_destroy(made.queue));
        const std::uint64_t word = 0;
        if (round % 2 == 0) it.is(sennit_queue_push(producer, &word, 0), SENNIT_ERR_NOT_REGISTERED);
        own.push_back(producer);
        if (own.size() < 50) continue;
        for (const sennit_producer each : own)
            it.ok(sennit_queue_detach(each));
        own.clear();
    }
    for (const sennit_producer each : own)
        it.ok(sennit_queue_detach(each));
    it.barrier();
}

// Broken by memory that goes under a producer, or an item that comes out of another queue than the
// one it was put into. Each rank makes and ends queues all the time, and puts into those of all
// others as it finds them on their boards.
RANK_TEST(queue, queues_end_while_others_attach_and_put_in, kAnything) {
    if (!queues_lead_everywhere(it)) return;
    const sennit_gptr memory = it.allocate(8);
    auto *board = static_cast<std::uint64_t *>(sennit_ptr(memory));
    const auto show = [&](const sennit_queue_address &address, std::uint64_t number) {
        it.ok(sennit_atomic_set_u64(sennit_gptr_at(memory, it.rank),
                                    std::uint64_t{address.gptr.segment} << 32 | number));
    };
    it.programs(it.quick ? 2 : 4, [&] {
        std::uint64_t number = 1;
        Made mine = make_queue(it, 8, 2, static_cast<unsigned>(it.size));
        show(mine.address, number);
        it.barrier();
        struct Producer {
            sennit_producer handle;
            std::uint64_t item;
        };
        std::vector<Producer> producers;
        const int steps = it.quick ? 2000 : 8000;
        for (int step = 0; step < steps; ++step) {
            const std::uint64_t what = it.own.between(0, 9);
            if (what == 0) {
                it.ok(sennit_queue_destroy(mine.queue));
                mine = make_queue(it, 8, it.own.between(1, 4), static_cast<unsigned>(it.size));
                show(mine.address, ++number);
            } else if (what < 3) {
                std::uint64_t item = 0;
                const sennit_status status = sennit_queue_pop(mine.queue, &item, 0);
                if (status == SENNIT_OK) it.equal(item, number);
                if (status != SENNIT_OK) it.is(status, SENNIT_ERR_TIMEOUT);
            } else if (what < 5 && producers.size() < 8) {
                const int peer = static_cast<int>(it.own.between(0, it.size - 1));
                std::uint64_t shown = 0;
                it.ok(sennit_atomic_fetch_u64(sennit_gptr_at(memory, peer), &shown));
                const sennit_gptr gptr{peer, static_cast<std::uint32_t>(shown >> 32), 0};
                Producer made{SENNIT_PRODUCER_NULL, shown & UINT32_MAX};
                const sennit_status status = sennit_queue_attach({gptr}, &made.handle);
                if (status == SENNIT_OK) producers.push_back(made);
                if (status != SENNIT_OK && status != SENNIT_ERR_NOMEM)
                    it.is(status, SENNIT_ERR_NOT_REGISTERED);
            } else if (!producers.empty()) {
                const std::size_t which = it.own.between(0, producers.size() - 1);
                const Producer it_is = producers[which];
                const sennit_status status = sennit_queue_push(it_is.handle, &it_is.item, 0);
                if (status != SENNIT_OK && status != SENNIT_ERR_TIMEOUT)
                    it.is(status, SENNIT_ERR_NOT_REGISTERED);
                if (status == SENNIT_OK && what < 9) continue;
                it.ok(sennit_queue_detach(it_is.handle));
                producers.erase(producers.begin() + static_cast<std::ptrdiff_t>(which));
            }
        }
        it.barrier();
        it.ok(sennit_queue_destroy(mine.queue));
        for (const Producer &producer : producers)
            it.ok(sennit_queue_detach(producer.handle));
        it.barrier();
    });
    it.equal(*board != 0, true);
    it.free(memory);
}
