// Tasks: numbers, the window, repetitions, and their execution by the target. The engine over a
// fake transport, direct calls of the target's side, and both over the path sim with failing rails.
#include <numeric>
#include <utility>

#include "engine_fixture.hpp"
#include "job.hpp"
#include "op/update_lock.hpp"

namespace sennit::test {
namespace {

class TaskTest : public EngineTest {
  protected:
    TaskTest() { fake.fake.task_bytes = transport::kMostTaskBytes; }

    sennit_request add_nb(std::uint64_t offset, std::uint64_t value, std::uint64_t *old) {
        const op::Work work{SENNIT_SUM, SENNIT_UINT64, 8, old};
        op::Target target = to(1, offset);
        target.work = &work;
        sennit_request request{};
        EXPECT_EQ(op::engine_start(rank(), Direction::execute, target, &value, 8,
                                   {op::Completion::Mode::request, &request}),
                  SENNIT_OK);
        return request;
    }
};

// Broken by a number that is used twice, or an operand that is read after the call.
TEST_F(TaskTest, tasks_are_numbered_from_1_and_carry_their_operand) {
    start();
    std::uint64_t old[3];
    for (std::uint64_t i = 0; i < 3; ++i)
        (void)add_nb(8 * i, i + 5, &old[i]);
    ASSERT_EQ(fake.seen.size(), 3u);
    for (std::uint64_t i = 0; i < 3; ++i) {
        const transport::Operation &task = fake.seen[i];
        EXPECT_EQ(task.kind, transport::Operation::Kind::execute);
        EXPECT_EQ(task.task.sequence, i + 1);
        EXPECT_EQ(task.task.count, 1u);
        EXPECT_EQ(task.task.payload_bytes, 8);
        EXPECT_EQ(task.task.reply_bytes, 8);
        EXPECT_EQ(task.bytes, 8u);
        std::uint64_t operand = 0;
        std::memcpy(&operand, task.local, sizeof operand);
        EXPECT_EQ(operand, i + 5);
        EXPECT_EQ(task.reply, &old[i]);
    }
    expect_sound();
}

// Broken by a window that is exceeded: the target would forget answers that may be needed again.
TEST_F(TaskTest, no_more_tasks_are_open_than_the_target_remembers) {
    start();
    std::uint64_t old = 0;
    for (std::uint32_t i = 0; i < op::kTaskWindow + 5; ++i)
        (void)add_nb(0, 1, &old);
    EXPECT_EQ(fake.seen.size(), op::kTaskWindow);
    expect_sound();
    // The window moves only when the oldest task is complete.
    fake.complete_later(fake.held[3], SENNIT_OK);
    make_progress(rank());
    EXPECT_EQ(fake.seen.size(), op::kTaskWindow);
    fake.complete_later(fake.held[0], SENNIT_OK);
    make_progress(rank());
    EXPECT_EQ(fake.seen.size(), op::kTaskWindow + 1);
    EXPECT_EQ(fake.seen.back().task.sequence, op::kTaskWindow + 1);
    fake.complete_in_progress = true;
    for (int i = 0; i < 4; ++i)
        make_progress(rank());
    EXPECT_EQ(fake.seen.size(), op::kTaskWindow + 5);
    expect_sound();
}

// Broken by a repetition under another number, which the target would execute again.
TEST_F(TaskTest, a_task_is_repeated_on_another_rail_under_its_number) {
    fake.fake.rails = 2;
    start();
    std::uint64_t old = 0;
    const sennit_request request = add_nb(0, 1, &old);
    (void)add_nb(8, 1, &old);
    const unsigned rail = fake.seen[0].rail;
    fake.complete_later(fake.held[0], SENNIT_ERR_FABRIC);
    make_progress(rank());
    ASSERT_EQ(fake.seen.size(), 3u);
    EXPECT_EQ(fake.seen[2].task.sequence, 1u);
    EXPECT_NE(fake.seen[2].rail, rail);
    fake.complete_later(fake.held.back(), SENNIT_ERR_FABRIC);
    make_progress(rank());
    EXPECT_TRUE(is_done(request, SENNIT_ERR_FABRIC));
    expect_sound();
}

// Broken by an accumulate that is cut inside an element, or exceeds the size of a task.
TEST_F(TaskTest, a_long_accumulate_goes_in_tasks_of_whole_elements) {
    fake.fake.task_bytes = 60;  // 56 is a multiple of every element size
    fake.complete_in_progress = true;
    start();
    std::vector<std::uint32_t> source(100);
    std::iota(source.begin(), source.end(), 1u);
    const op::Work work{SENNIT_SUM, SENNIT_UINT32, 4, nullptr};
    op::Target target = to(1, 4);
    target.work = &work;
    ASSERT_EQ(op::engine_start(rank(), Direction::execute, target, source.data(), 400, {}),
              SENNIT_OK);
    std::size_t covered = 0;
    for (const transport::Operation &task : fake.seen) {
        EXPECT_EQ(task.offset, 4 + covered);
        EXPECT_LE(task.bytes, 56u);
        EXPECT_EQ(task.bytes, task.task.count * 4u);
        EXPECT_EQ(task.local, reinterpret_cast<std::byte *>(source.data()) + covered);
        EXPECT_EQ(task.task.reply_bytes, 0);
        covered += task.bytes;
    }
    EXPECT_EQ(covered, 400u);
    expect_sound();
}

TEST_F(TaskTest, a_path_without_tasks_refuses_atomic_operations) {
    fake.fake.task_bytes = 0;
    start();
    const std::uint64_t one = 1;
    const op::Work work{SENNIT_SUM, SENNIT_UINT64, 8, nullptr};
    op::Target target = to(1);
    target.work = &work;
    EXPECT_EQ(
        op::engine_start(rank(), Direction::execute, target, const_cast<std::uint64_t *>(&one), 8,
                         {op::Completion::Mode::implicit}),
        SENNIT_ERR_UNSUPPORTED);
    EXPECT_TRUE(fake.seen.empty());
    expect_sound();
}

// The target's side, one task at a time.
class TargetTest : public TaskTest {
  protected:
    sennit_status arrive(std::uint64_t sequence, std::uint64_t value, int from = 1) {
        transport::Task task{sequence, 1, 8, 8, SENNIT_SUM, SENNIT_UINT64, 0, {}};
        return arrive(task, value, from);
    }
    sennit_status arrive(const transport::Task &task, std::uint64_t value, int from = 1) {
        return op::engine_execute(&rank(),
                                  transport::Arrived{from, &task, nullptr, memory, 8,
                                                     reinterpret_cast<const std::byte *>(&value),
                                                     reinterpret_cast<std::byte *>(&reply)});
    }

