// Tests the grid and the kernel. Breaks when a column has no owner or two, when the kernel computes
// another stencil or stops at the wrong cell, or when a wrong cell is accepted.
#include "grid.hpp"
#include "options.hpp"

#include "common/failure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace p2p {
namespace {

using testing::HasSubstr;

TEST(Share, every_computed_column_has_one_owner) {
    for (std::int64_t columns = 2; columns < 40; ++columns) {
        for (int ranks = 1; ranks < columns; ++ranks) {
            std::int64_t next = 1, least = columns, most = 0;
            for (int rank = 0; rank < ranks; ++rank) {
                const Share share = share_of(columns, ranks, rank);
                EXPECT_EQ(share.first, next);
                next += share.columns;
                least = std::min(least, share.columns);
                most = std::max(most, share.columns);
            }
            EXPECT_EQ(next, columns);
            EXPECT_LE(most - least, 1);
        }
    }
}

TEST(Share, more_ranks_than_columns_are_refused) {
    EXPECT_THROW(share_of(4, 4, 0), apps::Failure);
}

// All strips of a grid, swept one after another by one thread.
class Strips {
  public:
    Strips(std::int64_t columns, std::int64_t lines, int ranks, std::int64_t group) {
        for (int rank = 0; rank < ranks; ++rank) {
            lefts_.emplace_back(static_cast<std::size_t>(lines));
            grids_.emplace_back(Grid::Size{columns, lines}, group, share_of(columns, ranks, rank));
            grids_.back().fill(lefts_.back().data());
        }
    }
    void sweep() {
        const std::int64_t lines = grids_.front().strip().lines;
        std::vector<double> scratch(static_cast<std::size_t>(lines));
        for (std::size_t rank = 0; rank < grids_.size(); ++rank) {
            double *right = rank + 1 < grids_.size() ? lefts_[rank + 1].data() : scratch.data();
            p2p_block(&grids_[rank].strip(), 1, lines - 1, right);
        }
        lefts_.front().front() = -scratch.back();
    }
    Grid &grid(std::size_t rank) { return grids_[rank]; }
    double *left(std::size_t rank) { return lefts_[rank].data(); }

  private:
    std::vector<std::vector<double>> lefts_;
    std::vector<Grid> grids_;
};

TEST(Kernel, sweeps_give_the_known_values_on_any_number_of_strips) {
    for (const int ranks : {1, 2, 3, 7}) {
        Strips strips(11, 6, ranks, 1);
        for (std::int64_t sweep = 1; sweep <= 4; ++sweep) {
            strips.sweep();
            for (int rank = 0; rank < ranks; ++rank)
                EXPECT_NO_THROW(strips.grid(static_cast<std::size_t>(rank)).verify(sweep));
        }
        EXPECT_THROW(strips.grid(0).verify(3), apps::Failure);
        const p2p_strip &last = strips.grid(static_cast<std::size_t>(ranks - 1)).strip();
        EXPECT_EQ(last.cells[last.columns * last.lines - 1], 4 * (11 + 6 - 2));
        EXPECT_EQ(strips.grid(0).verification_value(4), 4 * (11 + 6 - 2));
    }
}

TEST(Kernel, a_block_leaves_other_lines_alone) {
    Strips strips(5, 9, 1, 1);
    std::vector<double> right(9, -1.0);
    p2p_block(&strips.grid(0).strip(), 1, 3, right.data());
    EXPECT_EQ(right, (std::vector<double>{-1, 5, 6, 7, -1, -1, -1, -1, -1}));
    EXPECT_EQ(strips.grid(0).strip().cells[4 * 4], 0.0);
}

TEST(Grid, one_wrong_cell_is_found) {
    Strips strips(8, 5, 2, 1);
    strips.sweep();
    const p2p_strip &strip = strips.grid(1).strip();
    for (std::int64_t cell = strip.columns; cell < strip.columns * strip.lines; ++cell) {
        const double right = strip.cells[cell];
        strip.cells[cell] += 1e-3;
        EXPECT_THROW(strips.grid(1).verify(1), apps::Failure) << cell;
        strip.cells[cell] = right;
    }
    EXPECT_NO_THROW(strips.grid(1).verify(1));
}

TEST(Grid, a_wrong_left_column_is_found) {
    Strips strips(8, 5, 2, 1);
    strips.left(0)[4] += 1;
    strips.sweep();
    EXPECT_THROW(strips.grid(0).verify(1), apps::Failure);
    EXPECT_THROW(strips.grid(1).verify(1), apps::Failure);
}

TEST(Grid, a_group_is_no_longer_than_the_grid) {
    EXPECT_EQ(Grid({5, 4}, 100, share_of(5, 1, 0)).strip().group, 3);
}

std::string refused(std::vector<const char *> words) {
    words.insert(words.begin(), "p2p");
    try {
        parse_options(static_cast<int>(words.size()), words.data(), {"one", "other"});
    } catch (const apps::Failure &failure) {
        return failure.what();
    }
    return "taken";
}

TEST(Options, the_lines_default_to_the_number_of_columns) {
    const char *words[] = {"p2p", "--columns", "7", "--way", "other"};
    const Options options = parse_options(5, words, {"one", "other"});
    EXPECT_EQ(options.lines, 7);
    EXPECT_EQ(options.way, "other");
    EXPECT_TRUE(options.help.empty());
}

TEST(Options, wrong_options_are_refused) {
    EXPECT_THAT(refused({"--columns", "1"}), HasSubstr("--columns"));
    EXPECT_THAT(refused({"--lines", "1"}), HasSubstr("--lines"));
    EXPECT_THAT(refused({"--iterations", "0"}), HasSubstr("--iterations"));
    EXPECT_THAT(refused({"--group", "0"}), HasSubstr("--group"));
    EXPECT_THAT(refused({"--way", "third"}), HasSubstr("--way"));
    EXPECT_THAT(refused({"--size", "3"}), HasSubstr("--size"));
}

}  // namespace
}  // namespace p2p
