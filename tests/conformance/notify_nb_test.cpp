// Notified puts and gets that continue after their call has returned.
#include <algorithm>
#include <vector>

#include "next_block.hpp"
#include "threads.hpp"

using namespace conformance;

namespace {

constexpr std::size_t kLongest = 50'000;  // bytes; beyond 48 KiB the event follows its data

// Messages of several lengths from each rank to the next one, which has two halves for them.
struct NotifiedRing : NextBlock {
    static constexpr std::size_t kMessages = 24;
    std::vector<std::vector<std::uint8_t>> data;

    explicit NotifiedRing(Ranks &ranks)
        : NextBlock(ranks, 2 * kMessages * kLongest, make_signal(ranks, kMessages),
                    make_signal(ranks, kMessages)),
          data(kMessages) {
        constexpr std::size_t kLengths[] = {8, 0, kLongest, 700, 49152, 49153};
        for (std::size_t i = 0; i < kMessages; ++i)
            data[i].resize(kLengths[i % std::size(kLengths)]);
    }
    void end() const {
        test.ok(sennit_flush_all(SENNIT_FOREVER));
        NextBlock::end();
    }
    static std::size_t place(std::uint64_t epoch, std::size_t message) {
        return (epoch % 2 * kMessages + message) * kLongest;
    }
    const std::uint8_t *own(std::uint64_t epoch, std::size_t message) const {
        return static_cast<const std::uint8_t *>(sennit_ptr(memory)) + place(epoch, message);
    }
    static std::uint64_t salt(int rank, std::uint64_t epoch, std::size_t message) {
        return static_cast<std::uint64_t>(rank) * 1000 + epoch * 100 + message;
    }
    int before() const { return (test.rank + test.size - 1) % test.size; }
};

}  // namespace

// Broken by data that arrives after its event, a request that completes while its buffer is in use,
// an event that is lost or counted twice, or a local event that comes too early or never.
RANK_TEST(notify, many_calls_are_under_way_and_all_are_counted, kAnything) {
    NotifiedRing many(test);
    const sennit_signal sent = make_signal(test, NotifiedRing::kMessages);
    const std::uint64_t epochs = test.quick ? 6 : 60;
    for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
        const bool has_local = epoch % 3 == 1;
        sennit_notice notice{SENNIT_SIGNAL_NULL, has_local ? sent : SENNIT_SIGNAL_NULL, epoch, 0};
        std::vector<sennit_request> requests(NotifiedRing::kMessages, SENNIT_REQUEST_NULL);
        for (std::size_t i = 0; i < NotifiedRing::kMessages; ++i) {
            fill(many.data[i].data(), many.data[i].size(), NotifiedRing::salt(test.rank, epoch, i));
            test.ok(sennit_put_notify_nb(many.next, NotifiedRing::place(epoch, i),
                                         many.data[i].data(), many.data[i].size(), &notice,
                                         epoch % 3 == 0 ? &requests[i] : nullptr));
        }
        test.ok(sennit_wait_all(requests.size(), requests.data(), SENNIT_FOREVER));
        if (has_local) {
            test.ok(sennit_signal_wait(sent, SENNIT_FOREVER));
            test.ok(sennit_signal_reset(sent));
        }
        if (epoch % 3 == 2) test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
        // The caller may reuse the buffers.
        for (std::vector<std::uint8_t> &each : many.data)
            std::fill(each.begin(), each.end(), std::uint8_t{0});
        test.ok(sennit_signal_wait(many.arrived, SENNIT_FOREVER));
        for (std::size_t i = 0; i < NotifiedRing::kMessages; ++i)
            check_pattern(test, many.own(epoch, i), many.data[i].size(),
                          NotifiedRing::salt(many.before(), epoch, i));
        test.ok(sennit_signal_reset(many.arrived));
        // No rank is two epochs ahead.
        test.barrier();
    }
    test.ok(sennit_signal_destroy(sent));
    many.end();
}

