// The op engine against a transport that does what the test says. Would break: an order that
// "again" turns round, a retry that never ends or repeats on the failed rail, a handle that
// outlives its request, an error said twice or never, a wait that misses its completion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "fake_transport.hpp"
#include "op/engine_state.hpp"
#include "ranks.hpp"
#include "runtime/detector.hpp"
#include "runtime/knobs.hpp"
#include "runtime/wait.hpp"

namespace sennit::test {
namespace {

using op::Direction;

constexpr std::int64_t kShort = 20'000'000;

class EngineTest : public testing::Test {
  protected:
    EngineTest() : ranks(3), fake(1 << 16) {
        for (int peer = 1; peer < 3; ++peer)
            rank().peers[peer].transport = &fake;
    }
    ~EngineTest() override {
        op::engine_destroy(rank(), Deadline::after(0));
        fake.close(Deadline::never());
    }

    Rank &rank() { return ranks[0]; }
    void start() { ASSERT_EQ(op::engine_create(rank()), SENNIT_OK); }

    op::Target to(int peer, std::uint64_t offset = 0) { return {peer, {nullptr, 1}, offset}; }

    sennit_request put_nb(int peer, std::uint64_t offset, std::size_t bytes) {
        sennit_request request{};
        EXPECT_EQ(op::engine_request(rank(), Direction::put, to(peer, offset), source(offset),
                                     bytes, &request),
                  SENNIT_OK);
        return request;
    }
    sennit_status put_nbi(int peer, std::uint64_t offset, std::size_t bytes) {
        return op::engine_implicit(rank(), Direction::put, to(peer, offset), source(offset), bytes);
    }
    std::byte *source(std::uint64_t offset = 0) {
        if (source_.empty()) {
            source_.resize(1 << 16);
            for (std::size_t i = 0; i < source_.size(); ++i)
                source_[i] = static_cast<std::byte>(i * 31 + i / 251);
        }
        return source_.data() + offset;
    }
    bool is_done(sennit_request request, sennit_status expected = SENNIT_OK) {
        int done = -1;
        const sennit_status status = op::engine_test(rank(), request, false, &done);
        EXPECT_EQ(status, done == 1 ? expected : SENNIT_OK);
        return done == 1;
    }
    void expect_sound() {
        const char *fault = op::engine_check(*rank().engine);
        EXPECT_EQ(fault, nullptr) << fault;
    }
    std::vector<std::uint64_t> seen_offsets() {
        std::vector<std::uint64_t> offsets;
        for (const auto &operation : fake.seen)
            offsets.push_back(operation.offset);
        return offsets;
    }

    Ranks ranks;
    FakeTransport fake;

