// The op engine over a transport that the test controls: flush, fence, blocking calls, lost peers,
// the end, events, threads. Broken by an error reported twice or never, a flush that misses an
// operation or waits for later ones, a fence that lets a put pass, or a wait that does not end.
#include <algorithm>
#include <atomic>
#include <thread>

#include "blocking_bound.hpp"
#include "engine_fixture.hpp"
#include "op/packed.hpp"
#include "runtime/detector.hpp"

namespace sennit::test {
namespace {

TEST_F(EngineTest, flush_reports_the_first_error_of_implicit_operations_once) {
    start();
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    fake.complete_later(fake.held[1], SENNIT_ERR_OS);
    fake.complete_later(fake.held[2], SENNIT_ERR_NOMEM);
    fake.complete_later(fake.held[0], SENNIT_OK);
    EXPECT_EQ(op::engine_flush(rank(), 2, Deadline::after(kShort)), SENNIT_OK);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_ERR_OS);
    EXPECT_EQ(sennit_last_error()->peer, 1);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
}

TEST_F(EngineTest, flush_of_all_reports_one_error_and_a_timeout_keeps_it) {
    start();
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    EXPECT_EQ(put_nbi(2, 0, 8), SENNIT_OK);
    fake.complete_later(fake.held[1], SENNIT_ERR_OS);
    EXPECT_EQ(op::engine_flush(rank(), kAnyPeer, Deadline::after(kShort)), SENNIT_ERR_TIMEOUT);
    fake.complete_later(fake.held[0], SENNIT_ERR_FABRIC);
    EXPECT_EQ(op::engine_flush(rank(), kAnyPeer, Deadline::after(kShort)), SENNIT_ERR_FABRIC);
    EXPECT_EQ(op::engine_flush(rank(), kAnyPeer, Deadline::after(kShort)), SENNIT_OK);
}

TEST_F(EngineTest, flush_does_not_report_the_error_of_a_request) {
    start();
    const sennit_request request = put_nb(1, 0, 8);
    fake.complete_later(fake.held[0], SENNIT_ERR_OS);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    EXPECT_TRUE(is_done(request, SENNIT_ERR_OS));
}

TEST_F(EngineTest, flush_waits_for_puts_with_a_request_but_not_for_gets_with_one) {
    start();
    std::byte there[8];
    sennit_request get{};
    EXPECT_EQ(op::engine_start(rank(), Direction::get, to(1), there, 8,
                               {op::Completion::Mode::request, &get}),
              SENNIT_OK);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    const sennit_request put = put_nb(1, 0, 8);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_ERR_TIMEOUT);
    fake.complete_in_progress = true;
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    EXPECT_TRUE(is_done(put));
    EXPECT_TRUE(is_done(get));
}

TEST_F(EngineTest, flush_ends_although_another_thread_keeps_starting_operations) {
    start();
    // One completion per progress call, and at least as many new operations: the list is never
    // empty during the flush.
    std::atomic<bool> stop{false};
    std::atomic<int> started{0};
    fake.in_progress = [&] {
        if (fake.held.size() > 4) fake.complete_later(fake.held.front(), SENNIT_OK);
    };
    std::thread other([&] {
        while (!stop.load()) {
            ASSERT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
            ++started;
            std::this_thread::yield();
        }
    });
    while (started.load() < 10)
        std::this_thread::yield();
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(20'000'000'000)), SENNIT_OK);
    stop.store(true);
    other.join();
    fake.in_progress = nullptr;
    fake.complete_in_progress = true;
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(20'000'000'000)), SENNIT_OK);
}

TEST_F(EngineTest, a_fence_holds_the_next_put_back_until_earlier_ones_have_arrived) {
    start();
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 8, 8), SENNIT_OK);
    EXPECT_EQ(op::engine_fence(rank(), kAnyPeer), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 16, 8), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 24, 8), SENNIT_OK);
    EXPECT_EQ(put_nbi(2, 32, 8), SENNIT_OK);  // another peer is not held back
    EXPECT_THAT(seen_offsets(), testing::ElementsAre(0, 8, 32));
    fake.complete_later(fake.held[1], SENNIT_OK);
    make_progress(rank());
    make_progress(rank());
    EXPECT_THAT(seen_offsets(), testing::ElementsAre(0, 8, 32));
    fake.complete_later(fake.held[0], SENNIT_OK);
    make_progress(rank());
    EXPECT_THAT(seen_offsets(), testing::ElementsAre(0, 8, 32, 16, 24));
    expect_sound();
}

