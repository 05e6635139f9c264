// Plans over the path sim. Would break: a run that waits for one piece after the other, pieces that
// touch and go alone, or such that do not and go together.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <vector>

#include "blocks.hpp"

namespace sennit::test {
namespace {

constexpr std::size_t kMessages = 30;
constexpr std::size_t kPart = 16;

// What a run of rank 0's plan costs: steps of the network, and puts and gets that it carries.
struct Cost {
    std::uint64_t steps = 0;
    std::uint64_t moves = 0;
};

// A piece of 8 or 16 bytes at a place of rank `peer`, and of the private buffer.
struct Recorded {
    int peer;
    std::size_t place;
    std::size_t local;
    std::size_t bytes;
    bool is_get = false;
};

// Two runs of the plan; the cost of the second. `events` of them come to each owner in a run.
Cost cost_of(const std::vector<Recorded> &pieces, std::uint32_t events, bool in_a_plan = true) {
    Job job(3, "sim:lockstep=1+events=0+delay=20");
    Cost cost;
    job.run([&](int rank) {
        const Blocks it(job, rank, 3, events);
        std::vector<char> data(kBytes);
        for (std::size_t i = 0; i < kBytes; ++i)
            data[i] = static_cast<char>(i * 7 % 251);
        sennit_plan plan = SENNIT_PLAN_NULL;
        if (rank == 0) it.ok(sennit_plan_create(&plan), "plan_create");
        for (const Recorded &one : pieces) {
            if (rank != 0 || !in_a_plan) continue;
            const sennit_peer_block peer = it.peers[static_cast<std::size_t>(one.peer)];
            char *local = data.data() + one.local;
            it.ok(one.is_get ? sennit_plan_get(plan, local, peer, one.place, one.bytes)
                             : sennit_plan_put(plan, peer, one.place, local, one.bytes),
                  "plan_put");
        }
        if (rank == 0) it.ok(sennit_plan_commit(plan, 0, 1), "plan_commit");
        for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
            it.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
            // What the barrier has left under way takes steps too.
            for (int i = 0; i < 300; ++i)
                it.ok(sennit_flush_all(kLong), "flush_all");
            if (rank == 0) {
                transport::sim::World *world = transport::sim::hold_world(*current_rank());
                const transport::sim::Counters before = transport::sim::counters(*world);
                if (in_a_plan) {
                    it.ok(sennit_plan_start(plan), "plan_start");
                    it.ok(sennit_plan_wait(plan, kLong), "plan_wait");
                } else {
                    const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch};
                    for (const Recorded &one : pieces) {
                        const sennit_peer_block peer = it.peers[static_cast<std::size_t>(one.peer)];
                        const char *local = data.data() + one.local;
                        it.ok(events != 0 ? sennit_put_notify_with(peer, one.place, local,
                                                                   one.bytes, &notice)
                                          : sennit_put_notify(peer, one.place, local, one.bytes),
                              "put_notify");
                    }
                }
                const transport::sim::Counters after = transport::sim::counters(*world);
                cost = {after.steps - before.steps, after.puts - before.puts};
                transport::sim::release_world(world);
            } else if (events != 0) {
                it.ok(sennit_signal_wait(it.arrived, kLong), "wait");
                it.ok(sennit_signal_reset(it.arrived), "reset");
            }
            it.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        }
        const auto *own = static_cast<const char *>(sennit_ptr(it.memory));
        for (const Recorded &one : pieces)
            for (std::size_t i = 0; one.peer == rank && !one.is_get && i < one.bytes; ++i)
                if (own[one.place + i] != data[one.local + i]) job.note("a byte is wrong");
        if (rank == 0) it.ok(sennit_plan_destroy(plan), "plan_destroy");
        it.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
    });
    EXPECT_EQ(job.fault, "");
    return cost;
}

// To each of two ranks in turns; `apart` bytes from one to the next.
std::vector<Recorded> to_both(std::size_t apart) {
    std::vector<Recorded> pieces;
    for (std::size_t i = 0; i < 2 * kMessages; ++i)
        pieces.push_back(
            {1 + static_cast<int>(i % 2), i / 2 * (kPart + apart), i / 2 * (kPart + apart), kPart});
    return pieces;
}

TEST(sim_plan, a_run_takes_as_many_trips_as_few_messages) {
    for (const std::uint32_t events : {static_cast<std::uint32_t>(kMessages), 0u}) {
        const Cost together = cost_of(to_both(8), events);
        const Cost one_by_one = cost_of(to_both(8), events, false);
        EXPECT_LT(together.steps * 6, one_by_one.steps)
            << together.steps << " and " << one_by_one.steps << " steps";
    }
}

TEST(sim_plan, pieces_that_touch_on_both_sides_go_as_one_and_no_others) {
    // Puts of others that are still in the barrier before the run.
    constexpr std::uint64_t kOfBarriers = 8;
    // All with the same number of events: what is merged is counted piece by piece.
    EXPECT_GE(cost_of(to_both(8), kMessages).moves, 2 * kMessages);
    EXPECT_LE(cost_of(to_both(0), kMessages).moves, 2 + kOfBarriers);
    std::vector<Recorded> other_order;
    std::vector<Recorded> gap_here;
    std::vector<Recorded> empty_between;
    for (std::size_t i = 0; i < kMessages; ++i) {
        for (const int peer : {1, 2}) {
            const std::size_t backwards = kMessages - 1 - i;
            other_order.push_back({peer, backwards * kPart, backwards * kPart, kPart});
            gap_here.push_back({peer, i * kPart, i * (kPart + 8), kPart});
            empty_between.push_back({peer, i / 2 * kPart, i / 2 * kPart, i % 2 * kPart});
        }
    }
    EXPECT_GE(cost_of(other_order, kMessages).moves, 2 * kMessages);
    EXPECT_GE(cost_of(gap_here, kMessages).moves, 2 * kMessages);
    EXPECT_LE(cost_of(empty_between, kMessages).moves, 2 + kOfBarriers);
    // Nothing moves, and everything is counted: the owners' waits would not end.
    std::vector<Recorded> empty;
    for (std::size_t i = 0; i < 2 * kMessages; ++i)
        empty.push_back({1 + static_cast<int>(i % 2), 0, 0, 0});
    (void)cost_of(empty, kMessages);
}

}  // namespace
}  // namespace sennit::test