  private:
    std::vector<std::byte> source_;
};

TEST_F(EngineTest, a_long_operation_is_cut_into_pieces_that_cover_every_byte_once) {
    start();
    fake.complete_in_progress = true;
    const std::size_t bytes = 10 * 1024 + 7;
    EXPECT_EQ(op::engine_blocking(rank(), Direction::put, to(1, 100), source(100), bytes),
              SENNIT_OK);
    EXPECT_EQ(fake.seen.size(), 11u);
    EXPECT_EQ(std::memcmp(fake.memory.data() + 100, source(100), bytes), 0);
    std::vector<std::byte> back(bytes);
    EXPECT_EQ(op::engine_blocking(rank(), Direction::get, to(1, 100), back.data(), bytes),
              SENNIT_OK);
    EXPECT_EQ(std::memcmp(back.data(), source(100), bytes), 0);
    std::size_t moved = 0;
    for (const auto &operation : fake.seen)
        moved += operation.bytes;
    EXPECT_EQ(moved, 2 * bytes);
    expect_sound();
}

TEST_F(EngineTest, an_empty_operation_is_complete_at_once_and_never_reaches_the_transport) {
    start();
    EXPECT_EQ(op::engine_blocking(rank(), Direction::put, to(1), source(), 0), SENNIT_OK);
    EXPECT_EQ(put_nb(1, 0, 0).handle, 0u);
    EXPECT_EQ(put_nbi(1, 0, 0), SENNIT_OK);
    EXPECT_TRUE(fake.seen.empty());
}

TEST_F(EngineTest, an_operation_that_completes_inside_submit_gives_the_null_request) {
    start();
    fake.complete_at_once = true;
    EXPECT_EQ(put_nb(1, 0, 5000).handle, 0u);
    EXPECT_EQ(fake.seen.size(), 5u);
    EXPECT_TRUE(is_done(sennit_request{0}));
    expect_sound();
}

TEST_F(EngineTest, again_keeps_operations_to_a_peer_in_the_order_of_starting) {
    start();
    fake.room = 2;
    std::vector<sennit_request> requests;
    for (std::uint64_t i = 0; i < 20; ++i)
        requests.push_back(put_nb(1, i * 2000, 1500));
    EXPECT_EQ(fake.held.size(), 2u);
    fake.in_progress = [&] {
        // The first of what is held is over: room for one more, in the next pump.
        if (!fake.held.empty()) fake.complete_later(fake.held.front(), SENNIT_OK);
    };
    for (int i = 0; i < 100; ++i) {
        make_progress(rank());
        expect_sound();
    }
    std::vector<std::uint64_t> expected;
    for (std::uint64_t i = 0; i < 20; ++i) {
        expected.push_back(i * 2000);
        expected.push_back(i * 2000 + 1024);
    }
    EXPECT_EQ(seen_offsets(), expected);
    for (const sennit_request request : requests)
        EXPECT_TRUE(is_done(request));
}

TEST_F(EngineTest, a_full_queue_to_one_peer_does_not_delay_another_peer_for_ever) {
    start();
    fake.room = 1;
    fake.complete_in_progress = true;
    const sennit_request long_one = put_nb(1, 0, 60 * 1024);
    const sennit_request short_one = put_nb(2, 0, 8);
    int rounds = 0;
    while (!is_done(short_one)) {
        make_progress(rank());
        ASSERT_LT(++rounds, 10);
    }
    EXPECT_FALSE(is_done(long_one));
    while (!is_done(long_one))
        make_progress(rank());
}

TEST_F(EngineTest, one_progress_call_submits_a_bounded_number_of_pieces) {
    start();
    fake.room = 0;
    const sennit_request request = put_nb(1, 0, 60 * 1024);
    std::vector<sennit_request> more;
    for (int i = 0; i < 100; ++i)
        more.push_back(put_nb(2, 0, 8));
    fake.room = SIZE_MAX;
    const std::size_t before = fake.seen.size();
    make_progress(rank());
    EXPECT_EQ(fake.seen.size() - before, static_cast<std::size_t>(op::kSubmitsPerProgress));
    fake.complete_in_progress = true;
    while (!is_done(request))
        make_progress(rank());
}

TEST_F(EngineTest, a_refused_first_piece_fails_the_call_and_leaves_nothing_behind) {
    start();
    fake.refuse_with = SENNIT_ERR_NOT_REGISTERED;
    sennit_request request{77};
    EXPECT_EQ(op::engine_request(rank(), Direction::put, to(1), source(), 4096, &request),
              SENNIT_ERR_NOT_REGISTERED);
    EXPECT_EQ(request.handle, 77u);
    EXPECT_STREQ(sennit_last_error()->text, "refused by the test");
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_ERR_NOT_REGISTERED);
    EXPECT_EQ(op::engine_blocking(rank(), Direction::get, to(1), source(), 8),
              SENNIT_ERR_NOT_REGISTERED);
    EXPECT_EQ(rank().engine->records.in_use(), 0u);
    // The caller has been told; flush has nothing to say.
    EXPECT_EQ(op::engine_flush(rank(), kAnyPeer, Deadline::after(kShort)), SENNIT_OK);
    expect_sound();
}

TEST_F(EngineTest, an_error_of_a_later_piece_is_the_requests_and_the_rest_is_dropped) {
    start();
    fake.room = 1;
    const sennit_request request = put_nb(1, 0, 10 * 1024);
    ASSERT_EQ(fake.held.size(), 1u);
    fake.complete_later(fake.held.front(), SENNIT_ERR_OS);
    make_progress(rank());
    EXPECT_TRUE(is_done(request, SENNIT_ERR_OS));
    EXPECT_EQ(fake.seen.size(), 1u);
    EXPECT_EQ(sennit_last_error()->peer, 1);
    EXPECT_STREQ(sennit_last_error()->path, "fake");
    expect_sound();
}

TEST_F(EngineTest, a_failed_request_is_not_over_before_all_its_pieces_are_back) {
    start();
    const sennit_request request = put_nb(1, 0, 3 * 1024);
    ASSERT_EQ(fake.held.size(), 3u);
    fake.complete_later(fake.held[1], SENNIT_ERR_OS);
    make_progress(rank());
    EXPECT_FALSE(is_done(request));
    fake.complete_later(fake.held[0], SENNIT_OK);
    fake.complete_later(fake.held[1], SENNIT_OK);
    make_progress(rank());
    EXPECT_TRUE(is_done(request, SENNIT_ERR_OS));
}

TEST_F(EngineTest, completions_in_any_order_complete_the_right_requests) {
    start();
    std::vector<sennit_request> requests;
    for (std::uint64_t i = 0; i < 50; ++i)
        requests.push_back(put_nb(1, i, 1));
    std::vector<std::size_t> order(50);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937(7));
    const std::deque<FakeTransport::Operation *> held = fake.held;
    for (const std::size_t i : order) {
        const sennit_status status = i % 3 == 0 ? SENNIT_ERR_OS : SENNIT_OK;
        fake.complete_later(held[i], status);
        make_progress(rank());
        for (std::size_t j = 0; j < requests.size(); ++j) {
            if (requests[j].handle == 0) continue;
            const bool done = is_done(requests[j], j % 3 == 0 ? SENNIT_ERR_OS : SENNIT_OK);
            EXPECT_EQ(done, j == i);
            if (done) requests[j].handle = 0;
        }
        expect_sound();
    }
}