// A put with so many pieces does not hold up operations started after it.
constexpr std::size_t kBulkBytes = 20 * 64;

TEST_F(EngineTest, a_long_put_has_few_pieces_under_way_and_lets_others_pass) {
    fake.fake.max_piece_bytes = 64;
    start();
    EXPECT_EQ(put_nbi(1, 1024, kBulkBytes), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 4096, kBulkBytes), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 512, 8 * 64), SENNIT_OK);
    std::vector<std::uint64_t> expected;
    for (std::uint64_t piece = 0; piece < 8; ++piece)
        expected.push_back(1024 + 64 * piece);
    expected.push_back(0);
    for (std::uint64_t piece = 0; piece < 8; ++piece)
        expected.push_back(512 + 64 * piece);
    EXPECT_EQ(seen_offsets(), expected);
    fake.complete_in_progress = true;
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    std::vector<std::uint64_t> offsets = seen_offsets();
    EXPECT_EQ(offsets.size(), 2 * 20 + 9u);
    std::sort(offsets.begin(), offsets.end());
    EXPECT_EQ(std::unique(offsets.begin(), offsets.end()), offsets.end());
    expect_sound();
}

TEST_F(EngineTest, a_transport_limits_the_bytes_of_a_long_put_under_way) {
    fake.fake.max_piece_bytes = 64;
    fake.fake.bulk_bytes = 128;
    start();
    EXPECT_EQ(put_nbi(1, 1024, 3 * 64), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 0, 2 * 64), SENNIT_OK);
    EXPECT_THAT(seen_offsets(), testing::ElementsAre(1024, 1088, 0, 64));
    fake.complete_in_progress = true;
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    EXPECT_THAT(seen_offsets(), testing::ElementsAre(1024, 1088, 0, 64, 1152));
    expect_sound();
}

TEST_F(EngineTest, a_fence_waits_for_earlier_long_puts_and_delays_later_ones) {
    fake.fake.max_piece_bytes = 64;
    start();
    EXPECT_EQ(put_nbi(1, 1024, kBulkBytes), SENNIT_OK);
    EXPECT_EQ(op::engine_fence(rank(), kAnyPeer), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 4096, kBulkBytes), SENNIT_OK);
    while (fake.seen.size() < 20) {
        ASSERT_FALSE(fake.held.empty());
        fake.complete_later(fake.held.front(), SENNIT_OK);
        make_progress(rank());
        make_progress(rank());
        EXPECT_THAT(seen_offsets(), testing::Each(testing::Ge(1024u)));
    }
    EXPECT_THAT(seen_offsets(), testing::Each(testing::Lt(1024 + kBulkBytes)));
    fake.complete_in_progress = true;
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    EXPECT_EQ(seen_offsets()[20], 0u);
    EXPECT_EQ(fake.seen.size(), 2 * 20 + 1u);
    expect_sound();
}

