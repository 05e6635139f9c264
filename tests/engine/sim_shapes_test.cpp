// Puts of many runs over the path sim, where a task brings 488 bytes. Broken by a message for each
// run where the owner's processor can spread the runs, a separate event where completion data has
// room for it, or an event whose parts are not the pieces of the runs.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <string>
#include <vector>

#include "blocks.hpp"

namespace sennit::test {
namespace {

constexpr std::size_t kBlock = 40000;

struct ShapeCost {
    std::uint64_t puts = 0;
    std::uint64_t tasks = 0;
    std::uint64_t events = 0;
};

// `boxes` puts of `count` runs of `bytes` bytes per epoch, by calls or by a plan.
struct Sent {
    std::size_t boxes;
    std::size_t count;
    std::size_t bytes;
    bool in_a_plan = false;
    bool notifies = true;
};

struct BoxSender {
    const Blocks &blocks;
    const Sent &sent;
    std::vector<char> data = std::vector<char>(kBlock);
    sennit_plan plan = SENNIT_PLAN_NULL;

    std::size_t place(std::size_t number) const { return number * kBlock / sent.boxes; }
    void record() {
        const sennit_box box = line();
        blocks.ok(sennit_plan_create(&plan), "plan_create");
        for (std::size_t i = 0; i < sent.boxes; ++i)
            blocks.ok(sennit_plan_put_strided(plan, blocks.peers[1], place(i),
                                              data.data() + place(i), &box, nullptr),
                      "plan_put_strided");
        blocks.ok(sennit_plan_commit(plan, 0, 1), "plan_commit");
    }
    sennit_box line() const {
        const auto stride = static_cast<std::int64_t>(sent.bytes) + 8;
        return sennit_box_line(sent.bytes, sent.count, stride, stride);
    }
    void send(std::uint64_t epoch) {
        if (sent.in_a_plan) {
            blocks.ok(sennit_plan_start(plan), "plan_start");
            blocks.ok(sennit_plan_wait(plan, kLong), "plan_wait");
        }
        const sennit_box box = line();
        const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch, 0};
        for (std::size_t i = 0; i < sent.boxes && !sent.notifies; ++i)
            blocks.ok(sennit_put_strided_nbi(sennit_gptr_add(sennit_gptr_at(blocks.memory, 1),
                                                             static_cast<std::int64_t>(place(i))),
                                             data.data() + place(i), &box),
                      "put_strided_nbi");
        for (std::size_t i = 0; i < sent.boxes && sent.notifies && !sent.in_a_plan; ++i)
            blocks.ok(sennit_put_notify_strided(blocks.peers[1], place(i), data.data() + place(i),
                                                &box, &notice),
                      "put_notify_strided");
        blocks.ok(sennit_flush_all(kLong), "flush_all");
    }
    // The bytes between the runs are zero.
    void expect_in(const char *own, std::uint64_t salt) const {
        for (std::size_t i = 0; i < sent.boxes; ++i)
            for (std::size_t at = 0; at < sent.count * (sent.bytes + 8) - 8; ++at) {
                const bool is_moved = at % (sent.bytes + 8) < sent.bytes;
                if (own[place(i) + at] != (is_moved ? value(place(i) + at, salt) : 0))
                    blocks.job.note("a byte is wrong");
            }
    }
    static char value(std::size_t at, std::uint64_t salt) {
        return static_cast<char>(1 + (at + salt) * 7 % 101);
    }
};

// The cost of the second epoch.
ShapeCost cost_of(const Sent &sent, int bits) {
    Job job(2, "sim:lockstep=1+events=" + std::to_string(bits) + "+delay=20+max_piece=4096");
    ShapeCost cost;
    job.run([&](int rank) {
        const Blocks blocks(job, rank, 2, static_cast<std::uint32_t>(sent.boxes), kBlock);
        BoxSender sender{blocks, sent};
        if (rank == 0 && sent.in_a_plan) sender.record();
        for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
            for (std::size_t i = 0; i < kBlock; ++i)
                sender.data[i] = BoxSender::value(i, epoch);
            blocks.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
            // Pending operations of the barrier.
            for (int i = 0; i < 300; ++i)
                blocks.ok(sennit_flush_all(kLong), "flush_all");
            if (rank == 0) {
                transport::sim::World *world = transport::sim::hold_world(*current_rank());
                const transport::sim::Counters before = transport::sim::counters(*world);
                sender.send(epoch);
                const transport::sim::Counters after = transport::sim::counters(*world);
                cost = {after.puts - before.puts, after.tasks - before.tasks,
                        after.events - before.events};
                transport::sim::release_world(world);
            } else if (sent.notifies) {
                blocks.ok(sennit_signal_wait(blocks.arrived, kLong), "wait");
                sender.expect_in(static_cast<const char *>(sennit_ptr(blocks.memory)), epoch);
                blocks.ok(sennit_signal_reset(blocks.arrived), "reset");
            }
            blocks.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
            // The flush has returned, so all data has arrived.
            if (rank == 1 && !sent.notifies)
                sender.expect_in(static_cast<const char *>(sennit_ptr(blocks.memory)), epoch);
            blocks.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        }
        if (rank == 0 && sent.in_a_plan) blocks.ok(sennit_plan_destroy(sender.plan), "destroy");
        blocks.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
    });
    EXPECT_EQ(job.fault, "");
    return cost;
}