TEST_F(EngineTest, a_piece_lost_with_its_rail_goes_over_another_rail) {
    fake.fake.rails = 3;
    start();
    const sennit_request request = put_nb(1, 0, 4 * 1024);
    ASSERT_EQ(fake.held.size(), 4u);
    fake.broken_rails = {0};
    const std::deque<FakeTransport::Operation *> held = fake.held;
    for (auto *operation : held)
        fake.complete_later(operation, operation->rail == 0 ? SENNIT_ERR_FABRIC : SENNIT_OK);
    make_progress(rank());
    expect_sound();
    ASSERT_FALSE(fake.held.empty());
    for (const auto *operation : fake.held)
        EXPECT_NE(operation->rail, 0u);
    fake.complete_in_progress = true;
    make_progress(rank());
    EXPECT_TRUE(is_done(request));
    EXPECT_EQ(std::memcmp(fake.memory.data(), source(), 4 * 1024), 0);
}

TEST_F(EngineTest, a_piece_is_tried_at_most_once_on_every_rail_and_then_fails) {
    fake.fake.rails = 3;
    start();
    const sennit_request request = put_nb(1, 0, 8);
    std::set<unsigned> rails;
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(fake.held.size(), 1u);
        rails.insert(fake.held.front()->rail);
        fake.complete_later(fake.held.front(), SENNIT_ERR_FABRIC);
        make_progress(rank());
        expect_sound();
    }
    EXPECT_EQ(rails, (std::set<unsigned>{0, 1, 2}));
    EXPECT_TRUE(fake.held.empty());
    EXPECT_TRUE(is_done(request, SENNIT_ERR_FABRIC));
}

TEST_F(EngineTest, a_rail_that_refuses_is_left_for_another_one_in_the_same_call) {
    fake.fake.rails = 2;
    start();
    fake.complete_at_once = true;
    fake.broken_rails = {0};
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    fake.broken_rails = {0, 1};
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_ERR_FABRIC);
    EXPECT_STREQ(sennit_last_error()->text, "no rail is left");
}

TEST_F(EngineTest, large_operations_use_all_rails) {
    fake.fake.rails = 2;
    fake.fake.max_piece_bytes = 1 << 20;
    start();
    fake.complete_at_once = false;
    const sennit_request request = put_nb(1, 0, 65536);
    ASSERT_EQ(fake.held.size(), 2u);
    EXPECT_NE(fake.held[0]->rail, fake.held[1]->rail);
    EXPECT_EQ(fake.held[0]->bytes, fake.held[1]->bytes);
    fake.complete_in_progress = true;
    make_progress(rank());
    EXPECT_TRUE(is_done(request));
}