TEST_F(EngineTest, a_fence_does_not_wait_for_long_gets) {
    fake.fake.max_piece_bytes = 64;
    start();
    std::vector<std::byte> there(kBulkBytes);
    sennit_request get{};
    EXPECT_EQ(op::engine_start(rank(), Direction::get, to(1, 1024), there.data(), kBulkBytes,
                               {op::Completion::Mode::request, &get}),
              SENNIT_OK);
    EXPECT_EQ(op::engine_fence(rank(), kAnyPeer), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    EXPECT_EQ(seen_offsets().back(), 0u);
    fake.complete_in_progress = true;
    make_progress(rank());
    EXPECT_TRUE(is_done(get));
}

TEST_F(EngineTest, a_long_put_that_fails_is_over_and_others_go_on) {
    fake.fake.max_piece_bytes = 64;
    start();
    const sennit_request request = put_nb(1, 1024, kBulkBytes);
    const sennit_request behind = put_nb(1, 4096, kBulkBytes);
    fake.complete_later(fake.held.front(), SENNIT_ERR_OS);
    fake.complete_in_progress = true;
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    EXPECT_TRUE(is_done(request, SENNIT_ERR_OS));
    EXPECT_TRUE(is_done(behind));
    EXPECT_LT(fake.seen.size(), 2 * 20u);
    expect_sound();
}

TEST_F(EngineTest, long_puts_go_in_order_where_one_rail_keeps_it) {
    fake.fake.ordered = true;
    fake.fake.max_piece_bytes = 64;
    start();
    EXPECT_EQ(put_nbi(1, 1024, kBulkBytes), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    EXPECT_EQ(seen_offsets().back(), 0u);
    EXPECT_EQ(fake.seen.size(), 21u);
}

TEST_F(EngineTest, a_fence_also_waits_for_a_repeated_put) {
    fake.fake.rails = 2;
    start();
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    EXPECT_EQ(op::engine_fence(rank(), kAnyPeer), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 16, 8), SENNIT_OK);
    fake.complete_later(fake.held[0], SENNIT_ERR_FABRIC);
    make_progress(rank());
    EXPECT_THAT(seen_offsets(), testing::ElementsAre(0, 0));
    fake.complete_later(fake.held[0], SENNIT_OK);
    make_progress(rank());
    EXPECT_THAT(seen_offsets(), testing::ElementsAre(0, 0, 16));
}

TEST_F(EngineTest, a_fence_costs_nothing_where_one_rail_keeps_the_order) {
    fake.fake.ordered = true;
    start();
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    EXPECT_EQ(op::engine_fence(rank(), kAnyPeer), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 16, 8), SENNIT_OK);
    EXPECT_EQ(fake.seen.size(), 2u);
}

TEST_F(EngineTest, a_fence_is_needed_over_several_rails_even_if_each_keeps_the_order) {
    fake.fake.ordered = true;
    fake.fake.rails = 2;
    start();
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    EXPECT_EQ(op::engine_fence(rank(), kAnyPeer), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 16, 8), SENNIT_OK);
    EXPECT_EQ(fake.seen.size(), 1u);
}

TEST_F(EngineTest, events_ride_only_where_tasks_can_end_their_messages) {
    fake.fake.event_bits = 64;
    fake.fake.task_bytes = 16;  // an event task has 24 bytes
    start();
    EXPECT_EQ(op::engine_event_bits(rank(), 1), 0u);
}

TEST_F(EngineTest, a_blocking_operation_that_times_out_goes_on_and_flush_waits_for_it) {
    start();
    const BlockingBound bound("0.02");
    std::byte into[8] = {};
    std::memcpy(fake.memory.data() + 64, source(), 8);
    EXPECT_EQ(op::engine_start(rank(), Direction::get, to(1, 64), into, 8, {}), SENNIT_ERR_TIMEOUT);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_ERR_TIMEOUT);
    fake.complete_in_progress = true;
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    EXPECT_EQ(std::memcmp(into, source(), 8), 0);
    EXPECT_EQ(rank().engine->records.in_use(), 0u);
    expect_sound();
}

