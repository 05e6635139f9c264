// Batches of notified calls over the path sim. Broken by a batch that waits for one part after the
// other, by a part reported as done that is not counted, or the reverse.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "blocking_bound.hpp"
#include "blocks.hpp"
#include "job.hpp"

namespace sennit::test {
namespace {

// Steps of the network for 30 messages from rank 0 to each of two others.
std::uint64_t steps_of_messages(bool in_a_batch, bool with_signals) {
    constexpr std::size_t kMessages = 30;
    Job job(3, "sim:lockstep=1+events=0+delay=20");
    std::uint64_t steps = 0;
    job.run([&](int rank) {
        const Blocks blocks(job, rank, 3, with_signals ? kMessages : 0);
        if (rank == 0) {
            const std::uint64_t word = 7;
            const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 0, 0};
            std::vector<sennit_notify_part> parts;
            for (std::size_t i = 0; i < 2 * kMessages; ++i)
                parts.push_back({blocks.peers[1 + i % 2], SENNIT_OK, 8 * i,
                                 const_cast<std::uint64_t *>(&word), 8,
                                 with_signals ? &notice : nullptr});
            transport::sim::World *world = transport::sim::hold_world(*current_rank());
            const std::uint64_t before = transport::sim::counters(*world).steps;
            if (in_a_batch) {
                std::size_t done = 0;
                blocks.ok(sennit_put_notify_batch(parts.size(), parts.data(), &done), "batch");
                blocks.ok(sennit_flush_all(kLong), "flush_all");
            } else {
                for (const sennit_notify_part &part : parts) {
                    const sennit_status status =
                        with_signals
                            ? sennit_put_notify_with(part.block, part.offset, part.local,
                                                     part.bytes, part.notice)
                            : sennit_put_notify(part.block, part.offset, part.local, part.bytes);
                    blocks.ok(status, "put_notify");
                    blocks.ok(sennit_flush_all(kLong), "flush_all");
                }
            }
            steps = transport::sim::counters(*world).steps - before;
            transport::sim::release_world(world);
        } else if (with_signals) {
            blocks.ok(sennit_signal_wait(blocks.arrived, kLong), "wait");
        }
        blocks.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
    });
    EXPECT_EQ(job.fault, "");
    return steps;
}

TEST(sim_batch, a_batch_takes_far_fewer_trips_than_its_messages) {
    for (const bool with_signals : {true, false}) {
        const std::uint64_t one_by_one = steps_of_messages(false, with_signals);
        const std::uint64_t together = steps_of_messages(true, with_signals);
        EXPECT_LT(together * 6, one_by_one) << together << " and " << one_by_one << " steps";
    }
}

// Rails that lose operations, and any width of completion data: nothing is lost or counted twice.
// Two halves take turns, since senders run an epoch ahead.
TEST(sim_batch, batches_and_single_calls_are_counted_once_although_rails_fail) {
    for (int seed = 1; seed <= 8; ++seed) {
        const int bits[] = {0, 8, 16, 64};
        Job job(3, "sim:lockstep=1+order=0+rails=3+shaky=9+delay=30+events=" +
                       std::to_string(bits[seed % 4]) + "+seed=" + std::to_string(seed));
        constexpr std::uint32_t kMessages = 40;
        const auto body = [&](int rank) {
            const Blocks blocks(job, rank, 3, 2 * 3 * kMessages);
            for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
                std::uint64_t words[3 * kMessages];
                const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch, 0};
                const std::size_t half = epoch % 2 * kBytes / 2;
                std::vector<sennit_notify_part> parts;
                for (std::size_t i = 0; i < 3 * kMessages; ++i) {
                    words[i] = epoch * 1000 + i;
                    parts.push_back(
                        {blocks.peers[i % 3], SENNIT_OK,
                         half + 8 * (static_cast<std::size_t>(rank) * kMessages + i / 3), &words[i],
                         8, &notice});
                }
                std::size_t first = 0;
                while (first < parts.size()) {
                    std::size_t done = 0;
                    const sennit_status status =
                        sennit_put_notify_batch(parts.size() - first, parts.data() + first, &done);
                    first += done;
                    if (status != SENNIT_ERR_SIGNAL_EARLY) blocks.ok(status, "batch");
                    if (status != SENNIT_OK && status != SENNIT_ERR_SIGNAL_EARLY) return;
                    blocks.ok(sennit_flush_all(kLong), "flush_all");
                }
                for (std::size_t i = 0; i < 3 * kMessages; ++i)
                    blocks.ok(sennit_put_notify_with(blocks.peers[i % 3], 0, &words[i], 0, &notice),
                              "put_notify");
                blocks.ok(sennit_signal_wait(blocks.arrived, kLong), "wait");
                const auto *own =
                    static_cast<const std::uint64_t *>(sennit_ptr(blocks.memory)) + half / 8;
                for (std::size_t from = 0; from < 3; ++from)
                    for (std::size_t i = 0; i < kMessages; ++i)
                        if (own[from * kMessages + i] !=
                            epoch * 1000 + 3 * i + static_cast<std::size_t>(rank))
                            job.note("a word is wrong");
                blocks.ok(sennit_signal_reset(blocks.arrived), "reset");
            }
            blocks.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        };
        // The receiver may leave after the last put of the last barrier while the put's answer is
        // lost.
        job.run(body, {SENNIT_ERR_PEER_LOST});
        ASSERT_EQ(job.fault, "") << "seed " << seed;
    }
}

