// The moves that commit makes of a plan's operations if load and store reach the blocks: each move
// stands for all operations that are adjacent on both sides. Also plans of words alone: a start
// moves the words by stored offsets. Broken by adjacent operations that are moved one by one, or
// by operations that are merged although they are not adjacent.
#include <gtest/gtest.h>
#include <sennit/sennit.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "plan/plan.hpp"
#include "rank/process.hpp"

namespace sennit::test {
namespace {

constexpr std::size_t kBytes = 4096;

class Moves : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(sennit_init(nullptr), SENNIT_OK) << sennit_last_error()->text;
        ASSERT_EQ(sennit_alloc_local(2 * kBytes, 0, 0, &memory_), SENNIT_OK);
        ASSERT_EQ(sennit_signal_create(100, 100, 0, &signal_), SENNIT_OK);
        for (std::size_t i = 0; i < 2; ++i) {
            sennit_block block{};
            ASSERT_EQ(sennit_block_init({memory_, 2 * kBytes}, i * kBytes, kBytes, signal_, signal_,
                                        &block),
                      SENNIT_OK);
            ASSERT_EQ(sennit_block_attach(&block, &blocks_[i]), SENNIT_OK);
        }
        ASSERT_EQ(sennit_plan_create(&handle_), SENNIT_OK);
        local_.resize(2 * kBytes);
    }
    void TearDown() override { EXPECT_EQ(sennit_finalize(), SENNIT_OK); }

    void put(std::size_t block, std::size_t place, std::size_t local, std::size_t bytes = 8) {
        ASSERT_EQ(sennit_plan_put(handle_, blocks_[block], place, &local_[local], bytes),
                  SENNIT_OK);
    }
    void get(std::size_t block, std::size_t place, std::size_t local, std::size_t bytes = 8) {
        ASSERT_EQ(sennit_plan_get(handle_, &local_[local], blocks_[block], place, bytes),
                  SENNIT_OK);
    }
    // The sizes of the moves after commit, in order.
    std::vector<std::uint64_t> committed() {
        EXPECT_EQ(sennit_plan_commit(handle_, 0, 1), SENNIT_OK) << sennit_last_error()->text;
        const plan::Plan &recorded = *plan::find(*current_rank(), handle_);
        EXPECT_TRUE(recorded.goes_at_once);
        std::vector<std::uint64_t> sizes;
        for (std::uint32_t i = 0; i < recorded.move_count; ++i)
            sizes.push_back(recorded.moves[i].bytes);
        return sizes;
    }
    using Sizes = std::vector<std::uint64_t>;

    sennit_gptr memory_ = SENNIT_GPTR_NULL;
    sennit_signal signal_ = SENNIT_SIGNAL_NULL;
    sennit_peer_block blocks_[2] = {};
    sennit_plan handle_ = SENNIT_PLAN_NULL;
    std::vector<char> local_;
};

TEST_F(Moves, pieces_that_touch_on_both_sides_are_one_move) {
    put(0, 0, 64);
    put(0, 8, 72);
    put(0, 16, 80, 24);
    put(0, 40, 104, 0);  // an event without data
    put(0, 40, 104);
    EXPECT_EQ(committed(), (Sizes{48}));
}

TEST_F(Moves, a_gap_on_either_side_divides_moves) {
    put(0, 0, 0);
    put(0, 16, 8);
    put(0, 24, 24);
    put(0, 33, 32);
    put(0, 41, 40);
    EXPECT_EQ(committed(), (Sizes{8, 8, 8, 16}));
}

TEST_F(Moves, another_order_divides_moves) {
    put(0, 8, 8);
    put(0, 0, 0);
    put(0, 16, 16);
    EXPECT_EQ(committed(), (Sizes{8, 8, 8}));
}

TEST_F(Moves, two_touching_blocks_are_two_moves) {
    put(0, kBytes - 8, 0);
    put(1, 0, 8);
    EXPECT_EQ(committed(), (Sizes{8, 8}));
}

TEST_F(Moves, other_blocks_and_directions_in_between_do_not_divide_moves) {
    put(0, 0, 0);
    put(1, 0, 512);
    get(0, 100, 1024);
    put(0, 8, 8);
    get(0, 108, 1032);
    put(1, 8, 520, 16);
    EXPECT_EQ(committed(), (Sizes{16, 24, 16}));
}

// A plan that moves 64-bit words, and checks of the block's contents afterwards.
class WordMoves : public Moves {
  protected:
    // Puts word i of the private buffer to place 2 * (count - 1 - i) of the block, in words: the
    // addresses descend, so nothing is merged.
    void record(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            put(0, 16 * (count - 1 - i), 8 * i);
    }
    bool has_words() const { return plan::find(*current_rank(), handle_)->words.pairs != nullptr; }
    void fill(std::uint64_t salt, std::size_t count) {
        for (std::uint64_t i = 0; i < count; ++i)
            std::memcpy(&local_[8 * i], &(word_ = salt + i), 8);
    }
    std::uint64_t there(std::size_t place) {
        std::memcpy(&word_, static_cast<const char *>(sennit_ptr(memory_)) + place, 8);
        return word_;
    }
    void run(std::uint64_t salt, std::size_t count) {
        fill(salt, count);
        ASSERT_EQ(sennit_plan_start(handle_), SENNIT_OK) << sennit_last_error()->text;
        EXPECT_EQ(sennit_plan_start(handle_), SENNIT_ERR_STATE);
        ASSERT_EQ(sennit_plan_wait(handle_, 0), SENNIT_OK);
        for (std::size_t i = 0; i < count; ++i)
            EXPECT_EQ(there(16 * (count - 1 - i)), salt + i) << i << " of " << count;
    }
    std::uint32_t left() {
        std::uint32_t left = 0;
        EXPECT_EQ(sennit_signal_remaining(signal_, &left), SENNIT_OK);
        return left;
    }
    std::uint64_t word_ = 0;
};

