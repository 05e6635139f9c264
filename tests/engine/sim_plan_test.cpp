// Plans over the path sim. Broken by a run that waits for one piece after the other, adjacent
// pieces that go separately, or others that go together.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <algorithm>
#include <string>
#include <vector>

#include "blocks.hpp"

namespace sennit::test {
namespace {

constexpr std::size_t kMessages = 30;
constexpr std::size_t kPart = 16;

// The cost of a run of rank 0's plan: steps of the network, puts, tasks (a separate event is a
// task), and events in completion data.
struct Cost {
    std::uint64_t steps = 0;
    std::uint64_t moves = 0;
    std::uint64_t tasks = 0;
    std::uint64_t events = 0;
};

enum class How : std::uint8_t { plan, calls, batch };

// A piece at a place of rank `peer` and a place of the private buffer.
struct Recorded {
    int peer;
    std::size_t place;
    std::size_t local;
    std::size_t bytes;
    bool is_get = false;
};

bool is_sent_to(const std::vector<Recorded> &pieces, int rank) {
    return std::any_of(pieces.begin(), pieces.end(),
                       [rank](const Recorded &one) { return one.peer == rank; });
}

// The epoch's messages, one by one or in a batch.
void send(const Blocks &blocks, const std::vector<Recorded> &pieces, std::uint64_t epoch,
          bool notified, char *data, bool in_a_batch) {
    const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch, 0};
    std::vector<sennit_notify_part> parts;
    for (const Recorded &one : pieces)
        parts.push_back({blocks.peers[static_cast<std::size_t>(one.peer)], SENNIT_OK, one.place,
                         data + one.local, one.bytes, notified ? &notice : nullptr});
    std::size_t done = 0;
    if (in_a_batch)
        blocks.ok(sennit_put_notify_batch(parts.size(), parts.data(), &done), "put_notify_batch");
    if (in_a_batch) blocks.ok(sennit_flush_all(kLong), "flush_all");
    for (const sennit_notify_part &one : parts) {
        if (in_a_batch) break;
        blocks.ok(notified ? sennit_put_notify_with(one.block, one.offset, one.local, one.bytes,
                                                    one.notice)
                           : sennit_put_notify(one.block, one.offset, one.local, one.bytes),
                  "put_notify");
        blocks.ok(sennit_flush_all(kLong), "flush_all");
    }
}

// Runs the plan twice and returns the cost of the second run. Each owner gets `events` events per
// run; the network's puts have `bits` bits of completion data.
Cost cost_of(const std::vector<Recorded> &pieces, std::uint32_t events, How how = How::plan,
             int bits = 0) {
    const bool in_a_plan = how == How::plan;
    Job job(3, "sim:lockstep=1+events=" + std::to_string(bits) + "+delay=20");
    Cost cost;
    job.run([&](int rank) {
        const Blocks blocks(job, rank, 3, events);
        std::vector<char> data(kBytes);
        for (std::size_t i = 0; i < kBytes; ++i)
            data[i] = static_cast<char>(i * 7 % 251);
        sennit_plan plan = SENNIT_PLAN_NULL;
        if (rank == 0) blocks.ok(sennit_plan_create(&plan), "plan_create");
        for (const Recorded &one : pieces) {
            if (rank != 0 || !in_a_plan) continue;
            const sennit_peer_block peer = blocks.peers[static_cast<std::size_t>(one.peer)];
            char *local = data.data() + one.local;
            blocks.ok(one.is_get ? sennit_plan_get(plan, local, peer, one.place, one.bytes)
                                 : sennit_plan_put(plan, peer, one.place, local, one.bytes),
                      "plan_put");
        }
        if (rank == 0) blocks.ok(sennit_plan_commit(plan, 0, 1), "plan_commit");
        for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
            blocks.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
            // Pending operations of the barrier would count as steps.
            for (int i = 0; i < 300; ++i)
                blocks.ok(sennit_flush_all(kLong), "flush_all");
            if (rank == 0) {
                transport::sim::World *world = transport::sim::hold_world(*current_rank());
                const transport::sim::Counters before = transport::sim::counters(*world);
                if (in_a_plan) {
                    blocks.ok(sennit_plan_start(plan), "plan_start");
                    blocks.ok(sennit_plan_wait(plan, kLong), "plan_wait");
                    blocks.ok(sennit_flush_all(kLong), "flush_all");
                } else {
                    send(blocks, pieces, epoch, events != 0, data.data(), how == How::batch);
                }
                const transport::sim::Counters after = transport::sim::counters(*world);
                cost = {after.steps - before.steps, after.puts - before.puts,
                        after.tasks - before.tasks, after.events - before.events};
                transport::sim::release_world(world);
            } else if (events != 0 && is_sent_to(pieces, rank)) {
                blocks.ok(sennit_signal_wait(blocks.arrived, kLong), "wait");
                blocks.ok(sennit_signal_reset(blocks.arrived), "reset");
            }
            blocks.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        }
        const auto *own = static_cast<const char *>(sennit_ptr(blocks.memory));
        for (const Recorded &one : pieces)
            for (std::size_t i = 0; one.peer == rank && !one.is_get && i < one.bytes; ++i)
                if (own[one.place + i] != data[one.local + i]) job.note("a byte is wrong");
        if (rank == 0) blocks.ok(sennit_plan_destroy(plan), "plan_destroy");
        blocks.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
    });
    EXPECT_EQ(job.fault, "");
    return cost;
}

