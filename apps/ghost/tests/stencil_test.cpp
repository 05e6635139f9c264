// Tests the computation against its definition, cell by cell. Breaks when a neighbour is missed or
// counted twice, when the amount that leaves the grid is miscounted at a side, an edge or a corner,
// or when a cell depends on the shape of its block.
#include "../stencil.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace ghost {
namespace {

constexpr Stencil kStencils[] = {Stencil::points5, Stencil::points7, Stencil::points9,
                                 Stencil::points27};
constexpr OuterSides kAlone{true, true, true, true, true, true};

bool is_point(Stencil stencil, int x, int y, int z) {
    const int distance = std::abs(x) + std::abs(y) + std::abs(z);
    switch (stencil) {
        case Stencil::points5:
            return z == 0 && distance <= 1;
        case Stencil::points7:
            return distance <= 1;
        case Stencil::points9:
            return z == 0;
        case Stencil::points27:
            break;
    }
    return true;
}

// Random own cells, zeros around them.
std::vector<double> random_field(const Extent &extent) {
    std::mt19937_64 random(extent.cells());
    std::uniform_real_distribution<double> value(0, 1);
    std::vector<double> cells(extent.cells());
    for (std::size_t k = 1; k <= extent.nz; ++k) {
        for (std::size_t j = 1; j <= extent.ny; ++j) {
            for (std::size_t i = 1; i <= extent.nx; ++i)
                cells[extent.at(i, j, k)] = value(random);
        }
    }
    return cells;
}

double mean_around(Stencil stencil, const Extent &extent, const std::vector<double> &cells,
                   std::size_t at) {
    double total = 0;
    for (int z = -1; z <= 1; ++z) {
        for (int y = -1; y <= 1; ++y) {
            for (int x = -1; x <= 1; ++x) {
                if (!is_point(stencil, x, y, z)) continue;
                const std::ptrdiff_t distance = x + y * static_cast<std::ptrdiff_t>(extent.row()) +
                                                z * static_cast<std::ptrdiff_t>(extent.plane());
                total += cells[at + static_cast<std::size_t>(distance)];
            }
        }
    }
    return total / static_cast<double>(stencil);
}

const std::vector<Extent> kExtents{{1, 1, 1}, {2, 1, 3}, {1, 4, 2}, {7, 5, 3}, {19, 4, 6}};

TEST(Stencil, every_cell_becomes_the_mean_of_its_points) {
    for (const Stencil stencil : kStencils) {
        for (const Extent &extent : kExtents) {
            std::vector<double> from = random_field(extent);
            std::vector<double> to(extent.cells(), -7);
            step(stencil, extent, from.data(), to.data());
            for (std::size_t k = 0; k < extent.nz + 2; ++k) {
                for (std::size_t j = 0; j < extent.ny + 2; ++j) {
                    for (std::size_t i = 0; i < extent.nx + 2; ++i) {
                        const std::size_t at = extent.at(i, j, k);
                        const bool own = i >= 1 && i <= extent.nx && j >= 1 && j <= extent.ny &&
                                         k >= 1 && k <= extent.nz;
                        if (own) {
                            EXPECT_NEAR(to[at], mean_around(stencil, extent, from, at), 1e-15);
                        } else {
                            EXPECT_EQ(to[at], -7);
                        }
                    }
                }
            }
        }
    }
}

TEST(Stencil, the_sum_of_cells_and_outflow_is_constant) {
    for (const Stencil stencil : kStencils) {
        for (const Extent &extent : kExtents) {
            std::vector<double> from = random_field(extent), to(extent.cells());
            const double before = sum(extent, from.data());
            const double lost = flux_out(stencil, extent, kAlone, from.data());
            step(stencil, extent, from.data(), to.data());
            EXPECT_GT(lost, 0);
            EXPECT_NEAR(sum(extent, to.data()) + lost, before, 1e-13 * before);
        }
    }
}

TEST(Stencil, nothing_leaves_through_sides_with_a_neighbour) {
    const Extent extent{6, 5, 4};
    const std::vector<double> cells = random_field(extent);
    for (const Stencil stencil : kStencils) {
        EXPECT_EQ(flux_out(stencil, extent, OuterSides{}, cells.data()), 0);
        double all = 0;
        for (const apps::Side side : apps::kAllSides) {
            OuterSides one{};
            one[side] = true;
            const double lost = flux_out(stencil, extent, one, cells.data());
            const bool flat = !reads_along_z(stencil) && apps::axis_of(side) == 2;
            EXPECT_EQ(lost > 0, !flat);
            all += lost;
        }
        // Through edges and corners a diagonal point leaves by two or three sides at once.
        const double together = flux_out(stencil, extent, kAlone, cells.data());
        if (reads_edges(stencil)) {
            EXPECT_LT(together, all);
        } else {
            EXPECT_NEAR(together, all, 1e-13);
        }
    }
}

TEST(Stencil, a_block_cut_in_two_gives_the_same_to_the_bit) {
    const Extent whole{9, 6, 5};
    std::vector<double> cells = random_field(whole);
    for (const Stencil stencil : kStencils) {
        std::vector<double> expected(whole.cells());
        step(stencil, whole, cells.data(), expected.data());
        for (std::size_t left = 1; left < whole.nx; ++left) {
            const Extent part{left, whole.ny, whole.nz};
            std::vector<double> from(part.cells()), to(part.cells());
            for (std::size_t row = 0; row < part.cells() / part.row(); ++row) {
                for (std::size_t i = 0; i < part.row(); ++i)
                    from[row * part.row() + i] = cells[row * whole.row() + i];
            }
            step(stencil, part, from.data(), to.data());
            for (std::size_t k = 1; k <= part.nz; ++k) {
                for (std::size_t j = 1; j <= part.ny; ++j) {
                    for (std::size_t i = 1; i <= left; ++i)
                        EXPECT_EQ(to[part.at(i, j, k)], expected[whole.at(i, j, k)]);
                }
            }
        }
    }
}

TEST(Stencil, the_step_packs_the_cells_at_the_ends_of_rows) {
    const Extent extent{7, 5, 3};
    std::vector<double> from = random_field(extent);
    for (const Stencil stencil : kStencils) {
        std::vector<double> to(extent.cells());
        const Slab west = inner_slab(extent, apps::west, Width::narrow);
        const Slab east = inner_slab(extent, apps::east, Width::narrow);
        std::vector<double> of_west(west.cells()), of_east(east.cells());
        std::vector<double> expected_west(west.cells()), expected_east(east.cells());
        step(stencil, extent, from.data(), to.data(), {of_west.data(), of_east.data()});
        pack(west, to.data(), expected_west.data());
        pack(east, to.data(), expected_east.data());
        EXPECT_EQ(of_west, expected_west);
        EXPECT_EQ(of_east, expected_east);
    }
}

TEST(Stencil, outer_cells_may_lie_in_other_buffers) {
    const Extent extent{7, 5, 3};
    for (const Stencil stencil : {Stencil::points5, Stencil::points7}) {
        std::vector<double> from = random_field(extent), filled = from;
        std::array<std::vector<double>, apps::kSides> beyond;
        std::array<OuterRows, apps::kSides> rows;
        for (const apps::Side side : apps::kAllSides) {
            const Slab slab = outer_slab(extent, side, Width::narrow);
            beyond[side].resize(slab.cells());
            std::iota(beyond[side].begin(), beyond[side].end(), 100.0 * static_cast<int>(side));
            unpack(slab, beyond[side].data(), filled.data());
            rows[side] = {beyond[side].data(), slab.row_cells};
        }
        const Outer outer{rows[apps::west].first, rows[apps::east].first, rows[apps::south],
                          rows[apps::north],      rows[apps::down],       rows[apps::up]};
        std::vector<double> to(extent.cells()), expected = to;
        step(stencil, extent, filled.data(), expected.data());
        step(stencil, extent, from.data(), to.data(), {}, outer);
        EXPECT_EQ(to, expected);
    }
}

TEST(Stencil, the_sum_covers_own_cells_only) {
    const Extent extent{17, 3, 2};
    std::vector<double> cells(extent.cells(), 1.0);
    EXPECT_EQ(sum(extent, cells.data()), 17 * 3 * 2);
}

}  // namespace
}  // namespace ghost