TEST_F(EngineTest, new_and_queued_operations_to_a_lost_rank_fail) {
    start();
    fake.room = 1;
    const sennit_request held = put_nb(1, 0, 4096);
    const sennit_request queued = put_nb(1, 0, 8);
    const sennit_request elsewhere = put_nb(2, 0, 8);
    note_gone(rank(), 1, Gone::died);
    make_progress(rank());
    EXPECT_TRUE(is_done(queued, SENNIT_ERR_PEER_LOST));
    EXPECT_FALSE(is_done(held));  // the transport has a piece of it
    EXPECT_FALSE(is_done(elsewhere));
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_ERR_PEER_LOST);
    fake.complete_later(fake.held[0], SENNIT_OK);
    make_progress(rank());
    EXPECT_TRUE(is_done(held, SENNIT_ERR_PEER_LOST));
    fake.complete_in_progress = true;
    make_progress(rank());
    EXPECT_TRUE(is_done(elsewhere));
    expect_sound();
}

// After the peer is known to be lost, the transport keeps the caller's buffer for a while.
TEST_F(EngineTest, no_call_ends_with_peer_lost_before_the_transport_has_given_back_the_buffer) {
    start();
    std::uint64_t into = 0;
    std::int64_t ends = 0;
    bool has_gone = false;
    fake.in_progress = [&] {
        if (!has_gone || fake.held.empty()) return;
        note_gone(rank(), 1, Gone::left);
        if (ends == 0) ends = now_ns() + 2 * kShort;
        if (now_ns() > ends) fake.complete(fake.held.front(), SENNIT_ERR_PEER_LOST);
    };
    has_gone = true;
    EXPECT_EQ(op::engine_start(rank(), Direction::get, to(1), &into, 8, {}), SENNIT_ERR_PEER_LOST);
    EXPECT_EQ(fake.held.size(), 0u);
    EXPECT_EQ(rank().engine->records.in_use(), 0u);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);

    has_gone = false;
    ends = 0;
    rank().peers.end(1) = Gone::no;
    EXPECT_EQ(
        op::engine_start(rank(), Direction::get, to(1), &into, 8, {op::Completion::Mode::implicit}),
        SENNIT_OK);
    std::uint64_t numbers[3];
    op::engine_note_open(rank(), numbers);
    note_gone(rank(), 1, Gone::left);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_ERR_TIMEOUT);
    sennit_status status = SENNIT_OK;
    EXPECT_FALSE(op::engine_try_flush(rank(), numbers, &status));
    has_gone = true;
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::never()), SENNIT_ERR_PEER_LOST);
    EXPECT_EQ(fake.held.size(), 0u);
    EXPECT_TRUE(op::engine_try_flush(rank(), numbers, &status));
    EXPECT_EQ(status, SENNIT_OK);
    EXPECT_EQ(op::engine_flush(rank(), 2, Deadline::after(kShort)), SENNIT_OK);
    expect_sound();
    fake.in_progress = nullptr;  // its captured variables end here
}

