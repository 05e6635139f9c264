// Builds with invariant checks end at a broken invariant; other builds contain no check.
#include "base/invariant.hpp"
#include "engine_fixture.hpp"

namespace sennit::test {
namespace {

// Broken by a check that progress does not call, or that checks nothing.
TEST_F(EngineTest, a_broken_invariant_is_found_and_ends_a_build_that_checks) {
    start();
    (void)put_nb(1, 0, 64);
    expect_sound();
    ++rank().engine->queues[1].puts_open;
    EXPECT_STREQ(op::engine_check(*rank().engine),
                 "puts_open is not the number of open put pieces");
    if constexpr (kChecksInvariants) {
        EXPECT_DEATH(for (int round = 0; round < 100; ++round) make_progress(rank()),
                     "broken invariant: puts_open is not the number of open put pieces");
    }
    --rank().engine->queues[1].puts_open;
    expect_sound();
}

// Broken by a record whose rail, tickets or place in the table is not checked.
TEST_F(EngineTest, each_part_of_the_state_is_checked) {
    start();
    op::Engine &engine = *rank().engine;
    op::PeerQueue &queue = op::use_queue(engine, 1);
    const auto expect_fault = [&](auto &word, auto broken, const char *fault) {
        const auto whole = std::exchange(word, broken);
        const char *found = op::engine_check(engine);
        EXPECT_STREQ(found == nullptr ? "nothing" : found, fault);
        word = whole;
    };
    expect_fault(engine.paths[0].loads[0].out_bytes, 1u,
                 "a rail without open pieces has out_bytes");
    expect_fault(queue.next_task, 100u, "more tasks are open than a window");
    expect_fault(queue.tasks_done, 1u, "a task has ended that was never started");
    op::ClosingMessages closing;
    op::OperationPiece plain{};
    plain.engine = &engine;
    closing.waiting.push(&plain);
    expect_fault(queue.closing, &closing,
                 "a piece without an event waits for its message to be closed");
    expect_sound();
}

TEST(invariant, conditions_are_evaluated_only_in_builds_that_check) {
    int looks = 0;
    SENNIT_INVARIANT(++looks > 0);
    EXPECT_EQ(looks, kChecksInvariants ? 1 : 0);
    if constexpr (kChecksInvariants) {
        EXPECT_DEATH(SENNIT_INVARIANT(looks == 0), "broken invariant: looks == 0");
    }
}

}  // namespace
}  // namespace sennit::test
