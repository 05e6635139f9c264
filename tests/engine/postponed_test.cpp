// Completions that a transport postpones (Transport::finish_postponed). Broken by a test or flush
// that needs another call to see an arrived completion, a window or fence that waits for one, or a
// peer that is asked for arrived answers.
#include "engine_fixture.hpp"

namespace sennit::test {
namespace {

class PostponedTest : public EngineTest {
  protected:
    PostponedTest() {
        fake.fake.task_bytes = transport::kMostTaskBytes;
        fake.postpones = true;
    }
    // An event whose answer may be delayed. No answer is checked.
    void post_event() {
        const op::EventTask event{7, 1, 0, 0, 0};
        op::Work work;
        work.event = &event;
        op::Target target = to(1);
        target.work = &work;
        ASSERT_EQ(op::engine_start(rank(), Direction::execute, target, source(), 8,
                                   {op::Completion::Mode::implicit}),
                  SENNIT_OK);
    }
    op::PeerQueue &queue() { return rank().engine->queues[1]; }
};

TEST_F(PostponedTest, postponed_completions_are_left_to_the_next_poll) {
    start();
    post_event();
    fake.complete_later(fake.held[0], SENNIT_OK);
    make_progress(rank());
    EXPECT_EQ(queue().answers_waited, 1u);
    make_progress(rank());
    EXPECT_EQ(queue().answers_waited, 0u);
    expect_sound();
}

TEST_F(PostponedTest, one_test_of_a_request_finds_its_completion) {
    start();
    for (const bool makes_progress : {true, false}) {
        const sennit_request request = put_nb(1, 0, 8);
        fake.complete_later(fake.held[0], SENNIT_OK);
        if (!makes_progress) make_progress(rank());
        int done = 0;
        EXPECT_EQ(op::engine_test(rank(), request, makes_progress, &done), SENNIT_OK);
        EXPECT_EQ(done, 1) << makes_progress;
    }
    expect_sound();
}

TEST_F(PostponedTest, one_test_of_a_flush_finds_the_last_completion) {
    start();
    // Also after the peer has been asked for its answers.
    for (int i = 0; i < 2; ++i) {
        post_event();
        std::uint64_t numbers[3] = {};
        sennit_status status = SENNIT_ERR_INTERNAL;
        op::engine_note_open(rank(), numbers);
        if (i == 1) {
            EXPECT_FALSE(op::engine_try_flush(rank(), numbers, &status));
        }
        EXPECT_EQ(fake.hurried, i);
        fake.complete_later(fake.held[0], SENNIT_OK);
        EXPECT_TRUE(op::engine_try_flush(rank(), numbers, &status));
        EXPECT_EQ(status, SENNIT_OK);
    }
    expect_sound();
}

TEST_F(PostponedTest, a_flush_takes_postponed_completions_without_asking_the_peer) {
    start();
    post_event();
    fake.complete_later(fake.held[0], SENNIT_OK);
    make_progress(rank());
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    EXPECT_EQ(fake.hurried, 0);
    expect_sound();
}

TEST_F(PostponedTest, a_put_behind_a_fence_starts_when_the_answer_has_arrived) {
    start();
    post_event();
    EXPECT_EQ(op::engine_fence(rank(), 1), SENNIT_OK);
    fake.complete_later(fake.held[0], SENNIT_OK);
    make_progress(rank());
    EXPECT_EQ(put_nbi(1, 8, 8), SENNIT_OK);
    EXPECT_EQ(fake.seen.size(), 2u);
    EXPECT_EQ(fake.hurried, 0);
    expect_sound();
}

TEST_F(PostponedTest, a_full_window_of_tasks_has_room_when_an_answer_has_arrived) {
    start();
    for (unsigned i = 0; i < op::kTaskWindow; ++i)
        post_event();
    fake.complete_later(fake.held[0], SENNIT_OK);
    make_progress(rank());
    post_event();
    EXPECT_EQ(fake.seen.size(), op::kTaskWindow + 1);
    expect_sound();
}

}  // namespace
}  // namespace sennit::test