    alignas(8) std::uint64_t word = 100;
    std::byte *memory = reinterpret_cast<std::byte *>(&word);  // null: the segment is gone
    std::uint64_t reply = 0;
};

// Broken by a repetition that adds again, or whose answer is the present value.
TEST_F(TargetTest, a_repetition_gets_the_first_answer_and_changes_nothing) {
    start();
    EXPECT_EQ(arrive(1, 5), SENNIT_OK);
    EXPECT_EQ(reply, 100u);
    EXPECT_EQ(arrive(2, 7), SENNIT_OK);
    EXPECT_EQ(arrive(1, 5), SENNIT_OK);
    EXPECT_EQ(reply, 100u);
    EXPECT_EQ(word, 112u);
    // Each sender has its own numbers.
    EXPECT_EQ(arrive(1, 1, 2), SENNIT_OK);
    EXPECT_EQ(reply, 112u);
    EXPECT_EQ(word, 113u);
}

// Broken by a repetition that is executed after its sender has reported the failure.
TEST_F(TargetTest, a_repetition_of_a_task_that_was_refused_is_refused_too) {
    start();
    std::byte *const at_word = std::exchange(memory, nullptr);
    EXPECT_EQ(arrive(1, 5), SENNIT_ERR_NOT_REGISTERED);
    // The segment's slot has been reused meanwhile.
    memory = at_word;
    EXPECT_EQ(arrive(1, 5), SENNIT_ERR_NOT_REGISTERED);
    EXPECT_EQ(word, 100u);
    EXPECT_EQ(arrive(2, 5), SENNIT_OK);
    EXPECT_EQ(word, 105u);
}

// Broken by a history that is too short, or a late copy that is mistaken for a new task.
TEST_F(TargetTest, tasks_of_a_window_are_remembered_in_any_order_and_older_ones_are_refused) {
    start();
    for (std::uint64_t number = op::kTaskWindow; number >= 1; --number)
        EXPECT_EQ(arrive(number, 1), SENNIT_OK);
    EXPECT_EQ(word, 100u + op::kTaskWindow);
    for (std::uint64_t number = 1; number <= op::kTaskWindow; ++number)
        EXPECT_EQ(arrive(number, 1), SENNIT_OK);
    EXPECT_EQ(word, 100u + op::kTaskWindow);
    EXPECT_EQ(arrive(op::kTaskWindow + 1, 1), SENNIT_OK);
    EXPECT_EQ(arrive(1, 1), SENNIT_ERR_FABRIC);
    EXPECT_EQ(word, 101u + op::kTaskWindow);
}

// Tasks whose reply is longer than a word.
class LongReply : public TargetTest {
  protected:
    static constexpr std::uint32_t kWords = 64;  // the most that a task may have