constexpr std::uint64_t kOfBarrier = 4;  // most puts that it leaves pending

TEST(sim_shapes, a_short_put_of_many_runs_is_one_task) {
    for (const bool in_a_plan : {false, true})
        for (const int bits : {0, 64}) {
            // 30 runs of 8 bytes with a word each: 480 bytes.
            const ShapeCost cost = cost_of({1, 30, 8, in_a_plan}, bits);
            EXPECT_EQ(cost.tasks, 1u);
            EXPECT_EQ(cost.events, 0u);
            EXPECT_LE(cost.puts, kOfBarrier);
        }
}

TEST(sim_shapes, short_operations_of_a_plan_are_one_task_together) {
    const ShapeCost cost = cost_of({3, 10, 8, true}, 64);
    EXPECT_EQ(cost.tasks, 1u);
    EXPECT_EQ(cost.events, 0u);
    EXPECT_LE(cost.puts, kOfBarrier);
    EXPECT_EQ(cost_of({3, 1, 100, true}, 64).tasks, 1u) << "they need not be boxes";
}

TEST(sim_shapes, many_short_runs_are_packed_with_their_event_into_few_tasks) {
    for (const bool in_a_plan : {false, true}) {
        // 30 runs in each task.
        const ShapeCost cost = cost_of({1, 100, 8, in_a_plan}, 64);
        EXPECT_EQ(cost.tasks, 4u);
        EXPECT_EQ(cost.events, 0u);
        EXPECT_LE(cost.puts, kOfBarrier);
    }
}

TEST(sim_shapes, a_put_without_a_signal_is_packed_too) {
    const ShapeCost cost = cost_of({2, 100, 8, false, false}, 64);
    EXPECT_EQ(cost.tasks, 2u * 4);
    EXPECT_EQ(cost.events, 0u);
    EXPECT_LE(cost.puts, kOfBarrier);
    EXPECT_GE(cost_of({1, 20, 1000, false, false}, 64).puts, 20u) << "long runs are not";
}

TEST(sim_shapes, the_event_of_long_runs_is_in_their_completion_data_if_it_fits) {
    for (const bool in_a_plan : {false, true}) {
        const ShapeCost carried = cost_of({1, 20, 1000, in_a_plan}, 64);
        EXPECT_EQ(carried.events, 20u);
        EXPECT_EQ(carried.tasks, 1u);
        // Three pieces for each run.
        const ShapeCost long_runs = cost_of({1, 3, 10000, in_a_plan}, 64);
        EXPECT_EQ(long_runs.events, 9u);
        EXPECT_EQ(long_runs.tasks, 1u);
        // Eight bits cannot distinguish parts.
        const ShapeCost behind = cost_of({1, 20, 1000, in_a_plan}, 8);
        EXPECT_EQ(behind.events, 0u);
        EXPECT_EQ(behind.tasks, 1u);
        EXPECT_GE(behind.puts, 20u);
    }
}

}  // namespace
}  // namespace sennit::test
