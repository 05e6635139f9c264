// Tests the parts of flow that need no other rank. Each test breaks when a formula is wrong: the
// regions of halos, the blocks of transposes, the differences and their wave numbers, the heights
// of cells, the options.
#include "cases.hpp"
#include "differences.hpp"
#include "grid.hpp"
#include "layout.hpp"
#include "options.hpp"
#include "pencils.hpp"

#include "common/failure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>
#include <set>

namespace flow {
namespace {

using testing::HasSubstr;

constexpr Triple kCells{14, 19, 17};

std::vector<Layout> layouts_of(std::int64_t y, std::int64_t z, int order) {
    std::vector<Layout> layouts;
    const int ranks = static_cast<int>(y * z);
    for (int rank = 0; rank < ranks; ++rank)
        layouts.emplace_back(kCells, std::array<std::int64_t, 2>{y, z}, ranks, rank, order);
    return layouts;
}

// The indices that a region's numbers have in the array.
std::vector<Count> places_of(const Extent &extent, const Region &region) {
    std::vector<Count> places;
    for (Count plane = 0; plane < region.planes; ++plane) {
        for (Count n = 0; n < region.rows * extent.row(); ++n)
            places.push_back(region.begin + plane * extent.plane() + n);
    }
    return places;
}

// The cell of the whole channel that belongs to a place in an array; y is periodic.
Triple cell_of(const Layout &layout, const Extent &extent, Count place) {
    const Margins &m = extent.margins;
    const Count i = place % extent.row() - m.x_low;
    const Count j = place / extent.row() % extent.rows() - m.y_low + layout.y_share().begin;
    const Count k = place / extent.plane() - m.z_low + layout.z_share().begin;
    return {i, (j + kCells[1]) % kCells[1], k};
}

TEST(Layout, sent_cells_are_the_neighbours_halo_cells) {
    for (const int order : {2, 4}) {
        for (const auto &[y, z] : {std::pair{1, 1}, {2, 1}, {1, 3}, {2, 2}, {3, 2}}) {
            const std::vector<Layout> all = layouts_of(y, z, order);
            for (const Layout &from : all) {
                for (const Neighbour &neighbour : from.neighbours()) {
                    const Layout &to = all[static_cast<std::size_t>(neighbour.rank)];
                    for (const bool velocity : {true, false}) {
                        const Extent &out = velocity ? from.velocity() : from.pressure();
                        const Extent &in = velocity ? to.velocity() : to.pressure();
                        const auto sent = places_of(out, from.sent(out, neighbour.to));
                        const auto got = places_of(in, to.received(in, neighbour.to.opposite()));
                        ASSERT_EQ(sent.size(), got.size());
                        for (std::size_t n = 0; n < sent.size(); ++n)
                            ASSERT_EQ(cell_of(from, out, sent[n]), cell_of(to, in, got[n]));
                    }
                }
            }
        }
    }
}

bool has(const Box &box, Count j, Count k) {
    return j >= box.rows.begin && j < box.rows.end() && k >= box.planes.begin &&
           k < box.planes.end();
}

// Whether a difference at a cell may read data that another rank fills.
bool reads_of_others(const Layout &layout, Count j, Count k) {
    const Extent &e = layout.velocity();
    const Count wide = layout.ranks_y() > 1 ? e.margins.y_low : 0;
    return j < wide || j >= e.ny - wide || (k == 0 && !layout.at_floor()) ||
           (k + 1 == e.nz && !layout.at_ceiling());
}

TEST(Layout, inner_cells_read_no_halo_of_others_and_all_cells_are_computed_once) {
    for (const int order : {2, 4}) {
        for (const auto &[y, z] : {std::pair{1, 1}, {2, 1}, {1, 3}, {3, 2}}) {
            for (const Layout &layout : layouts_of(y, z, order)) {
                const Box own = layout.own(), inner = layout.inner();
                std::vector<Box> boxes = beside(own, inner);
                if (!inner.is_empty()) boxes.push_back(inner);
                for (Count k = 0; k < own.planes.count; ++k) {
                    for (Count j = 0; j < own.rows.count; ++j) {
                        ASSERT_EQ(1, std::count_if(boxes.begin(), boxes.end(),
                                                   [&](const Box &box) { return has(box, j, k); }));
                        if (inner.is_empty()) continue;
                        ASSERT_NE(has(inner, j, k), reads_of_others(layout, j, k));
                    }
                }
            }
        }
    }
}

TEST(Layout, the_whole_box_is_beside_an_empty_part) {
    const Box box{{-1, 5}, {2, 3}};
    const std::vector<Box> boxes = beside(box, {{3, -1}, {2, 1}});
    ASSERT_EQ(1u, boxes.size());
    EXPECT_EQ(5, boxes[0].rows.count);
    EXPECT_EQ(3, boxes[0].planes.count);
}

TEST(Layout, all_of_a_halo_between_walls_comes_from_neighbours) {
    for (const Layout &layout : layouts_of(3, 3, 4)) {
        for (const Extent *e : {&layout.velocity(), &layout.pressure()}) {
            std::set<Count> filled;
            for (const Neighbour &neighbour : layout.neighbours()) {
                for (const Count place : places_of(*e, layout.received(*e, neighbour.to)))
                    ASSERT_TRUE(filled.insert(place).second);
            }
            const Margins &m = e->margins;
            const Count planes =
                e->nz + (layout.at_floor() ? 0 : m.z_low) + (layout.at_ceiling() ? 0 : m.z_high);
            const Count own = e->row() * e->ny * e->nz;
            EXPECT_EQ(static_cast<Count>(filled.size()), e->plane() * planes - own);
        }
    }
}

TEST(Layout, too_many_ranks_are_refused) {
    EXPECT_THROW(layouts_of(10, 1, 2), apps::Failure);
    EXPECT_THROW(layouts_of(1, 9, 2), apps::Failure);
    EXPECT_THROW(layouts_of(4, 1, 4), apps::Failure);
    EXPECT_THROW(Layout(kCells, {2, 2}, 3, 0, 2), apps::Failure);
}

TEST(Pencils, a_transpose_brings_every_number_to_its_place) {
    const std::vector<Layout> all = layouts_of(3, 1, 2);
    const Count nx = kCells[0], ny = kCells[1];
    std::vector<std::vector<double>> x_pencils, y_pencils;
    for (const Layout &layout : all) {
        std::vector<double> &x = x_pencils.emplace_back();
        for (Count k = 0; k < layout.z_share().count; ++k) {
            for (Count j = layout.y_share().begin; j < layout.y_share().end(); ++j) {
                for (Count i = 0; i < nx; ++i)
                    x.push_back(static_cast<double>(i + nx * (j + ny * k)));
            }
        }
        y_pencils.emplace_back(layout.x_share().count * ny * layout.z_share().count, -1.0);
    }
    for (std::size_t from = 0; from < all.size(); ++from) {
        for (std::size_t to = 0; to < all.size(); ++to) {
            const Block out = blocks_of_x_pencil(all[from], x_pencils[from].data())[to];
            const Block in = blocks_of_y_pencil(all[to], y_pencils[to].data())[from];
            ASSERT_EQ(out.size(), in.size());
            std::vector<double> packed(static_cast<std::size_t>(out.size()));
            if (from == to) {
                copy_own(out, in);
            } else {
                pack(out, packed.data());
                unpack(packed.data(), in);
            }
        }
    }
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        const double *at = y_pencils[rank].data();
        for (Count k = 0; k < all[rank].z_share().count; ++k) {
            for (Count j = 0; j < ny; ++j) {
                for (Count i = all[rank].x_share().begin; i < all[rank].x_share().end(); ++i)
                    ASSERT_EQ(*at++, static_cast<double>(i + nx * (j + ny * k)));
            }
        }
        // And back: now the source is the block of the y-pencil, whose rows are longer.
        const Block from = blocks_of_y_pencil(all[rank], y_pencils[rank].data())[rank];
        std::vector<double> x(x_pencils[rank].size(), -1.0);
        copy_own(from, blocks_of_x_pencil(all[rank], x.data())[rank]);
        const Share own = all[rank].x_share();
        for (std::size_t n = 0; n < x.size(); ++n) {
            const Count i = static_cast<Count>(n) % nx;
            const bool is_own = i >= own.begin && i < own.end();
            ASSERT_EQ(x[n], is_own ? x_pencils[rank][n] : -1.0);
        }
    }
}

template <int Order>
void expect_wave_number(Count cells, Count number) {
    const double step = 0.3;
    std::vector<double> wave(static_cast<std::size_t>(3 * cells));
    for (std::size_t n = 0; n < wave.size(); ++n) {
        wave[n] = std::cos(2 * std::numbers::pi * static_cast<double>(number) *
                           static_cast<double>(n) / static_cast<double>(cells));
    }
    std::vector<double> slope(wave.size());
    for (std::size_t n = 3; n + 3 < wave.size(); ++n)
        slope[n] = gradient<Order>(&wave[n], 1, 1 / step);
    const double squared = squared_wave_number(number, cells, step, Order);
    for (Count n = cells; n < 2 * cells; ++n) {
        const auto at = static_cast<std::size_t>(n);
        EXPECT_NEAR(divergence<Order>(&slope[at], 1, 1 / step), -squared * wave[at], 1e-11);
    }
}

TEST(Differences, divergence_after_gradient_has_the_wave_numbers_of_the_solver) {
    for (const Count number : {0, 1, 3, 6}) {
        expect_wave_number<2>(12, number);
        expect_wave_number<4>(12, number);
    }
}

TEST(Differences, kinetic_energy_is_neither_made_nor_lost) {
    // A constant velocity, which is free of divergence, transports q along one direction. The sum
    // of q times its change must be 0.
    constexpr Count cells = 11;
    std::vector<double> q(static_cast<std::size_t>(3 * cells));
    for (std::size_t n = 0; n < q.size(); ++n)
        q[n] =
            std::sin(static_cast<double>(n % cells) * 1.7) + 0.1 * static_cast<double>(n % cells);
    const auto carrier = [](Count) { return 0.8; };
    double second_sum = 0, fourth_sum = 0;
    for (Count n = cells; n < 2 * cells; ++n) {
        const double *const at = &q[static_cast<std::size_t>(n)];
        second_sum += *at * carried<2>(at, 1, 1, carrier);
        fourth_sum += *at * carried<4>(at, 1, 1, carrier);
    }
    EXPECT_NEAR(second_sum, 0, 1e-13);
    EXPECT_NEAR(fourth_sum, 0, 1e-13);
}

TEST(Grid, cells_fill_the_height_and_are_thinner_at_walls) {
    const Grid grid({4, 4, 10}, {1, 1, 3}, 2);
    double sum = 0;
    for (Count k = 0; k < 10; ++k) {
        sum += grid.height(k);
        EXPECT_NEAR(grid.height(k), grid.height(9 - k), 1e-14);
    }
    EXPECT_NEAR(sum, 3, 1e-14);
    EXPECT_LT(grid.height(0), 0.5 * grid.height(5));
    EXPECT_EQ(grid.height(-1), grid.height(0));
    EXPECT_NEAR(grid.distance(3), grid.centre(4) - grid.centre(3), 1e-14);
}

std::string parsed(Options &options, std::vector<const char *> words) {
    words.insert(words.begin(), "flow");
    std::string help;
    try {
        return parse_options(options, static_cast<int>(words.size()), words.data(), help) ? ""
                                                                                          : help;
    } catch (const apps::Failure &failure) {
        return failure.what();
    }
}

TEST(Options, the_command_line_overrides_the_file) {
    const std::string path = testing::TempDir() + "/flow-options.ini";
    std::ofstream(path) << "# a comment\ncells = 8,9,10\nviscosity = 0.25\nno-output = true\n";
    Options options;
    EXPECT_EQ(parsed(options, {"--viscosity", "0.5", "--config", path.c_str()}), "");
    EXPECT_EQ(options.cells, (Triple{8, 9, 10}));
    EXPECT_EQ(options.viscosity, 0.5);
    EXPECT_TRUE(options.no_output);
    std::ofstream(path) << "viscosty = 0.25\n";
    EXPECT_THAT(parsed(options, {"--config", path.c_str()}), HasSubstr("viscosty"));
    std::remove(path.c_str());
    EXPECT_THAT(parsed(options, {"--config", path.c_str()}), HasSubstr(path));
    EXPECT_THAT(parsed(options, {"--help"}), HasSubstr("--stretching"));
}

}  // namespace
}  // namespace flow