    // Adds `value` to each of the first `count` words.
    sennit_status add(std::uint64_t sequence, std::uint32_t count, std::uint64_t value) {
        const auto bytes = static_cast<std::uint16_t>(count * 8);
        const transport::Task task{sequence, count, bytes, bytes, SENNIT_SUM, SENNIT_UINT64, 0, {}};
        const std::vector<std::uint64_t> payload(count, value);
        return op::engine_execute(
            &rank(),
            transport::Arrived{1, &task, nullptr, reinterpret_cast<std::byte *>(words.data()),
                               bytes, reinterpret_cast<const std::byte *>(payload.data()),
                               reinterpret_cast<std::byte *>(replies.data())});
    }
    std::vector<std::uint64_t> words = std::vector<std::uint64_t>(kWords, 100);
    std::vector<std::uint64_t> replies = std::vector<std::uint64_t>(kWords);
};

// Broken by a long reply in the place of a short one, or by two that share their place.
TEST_F(LongReply, each_long_reply_is_remembered_for_its_task) {
    start();
    EXPECT_EQ(add(1, 1, 1), SENNIT_OK);
    EXPECT_EQ(add(2, kWords, 1), SENNIT_OK);
    EXPECT_EQ(add(3, 2, 1), SENNIT_OK);
    EXPECT_EQ(add(4, 1, 1), SENNIT_OK);
    const std::vector<std::uint64_t> after = words;
    const auto again = [&](std::uint64_t sequence, std::uint32_t count) {
        std::fill(replies.begin(), replies.end(), 0);
        EXPECT_EQ(add(sequence, count, 1), SENNIT_OK);
        return std::vector<std::uint64_t>(replies.begin(), replies.begin() + count);
    };
    EXPECT_EQ(again(1, 1), std::vector<std::uint64_t>({100}));
    std::vector<std::uint64_t> wanted(kWords, 100);
    wanted[0] = 101;
    EXPECT_EQ(again(2, kWords), wanted);
    EXPECT_EQ(again(3, 2), std::vector<std::uint64_t>({102, 101}));
    EXPECT_EQ(again(4, 1), std::vector<std::uint64_t>({103}));
    EXPECT_EQ(words, after);
}

// Broken by an answer that reads beyond the kept reply, or returns another task's reply.
TEST_F(LongReply, a_repetition_that_asks_for_another_length_is_refused) {
    start();
    EXPECT_EQ(add(1, 1, 1), SENNIT_OK);
    EXPECT_EQ(add(1, kWords, 1), SENNIT_ERR_ARG);
    EXPECT_EQ(add(2, kWords, 1), SENNIT_OK);
    EXPECT_EQ(add(1, kWords, 1), SENNIT_ERR_ARG);
    EXPECT_EQ(add(2, 1, 1), SENNIT_ERR_ARG);
    EXPECT_EQ(words[1], 101u);
}

// Broken by a check that trusts data from the network.
TEST_F(TargetTest, a_task_that_makes_no_sense_is_refused_and_changes_nothing) {
    start();
    const transport::Task good{1, 1, 8, 8, SENNIT_SUM, SENNIT_UINT64, 0, {}};
    const auto spoiled = [&](void (*spoil)(transport::Task &)) {
        static std::uint64_t number = 0;
        transport::Task task = good;
        task.sequence = ++number;
        spoil(task);
        return arrive(task, 1);
    };
    using Task = transport::Task;
    EXPECT_EQ(spoiled([](Task &task) { task.sequence = 0; }), SENNIT_ERR_ARG);
    EXPECT_EQ(spoiled([](Task &task) { task.type = 0; }), SENNIT_ERR_ARG);
    EXPECT_EQ(spoiled([](Task &task) { task.type = 200; }), SENNIT_ERR_ARG);
    EXPECT_EQ(spoiled([](Task &task) { task.operation = 0; }), SENNIT_ERR_ARG);
    EXPECT_EQ(spoiled([](Task &task) { task.operation = SENNIT_LOGICAL_AND; }), SENNIT_ERR_ARG);
    EXPECT_EQ(spoiled([](Task &task) { task.count = 2; }), SENNIT_ERR_ARG);
    EXPECT_EQ(spoiled([](Task &task) { task.count = 1u << 29; }), SENNIT_ERR_ARG);
    EXPECT_EQ(spoiled([](Task &task) { task.payload_bytes = 4; }), SENNIT_ERR_ARG);
    EXPECT_EQ(spoiled([](Task &task) { task.reply_bytes = 16; }), SENNIT_ERR_ARG);
    EXPECT_EQ(spoiled([](Task &task) { task.operation = op::kCompareSwap; }), SENNIT_ERR_ARG);
    transport::Task task = good;
    task.sequence = 20;
    EXPECT_EQ(arrive(task, 1, -1), SENNIT_ERR_ARG);
    EXPECT_EQ(arrive(task, 1, 3), SENNIT_ERR_ARG);
    EXPECT_EQ(word, 100u);
}

// Broken by a transport's thread that calls the hooks only after the rank has done so, while the
// rank computes right after sennit_init.
TEST(tasks_over_sim, each_rank_has_made_progress_once_when_init_returns) {
    Job job(2, "sim:seed=1");
    std::atomic<int> started{0};
    std::uint64_t steps = 0;
    job.run([&](int rank) {
        ++started;
        while (started < 2)
            std::this_thread::yield();
        if (rank == 0) {
            transport::sim::World *world = transport::sim::hold_world(*current_rank());
            steps = transport::sim::counters(*world).steps;
            transport::sim::release_world(world);
            ++started;
        }
        while (started < 3)
            std::this_thread::yield();
    });
    EXPECT_EQ(job.fault, "");
    EXPECT_EQ(steps, 2u);
}

// Broken by a task that a failed rail loses and nobody repeats, or that both rails execute: the sum
// would be too large when answers are lost.
TEST(tasks_over_sim, additions_are_done_once_although_rails_fail) {
    std::uint64_t lost = 0;
    for (int seed = 1; seed <= 60; ++seed) {
        const std::string paths =
            "sim:rails=3+order=0+lockstep=1+delay=30+seed=" + std::to_string(seed) +
            "+fail_rail=0@" + std::to_string(60 + 7 * seed) + "+fail_rail=2@" +
            std::to_string(200 + 5 * seed);
        Job job(3, paths);
        constexpr int kEach = 60;
        job.run([&](int rank) {
            sennit_gptr gptr = SENNIT_GPTR_NULL;
            job.expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), "sennit_alloc");
            const sennit_gptr word = sennit_gptr_at(gptr, (rank + 1) % 2);
            std::uint64_t old[kEach];
            sennit_request requests[kEach];
            for (int i = 0; i < kEach; ++i)
                job.expect(sennit_atomic_fetch_add_u64_nb(word, 1, &old[i], &requests[i]),
                           "fetch_add_nb");
            job.expect(sennit_wait_all(kEach, requests, kLong), "wait_all");
            std::sort(old, old + kEach);
            if (std::adjacent_find(old, old + kEach) != old + kEach) job.note("a value came twice");
            job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
            std::uint64_t sum = 0;
            std::uint64_t both = 0;
            for (int owner = 0; owner < 2; ++owner) {
                job.expect(sennit_get(&sum, sennit_gptr_at(gptr, owner), 8), "get");
                both += sum;
            }
            if (both != 3 * kEach) job.note("the sum is " + std::to_string(both));
        });
        ASSERT_EQ(job.fault, "") << paths;
        lost += job.counters.lost_answers;
    }
    EXPECT_GT(lost, 0u) << "no answer was lost on its way: the test shows nothing";
}

