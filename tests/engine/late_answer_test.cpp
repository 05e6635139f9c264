// Calls whose answer arrives after they have timed out. Broken by an answer written to the
// variables of a finished call, a put of the library's own that reads them, or a record that nobody
// frees.
#include <sennit/sennit.h>

#include <atomic>
#include <cstdlib>
#include <optional>

#include "blocking_bound.hpp"
#include "engine_fixture.hpp"
#include "job.hpp"
#include "runtime/whole_call.hpp"

namespace sennit::test {
namespace {

using LateAnswerTest = EngineTest;

constexpr std::size_t kSizes[] = {8, 160, 5000};  // in the record, beside it, in many pieces

TEST_F(LateAnswerTest, a_timed_out_get_writes_to_no_caller_after_the_call) {
    start();
    for (const std::size_t bytes : kSizes) {
        std::memcpy(fake.memory.data(), source(), bytes);
        std::vector<std::byte> into(bytes, std::byte{0xA5});
        const std::vector<std::byte> before = into;
        {
            const BlockingBound bound("0.02");
            EXPECT_EQ(
                op::engine_start(rank(), Direction::get, to(1), into.data(), bytes, op::kBuffered),
                SENNIT_ERR_TIMEOUT);
        }
        fake.complete_in_progress = true;
        EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
        EXPECT_EQ(into, before);
        EXPECT_EQ(
            op::engine_start(rank(), Direction::get, to(1), into.data(), bytes, op::kBuffered),
            SENNIT_OK);
        EXPECT_EQ(std::memcmp(into.data(), source(), bytes), 0);
        fake.complete_in_progress = false;
        // Completes inside submit.
        fake.complete_at_once = true;
        into = before;
        EXPECT_EQ(
            op::engine_start(rank(), Direction::get, to(1), into.data(), bytes, op::kBuffered),
            SENNIT_OK);
        EXPECT_EQ(std::memcmp(into.data(), source(), bytes), 0);
        fake.complete_at_once = false;
        EXPECT_EQ(rank().engine->records.in_use(), 0u);
        expect_sound();
    }
}

TEST_F(LateAnswerTest, a_timed_out_put_moves_the_bytes_from_the_time_of_the_call) {
    start();
    for (const std::size_t bytes : kSizes) {
        std::vector<std::byte> from(source(), source() + bytes);
        {
            const BlockingBound bound("0.02");
            EXPECT_EQ(
                op::engine_start(rank(), Direction::put, to(1), from.data(), bytes, op::kBuffered),
                SENNIT_ERR_TIMEOUT);
        }
        std::fill(from.begin(), from.end(), std::byte{0xA5});
        std::fill(fake.memory.begin(), fake.memory.end(), std::byte{0});
        fake.complete_in_progress = true;
        EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
        fake.complete_in_progress = false;
        EXPECT_EQ(std::memcmp(fake.memory.data(), source(), bytes), 0);
        EXPECT_EQ(rank().engine->records.in_use(), 0u);
    }
}

TEST_F(LateAnswerTest, a_timed_out_task_answers_into_its_own_memory) {
    fake.fake.task_bytes = transport::kMostTaskBytes;
    start();
    std::uint64_t operand = 5;
    std::uint64_t old = 77;
    const op::Work work{SENNIT_SUM, SENNIT_UINT64, 8, &old};
    op::Target target = to(1);
    target.work = &work;
    {
        const BlockingBound bound("0.02");
        EXPECT_EQ(op::engine_start(rank(), Direction::execute, target, &operand, 8, op::kBuffered),
                  SENNIT_ERR_TIMEOUT);
    }
    const auto answer = [&](std::uint64_t value) {
        ASSERT_EQ(fake.held.size(), 1u);
        EXPECT_NE(fake.held[0]->reply, static_cast<void *>(&old));
        std::memcpy(fake.held[0]->reply, &value, sizeof value);
        fake.complete_later(fake.held[0], SENNIT_OK);
    };
    answer(1234);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    EXPECT_EQ(old, 77u);
    sennit_request request{};
    ASSERT_EQ(op::engine_start(rank(), Direction::execute, target, &operand, 8,
                               {op::Completion::Mode::request, &request, true}),
              SENNIT_OK);
    answer(4321);
    make_progress(rank());
    EXPECT_EQ(old, 77u);  // unchanged until the request is taken
    EXPECT_TRUE(is_done(request));
    EXPECT_EQ(old, 4321u);
    EXPECT_EQ(rank().engine->records.in_use(), 0u);
    expect_sound();
}

TEST_F(LateAnswerTest, an_abandoned_request_frees_itself_and_writes_nothing) {
    start();
    std::uint64_t into[2] = {77, 77};
    sennit_request requests[2] = {};
    for (int i = 0; i < 2; ++i)
        ASSERT_EQ(op::engine_start(rank(), Direction::get, to(1), &into[i], 8,
                                   {op::Completion::Mode::request, &requests[i], true}),
                  SENNIT_OK);
    fake.complete_later(fake.held[0], SENNIT_OK);
    make_progress(rank());
    op::engine_abandon(rank(), requests[0]);  // complete, and not taken
    EXPECT_EQ(rank().engine->records.in_use(), 1u);
    op::engine_abandon(rank(), requests[1]);
    op::engine_abandon(rank(), requests[1]);
    op::engine_abandon(rank(), SENNIT_REQUEST_NULL);
    int done = 0;
    EXPECT_EQ(op::engine_test(rank(), requests[1], false, &done), SENNIT_ERR_ARG);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    fake.complete_later(fake.held[0], SENNIT_ERR_FABRIC);
    make_progress(rank());
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    EXPECT_EQ(into[0], 77u);
    EXPECT_EQ(into[1], 77u);
    EXPECT_EQ(rank().engine->records.in_use(), 0u);
    expect_sound();
}

// Broken by a library whose own abandoned puts fail the program's next flush.
TEST_F(LateAnswerTest, puts_abandoned_by_the_library_fail_no_flush_of_the_program) {
    start();
    std::uint64_t from = 77;
    const auto give_up = [&](op::Abandoned kind) {
        sennit_request request{};
        EXPECT_EQ(op::engine_start(rank(), Direction::put, to(1), &from, sizeof from,
                                   {op::Completion::Mode::request, &request, true}),
                  SENNIT_OK);
        op::engine_abandon(rank(), request, kind);
    };
    give_up(op::Abandoned::library_s);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    fake.complete(fake.held[0], SENNIT_ERR_PEER_LOST);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_OK);
    give_up(op::Abandoned::program_s);
    fake.complete_later(fake.held[0], SENNIT_ERR_PEER_LOST);
    EXPECT_EQ(op::engine_flush(rank(), 1, Deadline::after(kShort)), SENNIT_ERR_PEER_LOST);
    EXPECT_EQ(rank().engine->records.in_use(), 0u);
    expect_sound();
}

// Fills the stack below its caller, where an earlier call had its variables, and lets answers
// arrive. True if nothing was written to it.
[[gnu::noinline]] bool stack_is_left_alone(const std::function<void()> &let_answers_come) {
    constexpr std::uint64_t kMark = 0xA5A5A5A5A5A5A5A5u;
    std::atomic<std::uint64_t> stack[8192];  // atomic, so that no store is omitted or delayed
    for (std::atomic<std::uint64_t> &word : stack)
        word = kMark;
    let_answers_come();
    return std::all_of(std::begin(stack), std::end(stack),
                       [](const auto &word) { return word == kMark; });
}

// A rank that makes no progress executes nothing: calls that need it time out, and their answers
// come when it continues.
void expect_stack_left_alone(const char *name,
                             const std::function<sennit_status(sennit_signal, sennit_lock)> &call) {
    Job job(2, "sim:events=0");
    std::atomic<bool> stands{false};
    std::atomic<bool> may_go_on{false};
    job.run([&](int rank) {
        sennit_signal signal = SENNIT_SIGNAL_NULL;
        sennit_lock lock = SENNIT_LOCK_NULL;
        sennit_gptr gptr = SENNIT_GPTR_NULL;
        // Rank 0 of the team keeps the lock, and it is the rank that makes no progress.
        if (rank == 0) job.expect(sennit_signal_create(9, 9, 0, &signal), "signal_create");
        job.expect(sennit_broadcast(SENNIT_TEAM_WORLD, 0, &signal, sizeof signal, kLong),
                   "broadcast");
        job.expect(sennit_lock_create(SENNIT_TEAM_WORLD, &lock), "lock_create");
        job.expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), "alloc");
        if (rank == 1) {
            // Once, so that nothing remains to be attached.
            job.expect(sennit_signal_notify(signal, 0), "signal_add");
            job.expect(sennit_lock_acquire(lock, kLong), "acquire");
            job.expect(sennit_lock_release(lock), "release");
        }
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        if (rank == 0) {
            stands = true;
            while (!may_go_on)
                std::this_thread::yield();
        } else {
            while (!stands)
                std::this_thread::yield();
            sennit_status status = SENNIT_OK;
            {
                const BlockingBound bound("0.05");
                status = call(signal, lock);
            }
            if (status != SENNIT_ERR_TIMEOUT)
                job.note(std::string(name) + " gave " + sennit_status_string(status));
            const bool is_whole = stack_is_left_alone([&] {
                may_go_on = true;
                job.expect(sennit_flush_all(kLong), "flush_all");
            });
            if (!is_whole) job.note(std::string(name) + ": the answer was written to a dead frame");
        }
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
    });
    EXPECT_EQ(job.fault, "");
}

