// Tests the parts of the stencil kernel. Breaks when the star has a wrong weight or reach, when
// shares leave out or repeat a cell, when a tile reads or raises a wrong cell, or when the check
// misses cells that are wrong in opposite directions.
#include "tile.hpp"

#include "common/failure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace stencil {
namespace {

double weight_by_definition(int k, int radius) {
    return k == 0 ? 0.0 : 1.0 / (2.0 * k * radius);
}

TEST(Kernel, a_star_has_the_weights_of_the_suite) {
    constexpr std::ptrdiff_t kCells = 23;
    for (int radius = 1; radius <= kStencilMaxRadius; ++radius) {
        std::vector<std::vector<double>> field(static_cast<std::size_t>(2 * radius + 1));
        std::vector<const double *> rows;
        double seed = 1;
        for (auto &row : field) {
            for (std::ptrdiff_t i = 0; i < kCells; ++i)
                row.push_back(std::sin(seed += 0.7));
            rows.push_back(row.data());
        }
        std::vector<double> out(kCells, 0.5);
        stencil_add_star(radius, out.data(), rows.data(), radius, kCells - radius);
        for (int i = 0; i < kCells; ++i) {
            double expected = 0.5;
            const bool inside = i >= radius && i < kCells - radius;
            for (int k = -radius; k <= radius && inside; ++k) {
                const auto at = static_cast<std::size_t>(i);
                const double weight = weight_by_definition(k, radius);
                expected += weight * field[static_cast<std::size_t>(radius + k)][at];
                expected += weight * rows[radius][i + k];
            }
            EXPECT_NEAR(out[static_cast<std::size_t>(i)], expected, 1e-14) << radius << ' ' << i;
        }
    }
}

TEST(Decomposition, shares_cover_every_cell_once_and_differ_by_one) {
    for (const std::ptrdiff_t count : {5, 16, 53}) {
        for (int shares = 1; shares <= 5; ++shares) {
            std::ptrdiff_t next = 0;
            for (int index = 0; index < shares; ++index) {
                const Span span = share_of(count, shares, index);
                EXPECT_EQ(span.begin, next);
                EXPECT_GE(span.count(), count / shares);
                EXPECT_LE(span.count(), count / shares + 1);
                next = span.end;
            }
            EXPECT_EQ(next, count);
        }
    }
}

TEST(Decomposition, neighbours_are_each_others_neighbours) {
    for (const int ranks : {1, 2, 3, 4, 6, 8, 12}) {
        const Decomposition all(60, 2, ranks, {0, 0});
        EXPECT_EQ(all.grid()[0] * all.grid()[1], ranks);
        EXPECT_LE(all.grid()[0], all.grid()[1]);
        for (int rank = 0; rank < ranks; ++rank) {
            for (const Side side : kAllSides) {
                const int peer = all.neighbour(rank, side);
                if (peer < 0) continue;
                EXPECT_EQ(all.neighbour(peer, opposite(side)), rank);
                const Shape mine = all.shape(rank), theirs = all.shape(peer);
                if (side == kEast) {
                    EXPECT_EQ(mine.x.end, theirs.x.begin);
                } else if (side == kNorth) {
                    EXPECT_EQ(mine.y.end, theirs.y.begin);
                }
            }
        }
    }
    EXPECT_EQ(Decomposition(60, 2, 8, {0, 0}).grid(), (std::array{2, 4}));
    EXPECT_EQ(Decomposition(60, 2, 7, {0, 0}).grid(), (std::array{1, 7}));
}

TEST(Decomposition, impossible_decompositions_are_refused) {
    EXPECT_THROW(Decomposition(4, 2, 1, {0, 0}), apps::Failure);
    EXPECT_THROW(Decomposition(60, 0, 1, {0, 0}), apps::Failure);
    EXPECT_THROW(Decomposition(60, 5, 1, {0, 0}), apps::Failure);
    EXPECT_THROW(Decomposition(60, 2, 4, {3, 1}), apps::Failure);
    EXPECT_THROW(Decomposition(60, 2, 2, {4, 0}), apps::Failure);
    EXPECT_THROW(Decomposition(7, 2, 4, {1, 4}), apps::Failure);
    EXPECT_NO_THROW(Decomposition(8, 2, 4, {1, 4}));
}

// All ranks in one thread; a rank's ghosts are its neighbours' cells.
struct Job {
    Job(std::ptrdiff_t size, int radius, int ranks, std::array<int, 2> grid, bool in_place = true)
        : all(size, radius, ranks, grid) {
        for (int rank = 0; rank < ranks; ++rank) {
            memory.emplace_back(all.shape(rank).cells(), std::nan(""));
            tiles.push_back(std::make_unique<Tile>(all, rank, memory.back().data()));
            tiles.back()->fill({0, all.shape(rank).y.count()});
            tiles.back()->pack_columns();
        }
        sources.resize(tiles.size());
        for (int rank = 0; rank < ranks; ++rank) {
            const auto at = static_cast<std::size_t>(rank);
            for (const Side side : kAllSides) {
                const int peer = all.neighbour(rank, side);
                if (peer < 0) continue;
                const double *theirs = memory[static_cast<std::size_t>(peer)].data();
                sources[at].push_back(
                    tiles[at]->take_ghosts(side, theirs, all.shape(peer), in_place));
            }
        }
    }