// The call times out while the data of one part moves: finished parts before and after it are
// reported as done, and that part continues and is counted once, as a whole. Broken by a part that
// is undone after its events have been counted.
void end_batch_in_time(int bits) {
    constexpr std::uint32_t kSmall = 5;
    constexpr std::size_t kAhead = 2;
    constexpr std::size_t kLarge = 128 * 1024;
    std::atomic<bool> is_over{false};
    // The large part takes some thousand trips one after the other, without its owner's help.
    Job job(2, "sim:max_piece=64+depth=1+delay=200+events=" + std::to_string(bits));
    job.run([&](int rank) {
        const Blocks blocks(job, rank, 2, kSmall + 1, 2 * kLarge);
        const std::vector<char> data(kLarge, 'x');
        sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 0, 0};
        // Afterwards events use completion data, if possible.
        for (std::uint32_t i = 0; rank == 0 && i <= kSmall; ++i)
            blocks.ok(sennit_put_notify_with(blocks.peers[1], 0, data.data(), 1024, &notice),
                      "put_notify");
        if (rank == 1) blocks.ok(sennit_signal_wait(blocks.arrived, kLong), "wait");
        if (rank == 1) blocks.ok(sennit_signal_reset(blocks.arrived), "reset");
        blocks.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        notice.epoch = 1;
        if (rank == 0) {
            std::vector<sennit_notify_part> parts;
            for (std::size_t i = 0; i <= kSmall; ++i)
                parts.push_back({blocks.peers[1], SENNIT_OK, 8 * i, const_cast<char *>(data.data()),
                                 i != kAhead ? 8 : kLarge, &notice});
            std::size_t done = 99;
            sennit_status status = SENNIT_OK;
            {
                const BlockingBound bound("0.03");
                status = sennit_put_notify_batch(parts.size(), parts.data(), &done);
            }
            is_over = true;
            if (status != SENNIT_ERR_TIMEOUT || done != kAhead)
                job.note(std::string(sennit_status_string(status)) + " at part " +
                         std::to_string(done));
            blocks.ok(sennit_flush_all(kLong), "flush_all");
            std::erase_if(parts,
                          [](const sennit_notify_part &part) { return part.status == SENNIT_OK; });
            if (parts.size() != 1) job.note(std::to_string(parts.size()) + " parts are not over");
        } else {
            while (!is_over)
                std::this_thread::yield();
            blocks.ok(sennit_signal_wait(blocks.arrived, kLong), "wait");
            const auto *const place = static_cast<const char *>(sennit_ptr(blocks.memory));
            if (std::memcmp(place + 8 * kAhead, data.data(), kLarge) != 0)
                job.note("an event has come before its data");
        }
        blocks.ok(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
        if (blocks.left() != (rank == 0 ? kSmall + 1 : 0)) job.note("counted wrongly");
    });
    EXPECT_EQ(job.fault, "") << bits << " bits";
}

