// What commit makes of the operations of a plan where load and store reach the blocks: moves, of
// which each stands for all operations that lie one behind the other on both sides. Would break:
// operations that touch and are moved one by one, or such that do not and are moved as one.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <cstdint>
#include <vector>

#include "plan/plan.hpp"
#include "runtime/process.hpp"

namespace sennit::test {
namespace {

constexpr std::size_t kBytes = 4096;

class Moves : public ::testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(sennit_init(nullptr), SENNIT_OK) << sennit_last_error()->text;
        ASSERT_EQ(sennit_alloc_local(2 * kBytes, 0, 0, &memory_), SENNIT_OK);
        ASSERT_EQ(sennit_signal_create(100, 100, &signal_), SENNIT_OK);
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
    // The sizes of the moves after commit, in their order.
    std::vector<std::uint64_t> committed() {
        EXPECT_EQ(sennit_plan_commit(handle_, 0, 1), SENNIT_OK) << sennit_last_error()->text;
        const plan::Plan &it = *plan::find(*current_rank(), handle_);
        EXPECT_TRUE(it.goes_at_once);
        std::vector<std::uint64_t> sizes;
        for (std::uint32_t i = 0; i < it.move_count; ++i)
            sizes.push_back(it.moves[i].bytes);
        return sizes;
    }
    using Sizes = std::vector<std::uint64_t>;

    sennit_gptr memory_ = SENNIT_GPTR_NULL;
    sennit_signal signal_ = SENNIT_SIGNAL_NULL;
    sennit_peer_block blocks_[2] = {};
    sennit_plan handle_ = SENNIT_PLAN_NULL;
    std::vector<char> local_;
};

TEST_F(Moves, what_touches_on_both_sides_is_one) {
    put(0, 0, 64);
    put(0, 8, 72);
    put(0, 16, 80, 24);
    put(0, 40, 104, 0);  // an event, and no data
    put(0, 40, 104);
    EXPECT_EQ(committed(), (Sizes{48}));
}

TEST_F(Moves, a_gap_on_either_side_divides_them) {
    put(0, 0, 0);
    put(0, 16, 8);
    put(0, 24, 24);
    put(0, 33, 32);
    put(0, 41, 40);
    EXPECT_EQ(committed(), (Sizes{8, 8, 8, 16}));
}

TEST_F(Moves, another_order_divides_them) {
    put(0, 8, 8);
    put(0, 0, 0);
    put(0, 16, 16);
    EXPECT_EQ(committed(), (Sizes{8, 8, 8}));
}

TEST_F(Moves, two_blocks_are_apart_although_they_touch) {
    put(0, kBytes - 8, 0);
    put(1, 0, 8);
    EXPECT_EQ(committed(), (Sizes{8, 8}));
}

TEST_F(Moves, what_is_recorded_for_another_block_or_direction_in_between_does_not_divide_them) {
    put(0, 0, 0);
    put(1, 0, 512);
    get(0, 100, 1024);
    put(0, 8, 8);
    get(0, 108, 1032);
    put(1, 8, 520, 16);
    EXPECT_EQ(committed(), (Sizes{16, 24, 16}));
}

}  // namespace
}  // namespace sennit::test