    // One iteration; if `take` is false, the ghosts stay those of the iteration before.
    void iterate(bool take) {
        for (std::size_t at = 0; at < tiles.size(); ++at) {
            Tile &tile = *tiles[at];
            for (const Tile::Source &source : sources[at]) {
                if (take) tile.fill_ghosts(source);
            }
            tile.apply(tile.south_rows());
            tile.apply(tile.inner_rows());
            tile.apply(tile.north_rows());
        }
        for (auto &tile : tiles) {
            tile->refresh_edges();
            tile->refresh_inner();
        }
    }

    stencil_sums sums(double expected) const {
        stencil_sums all_sums{0, 0};
        for (const auto &tile : tiles) {
            const stencil_sums mine = tile->sums(expected);
            all_sums.norm += mine.norm;
            all_sums.deviation = std::max(all_sums.deviation, mine.deviation);
        }
        return all_sums;
    }

    Decomposition all;
    std::vector<std::vector<double>> memory;
    std::vector<std::unique_ptr<Tile>> tiles;
    std::vector<std::vector<Tile::Source>> sources;
};

TEST(Tile, every_grid_of_ranks_gives_the_same_answer) {
    constexpr std::ptrdiff_t kSize = 21;
    for (int radius = 1; radius <= kStencilMaxRadius; ++radius) {
        for (const std::array<int, 2> grid : {std::array{1, 1}, {2, 1}, {1, 3}, {2, 2}, {4, 4}}) {
            Job job(kSize, radius, grid[0] * grid[1], grid, radius % 2 == 0);
            for (int iteration = 0; iteration < 5; ++iteration)
                job.iterate(true);
            const double active = static_cast<double>(kSize - 2 * radius);
            const stencil_sums sums = job.sums(10);
            EXPECT_NEAR(sums.norm, 10 * active * active, 1e-8) << radius << ' ' << grid[0];
            EXPECT_LT(sums.deviation, 1e-10);
        }
    }
}

// Two ranks that both keep old columns of each other are wrong by the same amount in opposite
// directions.
TEST(Tile, stale_ghosts_are_found_although_the_norm_is_right) {
    Job job(20, 2, 2, {2, 1});
    job.iterate(true);
    job.iterate(false);
    const stencil_sums sums = job.sums(4);
    EXPECT_NEAR(sums.norm, 4.0 * 16 * 16, 1e-8);
    EXPECT_GT(sums.deviation, 0.1);
}

TEST(Tile, a_spoilt_cell_is_found) {
    Job job(20, 2, 1, {1, 1});
    job.iterate(true);
    EXPECT_LT(job.sums(2).deviation, 1e-12);
    job.tiles[0]->spoil();
    EXPECT_GT(job.sums(2).deviation, 0.5);
}

}  // namespace
}  // namespace stencil
