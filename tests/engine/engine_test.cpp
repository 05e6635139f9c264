// The op engine over a transport that the test controls: starting, cutting, "again", rails,
// completions, requests. Broken by an order that "again" reverses, a retry that never ends or
// repeats on the failed rail, or a handle that outlives its request.
#include <numeric>
#include <random>

#include "engine_fixture.hpp"

namespace sennit::test {
namespace {

TEST_F(EngineTest, a_long_operation_is_cut_into_pieces_that_cover_every_byte_once) {
    start();
    fake.complete_in_progress = true;
    const std::size_t bytes = 10 * 1024 + 7;
    EXPECT_EQ(op::engine_start(rank(), Direction::put, to(1, 100), source(100), bytes, {}),
              SENNIT_OK);
    EXPECT_EQ(fake.seen.size(), 11u);
    EXPECT_EQ(std::memcmp(fake.memory.data() + 100, source(100), bytes), 0);
    std::vector<std::byte> back(bytes);
    EXPECT_EQ(op::engine_start(rank(), Direction::get, to(1, 100), back.data(), bytes, {}),
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
    EXPECT_EQ(op::engine_start(rank(), Direction::put, to(1), source(), 0, {}), SENNIT_OK);
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

TEST_F(EngineTest, a_full_transport_keeps_operations_to_a_peer_in_order) {
    start();
    fake.room = 2;
    std::vector<sennit_request> requests;
    for (std::uint64_t i = 0; i < 20; ++i)
        requests.push_back(put_nb(1, i * 2000, 1500));
    EXPECT_EQ(fake.held.size(), 2u);
    fake.in_progress = [&] {
        // Completes the first held operation: the next pump has room for one more.
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
    EXPECT_EQ(op::engine_start(rank(), Direction::put, to(1), source(), 4096,
                               {op::Completion::Mode::request, &request}),
              SENNIT_ERR_NOT_REGISTERED);
    EXPECT_EQ(request.handle, 77u);
    EXPECT_STREQ(sennit_last_error()->text, "refused by the test");
    EXPECT_EQ(put_nbi(1, 0, 8), SENNIT_ERR_NOT_REGISTERED);
    EXPECT_EQ(op::engine_start(rank(), Direction::get, to(1), source(), 8, {}),
              SENNIT_ERR_NOT_REGISTERED);
    EXPECT_EQ(rank().engine->records.in_use(), 0u);
    // The call has returned the error; flush has nothing to report.
    EXPECT_EQ(op::engine_flush(rank(), kAnyPeer, Deadline::after(kShort)), SENNIT_OK);
    expect_sound();
}

TEST_F(EngineTest, an_error_of_a_later_piece_fails_the_request_and_drops_the_rest) {
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

// home_rail() gives these rails for rank 0.
TEST_F(EngineTest, small_operations_take_the_home_rail_of_their_peer_while_it_is_usable) {
    fake.fake.rails = 2;
    start();
    const auto rail_of = [this](int peer) {
        EXPECT_EQ(put_nbi(peer, 0, 8), SENNIT_OK);
        return fake.held.back()->rail;
    };
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(rail_of(1), 0u);
        EXPECT_EQ(rail_of(2), 1u);
    }
    fake.broken_rails = {0};
    EXPECT_EQ(rail_of(1), 1u);
    EXPECT_EQ(rail_of(2), 1u);
    fake.complete_in_progress = true;
    make_progress(rank());
}

TEST_F(EngineTest, operations_of_a_peer_between_small_and_large_use_all_rails_in_turn) {
    fake.fake.rails = 2;
    fake.fake.max_piece_bytes = 1 << 20;
    start();
    fake.complete_at_once = false;
    std::vector<std::uint8_t> rails;
    const auto put_one = [&] {
        EXPECT_NE(put_nb(1, 0, op::kSpreadFromBytes).handle, 0u);
        rails.push_back(fake.held.back()->rail);
    };
    for (int put = 0; put < 4; ++put)
        put_one();
    EXPECT_EQ(rails, (std::vector<std::uint8_t>{rails[0], rails[1], rails[0], rails[1]}));
    EXPECT_NE(rails[0], rails[1]);
    // After all of them are complete, the rails still take turns.
    fake.complete_in_progress = true;
    make_progress(rank());
    rails.clear();
    put_one();
    put_one();
    EXPECT_NE(rails[0], rails[1]);
}

TEST_F(EngineTest, large_operations_use_all_rails) {
    fake.fake.rails = 2;
    fake.fake.max_piece_bytes = 1 << 20;
    start();
    fake.complete_at_once = false;
    const sennit_request request = put_nb(1, 0, op::kSharedFromBytes);
    ASSERT_EQ(fake.held.size(), 2u);
    EXPECT_NE(fake.held[0]->rail, fake.held[1]->rail);
    EXPECT_EQ(fake.held[0]->bytes, fake.held[1]->bytes);
    fake.complete_in_progress = true;
    make_progress(rank());
    EXPECT_TRUE(is_done(request));
}

TEST_F(EngineTest, a_handle_is_valid_once_and_an_invented_one_never) {
    start();
    const sennit_request first = put_nb(1, 0, 8);
    fake.complete_in_progress = true;
    make_progress(rank());
    EXPECT_TRUE(is_done(first));
    int done = 5;
    EXPECT_EQ(op::engine_test(rank(), first, true, &done), SENNIT_ERR_ARG);
    EXPECT_EQ(done, 5);
    fake.complete_in_progress = false;
    const sennit_request second = put_nb(1, 0, 8);
    EXPECT_NE(second.handle, first.handle);  // the same slot, another generation
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
    EXPECT_EQ(op::engine_fence(rank(), kAnyPeer), SENNIT_OK);
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

}  // namespace
}  // namespace sennit::test