TEST(sim_batch, a_timed_out_batch_goes_on_with_its_unfinished_parts) {
    end_batch_in_time(0);
    end_batch_in_time(64);
}

// One of two owners dies: the status of the other one's parts is correct.
TEST(sim_batch, each_part_has_its_own_status_after_the_death_of_an_owner) {
    std::uint64_t behind = 0;  // done parts after a failed one
    for (int seed = 1; seed <= 12; ++seed) {
        Job job(3, "sim:lockstep=1+order=0+delay=40+events=0+seed=" + std::to_string(seed));
        constexpr std::uint32_t kMost = 100'000;
        std::atomic<std::uint32_t> counted{0};
        std::atomic<bool> is_there{false};
        std::atomic<bool> over{false};
        job.run(
            [&](int rank) {
                const Blocks blocks(job, rank, 3, kMost);
                sennit_request none = SENNIT_REQUEST_NULL;
                int tested = 0;
                if (rank == 2) {
                    is_there = true;
                    while (sennit_test(&none, &tested) == SENNIT_OK && !over)
                        continue;
                    return;
                }
                if (rank == 0) {
                    transport::sim::World *world = transport::sim::hold_world(*current_rank());
                    const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 0, 0};
                    const std::uint64_t word = 1;
                    std::uint32_t expected = 0;
                    for (int round = 0; round < 1000; ++round) {
                        std::vector<sennit_notify_part> parts;
                        for (std::size_t i = 0; i < 12; ++i)
                            parts.push_back({blocks.peers[1 + i % 2], SENNIT_OK, 0,
                                             const_cast<std::uint64_t *>(&word), 8, &notice});
                        while (!is_there)
                            job.expect(sennit_test(&none, &tested), "test");
                        if (round == seed % 5 + 3) transport::sim::kill(*world, 2);
                        std::size_t done = 0;
                        const sennit_status status =
                            sennit_put_notify_batch(parts.size(), parts.data(), &done);
                        bool is_behind = false;
                        for (std::size_t i = 0; i < parts.size(); ++i) {
                            is_behind |= parts[i].status != SENNIT_OK;
                            if (i < done && is_behind) job.note("a part ahead is not done");
                            if (i == done && !is_behind) job.note("the part that failed is done");
                            if (parts[i].status == SENNIT_OK && i % 2 == 0) ++expected;
                            if (parts[i].status == SENNIT_OK && is_behind) ++behind;
                        }
                        if (status == SENNIT_OK) continue;
                        if (status != SENNIT_ERR_PEER_LOST) job.expect(status, "batch");
                        break;
                    }
                    job.expect(sennit_flush(1, kLong), "flush");
                    transport::sim::release_world(world);
                    counted = expected;
                    over = true;
                } else {
                    while (!over)
                        job.expect(sennit_test(&none, &tested), "test");
                    if (kMost - blocks.left() != counted)
                        job.note(std::to_string(counted) + " are said to be counted, and " +
                                 std::to_string(kMost - blocks.left()) + " have come");
                }
            },
            {SENNIT_ERR_PEER_LOST, SENNIT_ERR_TIMEOUT, SENNIT_ERR_STATE});
        ASSERT_EQ(job.fault, "") << "seed " << seed;
    }
    RecordProperty("behind", static_cast<int>(behind));
}

}  // namespace
}  // namespace sennit::test