TEST_F(EngineTest, the_end_of_the_engine_completes_open_operations) {
    start();
    fake.room = 3;
    EXPECT_EQ(put_nbi(1, 0, 20 * 1024), SENNIT_OK);
    fake.complete_in_progress = true;
    op::engine_destroy(rank(), Deadline::after(2'000'000'000));
    EXPECT_EQ(rank().engine, nullptr);
    EXPECT_EQ(rank().hook_count.load(), 0u);
    EXPECT_EQ(std::memcmp(fake.memory.data(), source(), 20 * 1024), 0);
}

TEST_F(EngineTest, the_end_of_the_engine_is_bounded_with_a_silent_transport) {
    start();
    fake.room = 3;
    EXPECT_EQ(put_nbi(1, 0, 20 * 1024), SENNIT_OK);
    const sennit_request untaken = put_nb(2, 0, 8);
    EXPECT_NE(untaken.handle, 0u);
    op::engine_destroy(rank(), Deadline::after(kShort));
    EXPECT_EQ(rank().engine, nullptr);
    EXPECT_EQ(fake.held.size(), 3u);
    fake.close(Deadline::never());  // asan: the pieces still exist; lsan: they are freed
    EXPECT_TRUE(fake.held.empty());
}

TEST_F(EngineTest, many_threads_of_a_rank_start_and_wait_at_once) {
    start();
    fake.complete_in_progress = true;
    fake.room = 5;
    (void)source();
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 300; ++i) {
                const auto offset = static_cast<std::uint64_t>(t * 8192);
                std::byte back[3000];
                sennit_request request{};
                bool good = op::engine_start(rank(), Direction::put, to(1, offset), source(offset),
                                             3000, {}) == SENNIT_OK;
                good = good &&
                       op::engine_start(rank(), Direction::get, to(1, offset), back, 3000,
                                        {op::Completion::Mode::request, &request}) == SENNIT_OK;
                int done = 0;
                while (good && done == 0)
                    good = op::engine_test(rank(), request, true, &done) == SENNIT_OK;
                good = good && std::memcmp(back, source(offset), 3000) == 0;
                good = good && put_nbi(2, offset, 8) == SENNIT_OK;
                if (i % 10 == 0)
                    good =
                        good && op::engine_flush(rank(), kAnyPeer, Deadline::never()) == SENNIT_OK;
                if (!good) ++wrong;
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(wrong.load(), 0);
    EXPECT_EQ(op::engine_flush(rank(), kAnyPeer, Deadline::never()), SENNIT_OK);
    EXPECT_EQ(rank().engine->records.in_use(), 0u);
    expect_sound();
}

// One of many ranks, each on another node.
class ManyPeers : public EngineTest {
  protected:
    static constexpr int kMany = 5000;

    void SetUp() override {
        rank().peers.close();
        EXPECT_TRUE(rank().peers.open(kMany));
        for (int peer = 1; peer < kMany; ++peer) {
            rank().peers.make(peer).transport = &fake;
        }
        rank().bootstrap.size = kMany;
        rank().size = kMany;
        fake.fake.event_bits = 64;
        fake.fake.task_bytes = transport::kMostTaskBytes;
        start();
    }
    std::vector<int> used() {
        const auto &queues = rank().engine->queues;
        return {queues.used().begin(), queues.used().end()};
    }
};

// Broken by a query of a peer that creates its queue.
TEST_F(ManyPeers, a_peer_gets_its_queue_at_its_first_use) {
    std::vector<std::uint64_t> numbers(kMany, 1);
    sennit_status status = SENNIT_ERR_OS;
    EXPECT_EQ(op::engine_event_bits(rank(), 4321), 64u);

    EXPECT_EQ(op::engine_fence(rank(), kAnyPeer), SENNIT_OK);
    for (const int peer : {4321, kAnyPeer}) {
        EXPECT_EQ(op::engine_flush(rank(), peer, Deadline::after(0)), SENNIT_OK);
        EXPECT_EQ(op::engine_flush_local(rank(), peer, Deadline::after(0)), SENNIT_OK);
    }
    op::engine_note_open(rank(), numbers.data());
    EXPECT_EQ(numbers, std::vector<std::uint64_t>(kMany, 0));
    EXPECT_TRUE(op::engine_try_flush(rank(), numbers.data(), &status));
    EXPECT_EQ(status, SENNIT_OK);
    expect_sound();
    EXPECT_EQ(used(), std::vector<int>{});

    EXPECT_EQ(put_nbi(4999, 0, 8), SENNIT_OK);
    EXPECT_EQ(put_nbi(3, 0, 8), SENNIT_OK);
    // An arrival from a peer uses its queue too.
    std::uint64_t words[2] = {};
    auto *const bytes = reinterpret_cast<std::byte *>(words);
    const transport::Task load{1, 1, 0, 8, SENNIT_NO_OP, SENNIT_UINT64, 0, {}};
    EXPECT_EQ(op::engine_execute(&rank(), {77, &load, nullptr, bytes, 8, bytes, bytes + 8}),
              SENNIT_OK);
    op::engine_event_arrived(&rank(), {});
    EXPECT_EQ(used(), (std::vector<int>{4999, 3, 77}));
    EXPECT_EQ(rank().engine->queues[77].peer, 77);
    expect_sound();
}

std::uint64_t count_calls(Rank &, const op::ArrivedEvent &arrived) {
    arrived.memory[0] = static_cast<std::byte>(static_cast<int>(arrived.memory[0]) + 1);
    return 7000 + arrived.task.epoch;
}

// Broken by a check of the region before the history: the owner may end the region after the event
// while its answer is lost.
TEST_F(ManyPeers, a_repeated_event_gets_its_answer_after_its_region_has_ended) {
    static constexpr op::EventHandlers kHandlers{nullptr, count_calls};
    op::engine_take_events(rank(), &kHandlers);
    struct {
        op::EventTask event;
        std::byte data[8];
    } payload{{5, 1, 30, 0, 0}, {}};
    std::byte memory[8] = {};
    std::uint64_t answer = 0;
    const auto execute = [&](std::uint64_t sequence, std::byte *where, std::uint16_t bytes = 32) {
        const transport::Task task{sequence, 1, bytes, 8, op::kEventTask, SENNIT_UINT64, 0, {}};
        return op::engine_execute(
            &rank(), {77, &task, nullptr, where, 8, reinterpret_cast<std::byte *>(&payload),
                      reinterpret_cast<std::byte *>(&answer)});
    };
    EXPECT_EQ(execute(1, memory), SENNIT_OK);
    EXPECT_EQ(answer, 7030u);
    answer = 0;
    EXPECT_EQ(execute(1, nullptr), SENNIT_OK);
    EXPECT_EQ(answer, 7030u);
    EXPECT_EQ(execute(2, nullptr), SENNIT_ERR_NOT_REGISTERED);
    EXPECT_EQ(execute(2, memory), SENNIT_ERR_NOT_REGISTERED)
        << "its sender has reported the failure";
    EXPECT_EQ(execute(3, memory), SENNIT_OK);
    for (const std::uint16_t bytes : {23, 25, 31})  // the last two are not data of 8 bytes
        EXPECT_EQ(execute(100 + std::uint64_t{bytes}, memory, bytes), SENNIT_ERR_ARG);
    EXPECT_EQ(memory[0], std::byte{2});
    expect_sound();
}

std::uint64_t store_runs(Rank &, const op::ArrivedEvent &arrived) {
    op::store_arrived(arrived);
    return 1;
}

// Broken by runs that are used before they are checked: one of them leaves the memory, or their
// lengths do not add up to the data.
TEST_F(ManyPeers, runs_that_leave_the_memory_or_do_not_add_up_are_refused) {
    static constexpr op::EventHandlers kHandlers{nullptr, store_runs};
    op::engine_take_events(rank(), &kHandlers);
    std::byte memory[24] = {};
    struct {
        op::EventTask event;
        op::RunWord words[2];
        std::byte data[8];
    } payload{};
    std::fill_n(payload.data, 8, std::byte{9});
    std::uint64_t sequence = 0;
    const auto execute = [&](std::uint32_t runs, op::RunWord first, op::RunWord second,
                             std::uint16_t bytes = sizeof payload) {
        payload.event = {5, 1, 30, 0, 0};
        payload.event.set(op::EventAction::scatter, runs);
        payload.words[0] = first;
        payload.words[1] = second;
        std::uint64_t answer = 0;
        const transport::Task task{++sequence, 1, bytes, 8, op::kEventTask, SENNIT_UINT64, 0, {}};
        return op::engine_execute(
            &rank(), {77, &task, nullptr, memory, 16, reinterpret_cast<std::byte *>(&payload),
                      reinterpret_cast<std::byte *>(&answer)});
    };
    const auto run = op::run_word;
    EXPECT_EQ(execute(2, run(0, 4), run(13, 4)), SENNIT_ERR_ARG) << "behind the memory";
    EXPECT_EQ(execute(2, run(0, 4), run(17, 4)), SENNIT_ERR_ARG) << "far behind it";
    EXPECT_EQ(execute(2, run(0, 4), run((1ull << 48) - 1, 4)), SENNIT_ERR_ARG);
    EXPECT_EQ(execute(2, run(0, 4), run(8, 5)), SENNIT_ERR_ARG) << "more than came";
    EXPECT_EQ(execute(2, run(0, 4), run(8, 3)), SENNIT_ERR_ARG) << "less than came";
    EXPECT_EQ(execute(2, run(0, 8), run(8, 0)), SENNIT_ERR_ARG) << "an empty run";
    EXPECT_EQ(execute(2, run(0, 65535), run(8, 4)), SENNIT_ERR_ARG);
    EXPECT_EQ(execute(0, run(0, 4), run(8, 4)), SENNIT_ERR_ARG) << "no runs";
    EXPECT_EQ(execute(3, run(0, 4), run(8, 4)), SENNIT_ERR_ARG) << "more words than lengths";
    EXPECT_EQ(execute(0xFFFFFF, run(0, 4), run(8, 4)), SENNIT_ERR_ARG);
    EXPECT_EQ(execute(2, run(0, 4), run(8, 4), 24), SENNIT_ERR_ARG) << "no words at all";
    EXPECT_EQ(execute(2, run(0, 4), run(8, 4), 36), SENNIT_ERR_ARG) << "a half of them";
    EXPECT_TRUE(
        std::all_of(memory, memory + 24, [](std::byte one) { return one == std::byte{0}; }));
    EXPECT_EQ(execute(2, run(0, 4), run(12, 4)), SENNIT_OK);
    for (std::size_t i = 0; i < 24; ++i)
        EXPECT_EQ(memory[i], i < 4 || (i >= 12 && i < 16) ? std::byte{9} : std::byte{0}) << i;
    expect_sound();
}

// Broken by a flush or a fence that misses a peer, or asks about an unused one.
TEST_F(ManyPeers, a_flush_of_all_peers_covers_the_used_ones) {
    std::vector<std::uint64_t> numbers(kMany);
    sennit_status status = SENNIT_OK;
    EXPECT_EQ(put_nbi(4999, 0, 8), SENNIT_OK);
    EXPECT_EQ(put_nbi(3, 0, 8), SENNIT_OK);
    EXPECT_EQ(op::engine_flush(rank(), kAnyPeer, Deadline::after(kShort)), SENNIT_ERR_TIMEOUT);
    op::engine_note_open(rank(), numbers.data());
    EXPECT_EQ(numbers[4999], 1u);
    EXPECT_EQ(numbers[3], 1u);
    EXPECT_EQ(put_nbi(5, 0, 8), SENNIT_OK);  // after the note
    EXPECT_FALSE(op::engine_try_flush(rank(), numbers.data(), &status));
    EXPECT_EQ(op::engine_fence(rank(), kAnyPeer), SENNIT_OK);
    EXPECT_EQ(put_nbi(3, 8, 8), SENNIT_OK);
    EXPECT_EQ(fake.held.size(), 3u) << "it waits for the first one to the same peer";
    fake.complete(fake.held[0], SENNIT_ERR_OS);
    EXPECT_FALSE(op::engine_try_flush(rank(), numbers.data(), &status));
    fake.complete(fake.held[0], SENNIT_ERR_NOMEM);
    EXPECT_TRUE(op::engine_try_flush(rank(), numbers.data(), &status));
    EXPECT_EQ(status, SENNIT_ERR_NOMEM);
    EXPECT_EQ(sennit_last_error()->peer, 3) << "the lowest of several peers";
    fake.complete_in_progress = true;
    EXPECT_EQ(op::engine_flush(rank(), kAnyPeer, Deadline::after(kShort)), SENNIT_OK);
    EXPECT_EQ(rank().engine->records.in_use(), 0u);
    expect_sound();
}

}  // namespace
}  // namespace sennit::test