TEST_F(EngineTest, a_handle_is_good_once_and_a_made_up_one_never) {
    start();
    const sennit_request first = put_nb(1, 0, 8);
    fake.complete_in_progress = true;
    make_progress(rank());
    EXPECT_TRUE(is_done(first));
    int done = 5;
    EXPECT_EQ(op::engine_test(rank(), first, true, &done), SENNIT_ERR_ARG);
    EXPECT_EQ(done, 5);
    EXPECT_EQ(op::engine_request_peer(rank(), first), -1);
    fake.complete_in_progress = false;
    const sennit_request second = put_nb(1, 0, 8);
    EXPECT_NE(second.handle, first.handle);  // the same slot, another generation
    EXPECT_EQ(op::engine_request_peer(rank(), second), 1);
    for (const std::uint64_t made_up :
         {std::uint64_t{1}, second.handle + 1, second.handle ^ (std::uint64_t{1} << 40),
          std::uint64_t{0xFFFFFFFF}, UINT64_MAX})
        EXPECT_EQ(op::engine_test(rank(), sennit_request{made_up}, true, &done), SENNIT_ERR_ARG);
}

TEST_F(EngineTest, the_record_of_an_implicit_operation_has_no_handle_that_works) {
    start();
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    int done = 0;
    EXPECT_EQ(op::engine_test(rank(), sennit_request{std::uint64_t{1} << 32 | 1}, true, &done),
              SENNIT_ERR_ARG);
}

TEST_F(EngineTest, a_rank_without_engine_has_no_requests) {
    int done = 0;
    EXPECT_EQ(op::engine_test(rank(), sennit_request{0}, true, &done), SENNIT_OK);
    EXPECT_EQ(done, 1);
    EXPECT_EQ(op::engine_test(rank(), sennit_request{1}, true, &done), SENNIT_ERR_ARG);
    EXPECT_EQ(op::engine_flush(rank(), kAnyPeer, Deadline::after(0)), SENNIT_OK);
    EXPECT_EQ(op::engine_fence(rank()), SENNIT_OK);
}

TEST_F(EngineTest, a_hundred_thousand_requests_may_be_open_at_once) {
    start();
    std::vector<sennit_request> requests;
    for (std::uint64_t i = 0; i < 100'000; ++i)
        requests.push_back(put_nb(1 + static_cast<int>(i % 2), i % 60'000, 1));
    std::set<std::uint64_t> different;
    for (const sennit_request request : requests)
        different.insert(request.handle);
    EXPECT_EQ(different.size(), requests.size());
    EXPECT_EQ(rank().engine->records.in_use(), 100'000u);
    std::deque<FakeTransport::Operation *> held;
    held.swap(fake.held);
    for (auto *operation : held)
        operation->completed(operation, SENNIT_OK);
    make_progress(rank());
    for (const sennit_request request : requests)
        ASSERT_TRUE(is_done(request));
    EXPECT_EQ(rank().engine->records.in_use(), 0u);
    expect_sound();
}

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

TEST_F(EngineTest, the_error_of_a_request_is_not_flushs_to_report) {
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
    EXPECT_EQ(op::engine_request(rank(), Direction::get, to(1), there, 8, &get), SENNIT_OK);
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
    // One completion per progress call and one new operation at least as often: the list is never
    // empty while flush waits.
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
    EXPECT_EQ(op::engine_fence(rank()), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 16, 8), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 24, 8), SENNIT_OK);
    EXPECT_EQ(put_nbi(2, 32, 8), SENNIT_OK);  // another peer, not held back
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

TEST_F(EngineTest, a_fence_also_waits_for_a_put_that_is_repeated) {
    fake.fake.rails = 2;
    start();
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    EXPECT_EQ(op::engine_fence(rank()), SENNIT_OK);
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
    EXPECT_EQ(op::engine_fence(rank()), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 16, 8), SENNIT_OK);
    EXPECT_EQ(fake.seen.size(), 2u);
}

TEST_F(EngineTest, a_fence_is_needed_over_several_rails_even_if_each_keeps_the_order) {
    fake.fake.ordered = true;
    fake.fake.rails = 2;
    start();
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_OK);
    EXPECT_EQ(op::engine_fence(rank()), SENNIT_OK);
    EXPECT_EQ(put_nbi(1, 16, 8), SENNIT_OK);
    EXPECT_EQ(fake.seen.size(), 1u);
}

// The bound of blocking calls is a knob of the process.
class BlockingBound {
  public:
    explicit BlockingBound(const char *seconds) {
        setenv("SENNIT_TIMEOUT", seconds, 1);
        EXPECT_EQ(runtime::knobs_read(), SENNIT_OK);
    }
    ~BlockingBound() {
        unsetenv("SENNIT_TIMEOUT");
        EXPECT_EQ(runtime::knobs_read(), SENNIT_OK);
    }
};

TEST_F(EngineTest, a_blocking_operation_that_times_out_goes_on_and_flush_waits_for_it) {
    start();
    const BlockingBound bound("0.02");
    std::byte into[8] = {};
    std::memcpy(fake.memory.data() + 64, source(), 8);
    EXPECT_EQ(op::engine_blocking(rank(), Direction::get, to(1, 64), into, 8), SENNIT_ERR_TIMEOUT);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_ERR_TIMEOUT);
    fake.complete_in_progress = true;
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    EXPECT_EQ(std::memcmp(into, source(), 8), 0);
    EXPECT_EQ(rank().engine->records.in_use(), 0u);
    expect_sound();
}