namespace {

// Memory that is put in thousands of messages: words, then 8 KiB (words and 8 KiB go by tasks),
// then 36 KiB, and so on. More tasks than may be unacknowledged, and more bytes than the rank's
// copy buffers hold.
struct Thousands : NextBlock {
    static constexpr std::size_t kWords = 7;
    static constexpr std::uint32_t kMessages = kWords + 2;  // per part
    static constexpr std::size_t kTask = 8192;
    static constexpr std::size_t kLong = 36 * 1024;
    static constexpr std::size_t kPartBytes = kWords * 8 + kTask + kLong;
    std::uint32_t events;
    std::size_t bytes;

    Thousands(Ranks &ranks, std::uint32_t parts)
        : NextBlock(ranks, parts * kPartBytes, make_signal(ranks, parts * kMessages),
                    make_signal(ranks, 1)),
          events(parts * kMessages),
          bytes(parts * kPartBytes) {}
    void put_all(const std::vector<std::uint8_t> &data, const sennit_notice &notice) const {
        std::size_t at = 0;
        for (std::size_t i = 0; i < events; ++i) {
            const std::size_t place = i % kMessages;
            const std::size_t length = place < kWords ? 8 : place == kWords ? kTask : kLong;
            test.ok(sennit_put_notify_nb(next, at, data.data() + at, length, &notice, nullptr));
            at += length;
        }
    }
};

}  // namespace

// No wait before the last of 5040 calls (1260 on slow configurations). Broken by a limit on pending
// calls, by a call that is dropped when a window or the copy buffers are full, and by an event that
// is lost or counted twice among so many. In the second round, long messages may use completion
// data.
RANK_TEST(notify, thousands_of_calls_are_under_way_and_both_signals_count_each, kOnce) {
    // 4.4 MiB by tasks, and 20 MiB otherwise. Fewer parts for many ranks, which share processors,
    // and under the thread sanitizer, which is slow.
    const Thousands many(test, test.size <= 4 && !under_thread_sanitizer() ? 560 : 140);
    const sennit_signal sent = make_signal(test, many.events);
    std::vector<std::uint8_t> data(many.bytes);
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
        fill(data.data(), data.size(), 64 * epoch + static_cast<std::uint64_t>(test.rank));
        many.put_all(data, {SENNIT_SIGNAL_NULL, sent, epoch, 0});
        test.ok(sennit_signal_wait(sent, SENNIT_FOREVER));
        std::fill(data.begin(), data.end(), std::uint8_t{0});  // the caller may reuse it
        test.ok(sennit_signal_wait(many.arrived, SENNIT_FOREVER));
        check_pattern(test, sennit_ptr(many.memory), many.bytes,
                      64 * epoch + static_cast<std::uint64_t>(test.previous()));
        test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
        test.barrier();
        for (const sennit_signal signal : {sent, many.arrived}) {
            test.ok(sennit_signal_reset(signal));
            test.equal(left_of(test, signal), many.events);
        }
        test.barrier();
    }
    test.ok(sennit_signal_destroy(sent));
    many.end();
}

// Broken by a get whose request completes before its data arrives, or that notifies the owner too
// early.
RANK_TEST(notify, nonblocking_gets_bring_their_data_and_notify_the_owner, kAnything) {
    NotifiedRing many(test);
    for (std::size_t i = 0; i < NotifiedRing::kMessages; ++i)
        fill(const_cast<std::uint8_t *>(many.own(0, i)), many.data[i].size(),
             NotifiedRing::salt(test.rank, 0, i));
    test.barrier();
    const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 0, 0};
    std::vector<sennit_request> requests(NotifiedRing::kMessages, SENNIT_REQUEST_NULL);
    for (std::size_t i = 0; i < NotifiedRing::kMessages; ++i)
        test.ok(sennit_get_notify_nb(many.data[i].data(), many.next, NotifiedRing::place(0, i),
                                     many.data[i].size(), &notice, &requests[i]));
    for (std::size_t i = NotifiedRing::kMessages; i-- > 0;) {
        test.ok(sennit_wait(&requests[i], SENNIT_FOREVER));
        check_pattern(test, many.data[i].data(), many.data[i].size(),
                      NotifiedRing::salt(test.next(), 0, i));
    }
    test.ok(sennit_signal_wait(many.read, SENNIT_FOREVER));
    many.end();
}