// Pieces to two ranks in turn, `apart` bytes from one to the next.
std::vector<Recorded> to_both(std::size_t apart, std::size_t part = kPart) {
    std::vector<Recorded> pieces;
    for (std::size_t i = 0; i < 2 * kMessages; ++i)
        pieces.push_back(
            {1 + static_cast<int>(i % 2), i / 2 * (part + apart), i / 2 * (part + apart), part});
    return pieces;
}

// The most puts of other ranks that are still in the barrier before the run.
constexpr std::uint64_t kOfBarriers = 8;

TEST(sim_plan, a_run_takes_far_fewer_trips_than_its_messages) {
    for (const std::uint32_t events : {static_cast<std::uint32_t>(kMessages), 0u}) {
        const Cost together = cost_of(to_both(8), events);
        const Cost one_by_one = cost_of(to_both(8), events, How::calls);
        EXPECT_LT(together.steps * 4, one_by_one.steps)
            << together.steps << " and " << one_by_one.steps << " steps";
    }
}

TEST(sim_plan, only_pieces_that_touch_on_both_sides_are_merged) {
    // Too long to be packed; all with the same number of events: each merged piece counts.
    constexpr std::size_t kLongPart = 128;
    EXPECT_GE(cost_of(to_both(8, kLongPart), kMessages).moves, 2 * kMessages);
    EXPECT_LE(cost_of(to_both(0, kLongPart), kMessages).moves, 2 + kOfBarriers);
    std::vector<Recorded> other_order;
    std::vector<Recorded> gap_here;
    std::vector<Recorded> empty_between;
    for (std::size_t i = 0; i < kMessages; ++i) {
        for (const int peer : {1, 2}) {
            const std::size_t at = i * kLongPart;
            const std::size_t backwards = (kMessages - 1) * kLongPart - at;
            other_order.push_back({peer, backwards, backwards, kLongPart});
            gap_here.push_back({peer, at, at + i * 8, kLongPart});
            empty_between.push_back({peer, i / 2 * kPart, i / 2 * kPart, i % 2 * kPart});
        }
    }
    EXPECT_GE(cost_of(other_order, kMessages).moves, 2 * kMessages);
    EXPECT_GE(cost_of(gap_here, kMessages).moves, 2 * kMessages);
    EXPECT_LE(cost_of(empty_between, kMessages).moves, 2 + kOfBarriers);
    // No data moves, but every event counts: otherwise the owners' waits would not end.
    std::vector<Recorded> empty;
    for (std::size_t i = 0; i < 2 * kMessages; ++i)
        empty.push_back({1 + static_cast<int>(i % 2), 0, 0, 0});
    (void)cost_of(empty, kMessages);
}

// 30 pieces of 16 bytes and a word each; a task has room for 20.
TEST(sim_plan, short_pieces_to_an_owner_are_packed_whether_they_notify_or_not) {
    for (const std::uint32_t events : {static_cast<std::uint32_t>(kMessages), 0u}) {
        const Cost cost = cost_of(to_both(8), events, How::plan, 64);
        EXPECT_EQ(cost.tasks, 2u * 2) << events << " events";
        EXPECT_EQ(cost.events, 0u);
        EXPECT_LE(cost.moves, kOfBarriers);
    }
}

// Broken by an event that is sent separately where it could use completion data or go with its
// data, or that uses completion data without room for it. A short message is one task.
TEST(sim_plan, events_go_with_their_data_if_the_path_has_room) {
    const std::vector<Recorded> brief{{1, 40, 8, 100}};
    const std::vector<Recorded> alone{{1, 40, 8, 1000}};
    for (const How how : {How::plan, How::calls, How::batch}) {
        for (const int bits : {0, 8, 32, 64}) {
            const Cost of_brief = cost_of(brief, 1, how, bits);
            EXPECT_EQ(of_brief.tasks, 1u) << bits << " bits";
            EXPECT_EQ(of_brief.events, 0u) << bits << " bits";
            const Cost of_alone = cost_of(alone, 1, how, bits);
            EXPECT_EQ(of_alone.tasks, 1u) << bits << " bits";
            EXPECT_EQ(of_alone.events, bits == 0 ? 0u : 1u) << bits << " bits";
        }
    }
    // All messages of a plan to an owner are one event in parts, and several owners are notified at
    // once. Bits that cannot distinguish parts make the event follow the data.
    const std::vector<Recorded> two{{1, 40, 8, 1000}, {1, 3000, 2000, 1000}};
    EXPECT_EQ(cost_of(two, 2, How::plan, 64).tasks, 1u);
    EXPECT_EQ(cost_of(two, 2, How::plan, 64).events, 2u);
    EXPECT_EQ(cost_of(two, 2, How::plan, 8).tasks, 1u);
    EXPECT_EQ(cost_of(two, 2, How::plan, 8).events, 0u);
    EXPECT_EQ(cost_of({{1, 40, 8, 1000}, {2, 40, 8, 1000}}, 1, How::plan, 64).tasks, 2u);
    EXPECT_EQ(cost_of({{1, 40, 8, 1000}, {2, 40, 8, 1000}}, 1, How::plan, 64).events, 2u);
}

}  // namespace
}  // namespace sennit::test
