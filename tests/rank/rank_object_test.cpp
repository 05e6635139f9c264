// The next rank of a process reuses a rank object while threads of the last rank may still read
// it.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <atomic>
#include <thread>

#include "memory/entry.hpp"
#include "rank/process.hpp"

namespace sennit::test {
namespace {

// Broken, under tsan, by a claim that constructs the object again with plain stores.
TEST(rank_object, calls_of_a_stale_thread_are_refused_while_the_object_is_claimed_again) {
    Rank *rank = nullptr;
    ASSERT_EQ(process_claim_rank(&rank), SENNIT_OK);
    std::atomic<bool> is_over{false};
    std::atomic<unsigned> rounds{0};
    std::thread stale([&, rank] {
        thread_rank = rank;
        while (!is_over) {
            std::uint64_t word = 0;
            int flag = 0;
            EXPECT_NE(sennit_put(sennit_gptr{0, 1, 0}, &word, sizeof word), SENNIT_OK);
            EXPECT_NE(sennit_channel_can_read(sennit_channel{1}, &flag), SENNIT_OK);
            EXPECT_NE(sennit_signal_test(sennit_signal{0, 1}, &flag), SENNIT_OK);
            EXPECT_NE(sennit_put_notify(sennit_peer_block{1}, 0, &word, sizeof word), SENNIT_OK);
            EXPECT_NE(sennit_barrier(SENNIT_TEAM_WORLD, 0), SENNIT_OK);
            ++rounds;
        }
        thread_rank = &nobody;
    });
    const Rank *first = rank;
    for (unsigned i = 0; i < 200 || rounds < 200; ++i) {
        process_release_rank(rank);
        ASSERT_EQ(process_claim_rank(&rank), SENNIT_OK);
        ASSERT_EQ(rank, first);
    }
    is_over = true;
    stale.join();
    process_release_rank(rank);
}

TEST(rank_object, a_claimed_object_has_nothing_of_the_former_rank) {
    Rank *rank = nullptr;
    ASSERT_EQ(process_claim_rank(&rank), SENNIT_OK);
    ASSERT_EQ(world_size(*rank), 0);
    rank->size = 7;
    rank->world_rank = 3;
    rank->near[5].store(reinterpret_cast<memory::SegmentEntry *>(64), std::memory_order_relaxed);
    rank->channel_table.show(rank);
    rank->signal_table.show(rank);
    rank->block_table.show(rank);
    rank->hook_count = 1;
    rank->short_waits = 9;
    rank->ended = 4;
    rank->first_dead = 2;
    rank->ended_elsewhere = 3;
    rank->mate_count = 5;
    rank->init_count = 2;
    rank->shares_process = true;
    process_release_rank(rank);
    Rank *again = nullptr;
    ASSERT_EQ(process_claim_rank(&again), SENNIT_OK);
    ASSERT_EQ(again, rank);
    EXPECT_EQ(rank->size, 0u);
    EXPECT_EQ(rank->world_rank, -1);
    EXPECT_EQ(rank->near[5].load(std::memory_order_relaxed), nullptr);
    EXPECT_EQ(rank->channel_table.first(), nullptr);
    EXPECT_EQ(rank->signal_table.first(), nullptr);
    EXPECT_EQ(rank->block_table.first(), nullptr);
    EXPECT_EQ(rank->hook_count, 0u);
    EXPECT_EQ(rank->short_waits, 0u);
    EXPECT_EQ(rank->ended, 0u);
    EXPECT_EQ(rank->first_dead, 0u);
    EXPECT_EQ(rank->ended_elsewhere, 0u);
    EXPECT_EQ(rank->mate_count, 0);
    EXPECT_EQ(rank->init_count, 0);
    EXPECT_FALSE(rank->shares_process);
    process_release_rank(rank);
}

}  // namespace
}  // namespace sennit::test