// Broken by an answer "repeat" that ends the accumulate, or by a task that changes the array each
// time it is sent.
TEST(tasks_over_sim, an_accumulate_that_finds_the_lock_taken_is_sent_again_and_counts_once) {
    constexpr std::size_t kWords = 16;
    Job job(2, "sim:order=0+seed=1");
    std::atomic<bool> has_ended{false};
    job.run([&](int rank) {
        sennit_gptr array = SENNIT_GPTR_NULL;
        job.expect(sennit_alloc(SENNIT_TEAM_WORLD, kWords * 8, 0, SENNIT_ALLOC_ACCUMULATE, &array),
                   "sennit_alloc");
        auto *const words = static_cast<std::uint64_t *>(sennit_ptr(array));
        UpdateLock &lock = op::update_lock_of(reinterpret_cast<std::byte *>(words), kWords * 8);
        transport::sim::World *const world = transport::sim::hold_world(*current_rank());
        const std::uint64_t before = transport::sim::counters(*world).tasks;
        if (rank == 0) lock.holder = 2;  // rank 1, which is alive
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        if (rank == 0) {
            while (transport::sim::counters(*world).tasks < before + 5 && !has_ended)
                job.expect(sennit_flush_all(kLong), "flush_all");
            if (has_ended || words[0] != 0)
                job.note("the array was changed under another rank's lock");
            op::release_update_lock(lock);
        } else {
            const std::vector<std::uint64_t> ones(kWords, 1);
            std::vector<std::uint64_t> old(kWords, 99);
            job.expect(sennit_get_accumulate(sennit_gptr_at(array, 0), ones.data(), old.data(),
                                             kWords, SENNIT_UINT64, SENNIT_SUM),
                       "get_accumulate");
            has_ended = true;
            if (old != std::vector<std::uint64_t>(kWords, 0)) job.note("a wrong old value");
        }
        transport::sim::release_world(world);
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        for (std::size_t i = 0; rank == 0 && i < kWords; ++i)
            if (words[i] != 1) job.note("a sum is " + std::to_string(words[i]));
    });
    EXPECT_EQ(job.fault, "");
}

