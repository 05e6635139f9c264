// Tests the owners of cells. Breaks when a cell has no owner or two, when shares are unfair, or
// when neighbours disagree about their common side.
#include "decomposition.hpp"
#include "failure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace heat3d {
namespace {

void every_cell_has_one_owner(const Decomposition &decomposition) {
    const Triple all = decomposition.cells();
    std::vector<int> owners(static_cast<std::size_t>(all[0] * all[1] * all[2]));
    for (int rank = 0; rank < decomposition.ranks(); ++rank) {
        const Box box = decomposition.box(rank);
        for (std::int64_t k = box.begin[2]; k < box.begin[2] + box.cells[2]; ++k) {
            for (std::int64_t j = box.begin[1]; j < box.begin[1] + box.cells[1]; ++j) {
                for (std::int64_t i = box.begin[0]; i < box.begin[0] + box.cells[0]; ++i) {
                    ++owners.at(static_cast<std::size_t>(i + all[0] * (j + all[1] * k)));
                }
            }
        }
    }
    EXPECT_EQ(std::count(owners.begin(), owners.end(), 1),
              static_cast<std::ptrdiff_t>(owners.size()));
}

TEST(Decomposition, every_cell_belongs_to_one_rank) {
    for (const Triple &grid :
         {Triple{1, 1, 1}, Triple{2, 3, 1}, Triple{3, 2, 4}, Triple{5, 1, 7}}) {
        const Decomposition decomposition({5, 6, 7}, grid,
                                          static_cast<int>(grid[0] * grid[1] * grid[2]));
        every_cell_has_one_owner(decomposition);
    }
}

TEST(Decomposition, shares_differ_by_one_cell_at_most) {
    const Decomposition decomposition({11, 8, 7}, {4, 3, 2}, 24);
    Triple least = decomposition.box(0).cells, most = least;
    for (int rank = 0; rank < 24; ++rank) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            least[axis] = std::min(least[axis], decomposition.box(rank).cells[axis]);
            most[axis] = std::max(most[axis], decomposition.box(rank).cells[axis]);
        }
    }
    EXPECT_EQ(least, (Triple{2, 2, 3}));
    EXPECT_EQ(most, (Triple{3, 3, 4}));
}

TEST(Decomposition, the_first_box_is_the_longest_in_every_direction) {
    const Decomposition decomposition({11, 8, 7}, {4, 3, 2}, 24);
    for (int rank = 0; rank < 24; ++rank) {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            EXPECT_LE(decomposition.box(rank).cells[axis], decomposition.box(0).cells[axis]);
        }
    }
}

TEST(Decomposition, neighbours_agree_about_their_common_side) {
    const Decomposition decomposition({11, 8, 7}, {4, 3, 2}, 24);
    int links = 0;
    for (int rank = 0; rank < 24; ++rank) {
        for (const Side side : kAllSides) {
            const int peer = decomposition.neighbour(rank, side);
            if (peer < 0) continue;
            ++links;
            EXPECT_EQ(decomposition.neighbour(peer, opposite(side)), rank);
            const LayerShape mine = layer_shape(decomposition.box(rank).shape(), side);
            const LayerShape theirs = layer_shape(decomposition.box(peer).shape(), opposite(side));
            EXPECT_EQ(mine.row_cells, theirs.row_cells);
            EXPECT_EQ(mine.rows, theirs.rows);
            const auto axis = static_cast<std::size_t>(axis_of(side));
            const Box lower = decomposition.box(is_upper(side) ? rank : peer);
            const Box upper = decomposition.box(is_upper(side) ? peer : rank);
            EXPECT_EQ(lower.begin[axis] + lower.cells[axis], upper.begin[axis]);
        }
    }
    // Inner sides of a 4 x 3 x 2 grid, seen from both ends.
    EXPECT_EQ(links, 2 * (3 * 3 * 2 + 4 * 2 * 2 + 4 * 3 * 1));
}

TEST(Decomposition, outer_sides_have_no_neighbour) {
    const Decomposition decomposition({4, 4, 4}, {1, 1, 1}, 1);
    for (const Side side : kAllSides)
        EXPECT_EQ(decomposition.neighbour(0, side), -1);
}

TEST(Decomposition, the_chosen_grid_has_the_smallest_inner_sides) {
    EXPECT_EQ(choose_ranks_grid({64, 64, 64}, 8), (Triple{2, 2, 2}));
    EXPECT_EQ(choose_ranks_grid({256, 16, 16}, 4), (Triple{4, 1, 1}));
    EXPECT_EQ(choose_ranks_grid({16, 16, 256}, 6), (Triple{1, 1, 6}));
}

TEST(Decomposition, among_equal_grids_the_last_directions_are_cut) {
    EXPECT_EQ(choose_ranks_grid({64, 64, 64}, 2), (Triple{1, 1, 2}));
    EXPECT_EQ(choose_ranks_grid({64, 64, 64}, 4), (Triple{1, 2, 2}));
}

TEST(Decomposition, the_chosen_grid_leaves_every_rank_a_cell) {
    EXPECT_EQ(choose_ranks_grid({2, 2, 3}, 12), (Triple{2, 2, 3}));
    EXPECT_EQ(choose_ranks_grid({1, 1, 5}, 5), (Triple{1, 1, 5}));
}

TEST(Decomposition, more_ranks_than_cells_are_refused) {
    EXPECT_THROW(choose_ranks_grid({2, 2, 2}, 3), Failure);
    EXPECT_THROW(Decomposition({4, 4, 4}, {1, 1, 5}, 5), Failure);
}

TEST(Decomposition, wrong_grids_and_sizes_are_refused) {
    EXPECT_THROW(Decomposition({4, 4, 4}, {1, 1, 2}, 4), Failure);
    EXPECT_THROW(Decomposition({4, 4, 4}, {-1, -1, 4}, 4), Failure);
    EXPECT_THROW(Decomposition({0, 4, 4}, {1, 1, 1}, 1), Failure);
    const std::int64_t huge = std::int64_t{1} << 32;
    EXPECT_THROW(Decomposition({huge, huge, 4}, {huge, huge, 1}, 1), Failure);
}

}  // namespace
}  // namespace heat3d