// Broken by data that moves although its owner is two epochs behind, by an error that is reported
// never or twice, or by a local signal that counts a refused call.
RANK_TEST(notify, an_early_nonblocking_call_moves_nothing_and_reports_it, kAnything) {
    NotifiedRing many(test);
    const sennit_signal sent = make_signal(test, 1);
    std::vector<std::uint8_t> buffer(kLongest, 0xEE);
    const auto told_once = [&](std::size_t bytes, bool gets, bool has_request) {
        const sennit_notice notice{SENNIT_SIGNAL_NULL, sent, 2, 0};
        sennit_request request = SENNIT_REQUEST_NULL;
        sennit_status status =
            gets ? sennit_get_notify_nb(buffer.data(), many.next, 0, bytes, &notice,
                                        has_request ? &request : nullptr)
                 : sennit_put_notify_nb(many.next, 0, buffer.data(), bytes, &notice,
                                        has_request ? &request : nullptr);
        if (status == SENNIT_OK)
            status = has_request ? sennit_wait(&request, SENNIT_FOREVER)
                                 : sennit_flush(test.next(), SENNIT_FOREVER);
        test.is(status, SENNIT_ERR_SIGNAL_EARLY);
        test.equal(sennit_last_error()->peer, test.next());
        test.require(
            std::string(sennit_last_error()->text).find("epochs 0 and 1") != std::string::npos,
            sennit_last_error()->text);
        test.ok(sennit_flush(test.next(), SENNIT_FOREVER));
    };
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, kLongest})
        for (const bool gets : {false, true})
            for (const bool has_request : {true, false})
                told_once(bytes, gets, has_request);
    test.require(
        std::all_of(buffer.begin(), buffer.end(), [](std::uint8_t byte) { return byte == 0xEE; }),
        "a refused get brings nothing");
    test.barrier();
    test.require(std::all_of(many.own(0, 0), many.own(0, 0) + kLongest,
                             [](std::uint8_t byte) { return byte == 0; }),
                 "a refused put writes nothing");
    test.equal(left_of(test, sent), 1u);
    test.equal(left_of(test, many.arrived), NotifiedRing::kMessages);

    const sennit_notice waits{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 0, 1};
    test.is(sennit_put_notify_nb(many.next, 0, buffer.data(), 8, &waits, nullptr), SENNIT_ERR_ARG);
    test.is(sennit_put_notify_nb(many.next, 2 * NotifiedRing::kMessages * kLongest, buffer.data(),
                                 8, nullptr, nullptr),
            SENNIT_ERR_RANGE);
    test.is(sennit_put_notify_nb(many.next, 0, nullptr, 8, nullptr, nullptr), SENNIT_ERR_ARG);
    test.ok(sennit_signal_destroy(sent));
    many.end();
}

namespace {

// Data of the threads of each rank for the next one, all through one block.
struct Slabs {
    static constexpr int kThreads = 3;
    static constexpr std::size_t kWords = 3000;
    std::uint64_t epochs;
    sennit_gptr memory;
    sennit_signal arrived;
    sennit_peer_block next;