// Broken by a wait for an array's lock without a limit, or without the holder's name in its error.
TEST(accumulate, a_wait_for_a_kept_lock_times_out_and_names_its_holder) {
    (void)setenv("SENNIT_TIMEOUT", "0.2", 1);
    Job job(2, "self,inproc");
    std::atomic<bool> is_over{false};
    job.run([&](int rank) {
        sennit_gptr word = SENNIT_GPTR_NULL;
        job.expect(sennit_alloc_local(8, 0, SENNIT_ALLOC_ACCUMULATE, &word), "sennit_alloc_local");
        if (rank == 0) {
            auto *const memory = static_cast<std::byte *>(sennit_ptr(word));
            UpdateLock &lock = op::update_lock_of(memory, 8);
            lock.holder = 2;
            const std::uint64_t one = 1;
            if (sennit_accumulate(word, &one, 1, SENNIT_UINT64, SENNIT_SUM) != SENNIT_ERR_TIMEOUT ||
                std::string(sennit_last_error()->text).find("rank 1 ") == std::string::npos)
                job.note(sennit_last_error()->text);
            op::release_update_lock(lock);
            job.expect(sennit_accumulate(word, &one, 1, SENNIT_UINT64, SENNIT_SUM), "accumulate");
            is_over = true;
        }
        while (!is_over)
            std::this_thread::yield();
    });
    (void)unsetenv("SENNIT_TIMEOUT");
    EXPECT_EQ(job.fault, "");
}

// Broken by a lock that is lost with its holder on message paths, or by a death that is reported
// twice or never.
TEST(tasks_over_sim, the_next_rank_gets_the_lock_of_a_killed_one_with_owner_died) {
    for (int seed = 1; seed <= 10; ++seed) {
        Job job(3, "sim:lockstep=1+order=0+kill=2@4000+seed=" + std::to_string(seed));
        std::atomic<int> told{0};
        std::atomic<int> entered{0};
        job.run(
            [&](int rank) {
                sennit_lock lock = SENNIT_LOCK_NULL;
                job.expect(sennit_lock_create(SENNIT_TEAM_WORLD, &lock), "lock_create");
                if (rank == 2) job.expect(sennit_lock_acquire(lock, kLong), "acquire");
                job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
                if (rank == 2) {
                    std::uint64_t word = 0;
                    while (sennit_atomic_fetch_u64(sennit_gptr{0, lock.segment, 0}, &word) ==
                           SENNIT_OK) {
                    }
                    return;
                }
                const sennit_status status = sennit_lock_acquire(lock, kLong);
                if (status == SENNIT_ERR_OWNER_DIED) {
                    ++told;
                } else {
                    job.expect(status, "acquire after the death");
                }
                job.expect(sennit_lock_release(lock), "release");
                ++entered;
                // The rank that keeps the lock stays until both are done.
                sennit_request none = SENNIT_REQUEST_NULL;
                int done = 0;
                while (entered < 2)
                    job.expect(sennit_test(&none, &done), "test");
            },
            {SENNIT_ERR_PEER_LOST, SENNIT_ERR_TIMEOUT, SENNIT_ERR_STATE});
        ASSERT_EQ(job.fault, "") << "seed " << seed;
        EXPECT_EQ(told, 1) << "seed " << seed;
    }
}

}  // namespace
}  // namespace sennit::test