TEST(late_answers, a_timed_out_event_does_not_touch_the_stack_later) {
    // The sender does not know whether the owner accepts this epoch, so it waits for the answer.
    expect_stack_left_alone("signal_add", [](sennit_signal signal, sennit_lock) {
        return sennit_signal_notify(signal, 2);
    });
}

TEST(late_answers, a_timed_out_acquire_does_not_touch_the_stack_later) {
    expect_stack_left_alone("lock_acquire", [](sennit_signal, sennit_lock lock) {
        return sennit_lock_acquire(lock, kLong);
    });
}

// A call that times out makes progress for an open collective call, which then gets the other
// rank's post. The delay is long, so that no get is complete at its first checks; the limit is
// short only for this call, so that a slow machine has time for the delayed steps.
TEST(late_answers, a_timed_out_call_does_not_end_a_collective_call) {
    Job job(2, "sim:delay=2000");
    std::atomic<bool> has_posted{false};
    std::atomic<bool> is_over{false};
    job.run([&](int rank) {
        const int mine = rank + 10;
        int all[2] = {};
        const auto check = [&](sennit_status status, const char *call) {
            job.expect(status, call);
            if (all[0] != 10 || all[1] != 11) job.note(std::string(call) + ": other words");
            all[0] = all[1] = 0;
        };
        check(sennit_allgather(SENNIT_TEAM_WORLD, &mine, all, sizeof mine, kLong), "allgather");
        sennit_request request = SENNIT_REQUEST_NULL;
        job.expect(sennit_allgather_nb(SENNIT_TEAM_WORLD, &mine, all, sizeof mine, &request),
                   "allgather_nb");
        if (rank == 1) {
            has_posted = true;
            while (!is_over)
                std::this_thread::yield();
        } else {
            while (!has_posted)
                std::this_thread::yield();
            std::optional<BlockingBound> bound("0.05");
            const WholeCall call;
            bound.reset();
            std::this_thread::sleep_for(std::chrono::milliseconds(60));
            const Deadline patience = Deadline::after(20'000'000'000);
            while (current_rank()->polled_requests.load() != 0 && !patience.over())
                make_progress(*current_rank());
            is_over = true;
        }
        check(sennit_wait(&request, kLong), "wait");
        check(sennit_allgather(SENNIT_TEAM_WORLD, &mine, all, sizeof mine, kLong), "allgather");
    });
    EXPECT_EQ(job.fault, "");
}

}  // namespace
}  // namespace sennit::test