// Broken by a word that is left out, within the groups of eight or after them; by an offset of one
// side that is used for the other; by events that are not counted, or counted in another epoch.
TEST_F(WordMoves, words_to_one_block_are_moved_and_counted_in_every_run) {
    for (const std::size_t count : {1u, 7u, 8u, 9u, 64u, 100u}) {
        ASSERT_EQ(sennit_plan_create(&handle_), SENNIT_OK);
        record(count);
        std::uint64_t epoch = 0;
        ASSERT_EQ(sennit_signal_epoch(signal_, &epoch), SENNIT_OK);
        ASSERT_EQ(sennit_plan_commit(handle_, epoch, 1), SENNIT_OK);
        ASSERT_TRUE(has_words());
        run(1000 * count, count);
        EXPECT_EQ(left(), 100 - count);
        run(5000 * count, count);  // for the next epoch, which does not count now
        EXPECT_EQ(left(), 100 - count);
        fill(0, count);
        EXPECT_EQ(sennit_plan_start(handle_), SENNIT_ERR_SIGNAL_EARLY);
        EXPECT_EQ(there(16 * (count - 1)), 5000 * count);
        for (int i = 0; i < 2; ++i) {
            const std::uint32_t rest = left();
            for (std::uint32_t k = 0; k < rest; ++k)
                ASSERT_EQ(sennit_signal_notify(signal_, epoch), SENNIT_OK);
            ASSERT_EQ(sennit_signal_reset(signal_), SENNIT_OK) << sennit_last_error()->text;
            ++epoch;
        }
        EXPECT_EQ(left(), 100u);
    }
}

// Broken by offsets of more than 32 bits.
TEST_F(WordMoves, distant_words_are_moved_too) {
    constexpr std::size_t kFar = std::size_t{5} << 30;
    void *const room = mmap(nullptr, kFar + 4096, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ASSERT_NE(room, MAP_FAILED);
    auto *const words = static_cast<std::uint64_t *>(room);
    words[0] = 11;
    words[kFar / 8] = 22;
    ASSERT_EQ(sennit_plan_put(handle_, blocks_[0], 0, words, 8), SENNIT_OK);
    ASSERT_EQ(sennit_plan_put(handle_, blocks_[0], 64, words + kFar / 8, 8), SENNIT_OK);
    ASSERT_EQ(sennit_plan_commit(handle_, 0, 1), SENNIT_OK);
    EXPECT_FALSE(has_words());
    ASSERT_EQ(sennit_plan_start(handle_), SENNIT_OK);
    ASSERT_EQ(sennit_plan_wait(handle_, 0), SENNIT_OK);
    EXPECT_EQ(there(0), 11u);
    EXPECT_EQ(there(64), 22u);
    EXPECT_EQ(munmap(room, kFar + 4096), 0);
}

// Broken by a piece that is treated as a word, or by a group that is left out.
TEST_F(WordMoves, other_sizes_or_several_blocks_make_no_plan_of_words) {
    put(0, 0, 0, 12);
    put(0, 32, 32);
    EXPECT_EQ(committed(), (Sizes{12, 8}));
    EXPECT_FALSE(has_words());
    ASSERT_EQ(sennit_plan_create(&handle_), SENNIT_OK);
    put(0, 0, 0);
    put(1, 0, 16);
    EXPECT_EQ(committed(), (Sizes{8, 8}));
    EXPECT_FALSE(has_words());
    fill(40, 3);
    ASSERT_EQ(sennit_plan_start(handle_), SENNIT_OK);
    EXPECT_EQ(there(0), 40u);
    EXPECT_EQ(there(kBytes), 42u);
    EXPECT_EQ(left(), 98u);
}

// Broken by a start that does not check whether the region and the attachment still exist.
TEST_F(WordMoves, words_are_not_sent_after_the_end_of_their_region_or_block) {
    record(9);
    ASSERT_EQ(sennit_plan_commit(handle_, 0, 1), SENNIT_OK);
    ASSERT_TRUE(has_words());
    run(70, 9);
    ASSERT_EQ(sennit_free(memory_), SENNIT_OK);
    EXPECT_EQ(sennit_plan_start(handle_), SENNIT_ERR_NOT_REGISTERED);
    ASSERT_EQ(sennit_block_detach(blocks_[0]), SENNIT_OK);
    EXPECT_EQ(sennit_plan_start(handle_), SENNIT_ERR_ARG);
    EXPECT_EQ(left(), 91u);
}

}  // namespace
}  // namespace sennit::test