    static std::size_t place(std::uint64_t epoch, int number) {
        return (epoch % 2 * kThreads + static_cast<std::size_t>(number)) * kWords * 8;
    }
    void receive(Ranks &mine) const {
        const auto *own = static_cast<const std::uint64_t *>(sennit_ptr(memory));
        for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
            mine.ok(sennit_signal_wait(arrived, SENNIT_FOREVER));
            for (int number = 0; number < kThreads; ++number) {
                const std::uint64_t *slab = own + place(epoch, number) / 8;
                mine.equal(slab[0], epoch * 10 + static_cast<std::uint64_t>(number));
                mine.equal(slab[kWords - 1], slab[0]);
            }
            mine.ok(sennit_signal_reset(arrived));
        }
    }
    template <class Call>
    static sennit_status when_let_in(Call call) {
        for (;;) {
            const sennit_status status = call();
            if (status != SENNIT_ERR_SIGNAL_EARLY) return status;
            (void)sennit_flush_all(SENNIT_FOREVER);
        }
    }
    sennit_status send_one(std::uint64_t epoch, int number, const void *slab,
                           sennit_plan plan) const {
        sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch, 0};
        sennit_status status = SENNIT_OK;
        if (number == 0) {
            notice.wait_ns = SENNIT_FOREVER;
            return sennit_put_notify_with(next, place(epoch, number), slab, kWords * 8, &notice);
        }
        if (number == 1) {
            sennit_request request = SENNIT_REQUEST_NULL;
            status = sennit_put_notify_nb(next, place(epoch, number), slab, kWords * 8, &notice,
                                          &request);
            return status == SENNIT_OK ? sennit_wait(&request, SENNIT_FOREVER) : status;
        }
        status = sennit_plan_start(plan);
        return status == SENNIT_OK ? sennit_plan_wait(plan, SENNIT_FOREVER) : status;
    }
    void send(Ranks &mine, int number) const {
        std::vector<std::uint64_t> slab(kWords);
        sennit_plan plans[2];
        for (std::uint64_t turn = 0; turn < 2; ++turn) {
            mine.ok(sennit_plan_create(&plans[turn]));
            mine.ok(
                sennit_plan_put(plans[turn], next, place(turn, number), slab.data(), kWords * 8));
            mine.ok(sennit_plan_commit(plans[turn], turn, 2));
        }
        for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
            slab.assign(kWords, epoch * 10 + static_cast<std::uint64_t>(number));
            mine.ok(when_let_in(
                [&] { return send_one(epoch, number, slab.data(), plans[epoch % 2]); }));
        }
        for (const sennit_plan plan : plans)
            mine.ok(sennit_plan_destroy(plan));
    }
};

}  // namespace

// The threads use a waiting call, a non-blocking call, and their own plan. Broken by an event of
// one thread that is lost among those of another, and by state of a block that two threads write.
RANK_TEST(notify, threads_of_a_rank_share_a_block_where_each_event_names_its_epoch, kFreeThreads) {
    const std::size_t bytes = 2 * Slabs::kThreads * Slabs::kWords * 8;
    Slabs slabs{test.quick ? 12u : 100u, test.allocate(bytes), make_signal(test, Slabs::kThreads),
                SENNIT_PEER_BLOCK_NULL};
    sennit_block mine_block;
    test.ok(sennit_block_init({sennit_gptr_at(slabs.memory, test.rank), bytes}, 0, bytes,
                              SENNIT_SIGNAL_NULL, slabs.arrived, &mine_block));
    const auto blocks = test.tell_all(mine_block);
    test.ok(sennit_block_attach(&blocks[static_cast<std::size_t>(test.next())], &slabs.next));
    in_threads(test, Slabs::kThreads + 1, [&](Ranks &mine, int number) {
        if (number == Slabs::kThreads)
            slabs.receive(mine);
        else
            slabs.send(mine, number);
    });
    test.ok(sennit_flush_all(SENNIT_FOREVER));
    test.barrier();
    test.ok(sennit_block_detach(slabs.next));
    test.ok(sennit_signal_destroy(slabs.arrived));
    test.barrier();
    test.free(slabs.memory);
}