TEST_F(EngineTest, operations_to_a_rank_that_is_gone_fail_and_what_is_queued_for_it_too) {
    start();
    fake.room = 1;
    const sennit_request held = put_nb(1, 0, 4096);
    const sennit_request queued = put_nb(1, 0, 8);
    const sennit_request elsewhere = put_nb(2, 0, 8);
    note_gone(rank(), 1, Gone::died);
    make_progress(rank());
    EXPECT_TRUE(is_done(queued, SENNIT_ERR_PEER_LOST));
    EXPECT_FALSE(is_done(held));  // a transport has a piece of it
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

TEST_F(EngineTest, a_blocking_operation_ends_with_peer_lost_even_if_the_transport_is_silent) {
    start();
    fake.in_progress = [&] {
        if (fake.progress_calls > 3) note_gone(rank(), 1, Gone::died);
    };
    EXPECT_EQ(op::engine_blocking(rank(), Direction::put, to(1), source(), 8),
              SENNIT_ERR_PEER_LOST);
    fake.in_progress = nullptr;
    EXPECT_EQ(fake.held.size(), 1u);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_ERR_PEER_LOST);
    EXPECT_EQ(op::engine_flush(rank(), 2, Deadline::after(kShort)), SENNIT_OK);
    fake.complete_later(fake.held[0], SENNIT_ERR_PEER_LOST);
    make_progress(rank());
    EXPECT_EQ(rank().engine->records.in_use(), 0u);
}

TEST_F(EngineTest, the_end_completes_what_is_open) {
    start();
    fake.room = 3;
    EXPECT_EQ(put_nbi(1, 0, 20 * 1024), SENNIT_OK);
    fake.complete_in_progress = true;
    op::engine_destroy(rank(), Deadline::after(2'000'000'000));
    EXPECT_EQ(rank().engine, nullptr);
    EXPECT_EQ(rank().hook_count.load(), 0u);
    EXPECT_EQ(std::memcmp(fake.memory.data(), source(), 20 * 1024), 0);
}

TEST_F(EngineTest, the_end_with_a_silent_transport_is_bounded_and_close_may_complete_later) {
    start();
    fake.room = 3;
    EXPECT_EQ(put_nbi(1, 0, 20 * 1024), SENNIT_OK);
    const sennit_request untaken = put_nb(2, 0, 8);
    EXPECT_NE(untaken.handle, 0u);
    op::engine_destroy(rank(), Deadline::after(kShort));
    EXPECT_EQ(rank().engine, nullptr);
    EXPECT_EQ(fake.held.size(), 3u);
    fake.close(Deadline::never());  // address sanitizer: the pieces are still there; leak: freed
    EXPECT_TRUE(fake.held.empty());
}

TEST_F(EngineTest, events_are_taken_in_the_order_of_arrival_and_the_queue_grows) {
    start();
    op::ArrivedEvent event{};
    EXPECT_FALSE(op::engine_take_event(rank(), &event));
    for (int round = 0; round < 3; ++round) {
        for (std::uint64_t i = 0; i < 1000; ++i)
            op::engine_event_arrived(&rank(), static_cast<int>(i % 3), i);
        for (std::uint64_t i = 0; i < 1000; ++i) {
            ASSERT_TRUE(op::engine_take_event(rank(), &event));
            EXPECT_EQ(event.event, i);
            EXPECT_EQ(event.from, static_cast<int>(i % 3));
        }
        EXPECT_FALSE(op::engine_take_event(rank(), &event));
    }
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
                bool good = op::engine_blocking(rank(), Direction::put, to(1, offset),
                                                source(offset), 3000) == SENNIT_OK;
                good = good && op::engine_request(rank(), Direction::get, to(1, offset), back, 3000,
                                                  &request) == SENNIT_OK;
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

}  // namespace
}  // namespace sennit::test
