// Tests the kernel, the layers around a block, and the physics. Breaks when a cell depends on the
// decomposition, when a side is mixed up with another, or when the time step is not stable.
#include "decomposition.hpp"
#include "failure.hpp"
#include "kernel.hpp"
#include "problem.hpp"
#include "times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace heat3d {
namespace {

std::vector<double> random_cells(std::size_t count) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> between(-50, 50);
    std::vector<double> cells(count);
    std::generate(cells.begin(), cells.end(), [&] { return between(random); });
    return cells;
}

// One step of the whole grid with one value beyond each side.
std::vector<double> step_whole(const Shape &shape, const std::vector<double> &cells,
                               const std::vector<double> &beyond, const Stencil &stencil) {
    Block block{shape, cells.data(), {}};
    for (const Side side : kAllSides) {
        block.around[side] = {beyond.data() + side * static_cast<std::ptrdiff_t>(shape.nx),
                              axis_of(side) == 0 ? 0 : 1, 0};
    }
    std::vector<double> result(shape.cells());
    step(block, {result.data(), {}}, stencil, false);
    return result;
}

// The same, cut into boxes whose outer layers are copies of the neighbours' inner ones.
std::vector<double> step_cut(const Decomposition &cut, const std::vector<double> &cells,
                             const std::vector<double> &beyond, const Stencil &stencil,
                             double *largest) {
    const Triple all = cut.cells();
    const auto at = [&all](const Box &box, std::size_t i, std::size_t j, std::size_t k) {
        const auto x = box.begin[0] + static_cast<std::int64_t>(i);
        const auto y = box.begin[1] + static_cast<std::int64_t>(j);
        const auto z = box.begin[2] + static_cast<std::int64_t>(k);
        return static_cast<std::size_t>(x + all[0] * (y + all[1] * z));
    };
    const auto for_cells = [&](const Box &box, auto &&visit) {
        const Shape shape = box.shape();
        std::size_t own = 0;
        for (std::size_t k = 0; k < shape.nz; ++k) {
            for (std::size_t j = 0; j < shape.ny; ++j) {
                for (std::size_t i = 0; i < shape.nx; ++i)
                    visit(own++, at(box, i, j, k));
            }
        }
    };
    std::vector<std::vector<double>> blocks;
    for (int rank = 0; rank < cut.ranks(); ++rank) {
        std::vector<double> &block = blocks.emplace_back(cut.box(rank).shape().cells());
        for_cells(cut.box(rank),
                  [&](std::size_t own, std::size_t whole) { block[own] = cells[whole]; });
    }
    std::vector<double> result(cells.size());
    *largest = 0;
    for (int rank = 0; rank < cut.ranks(); ++rank) {
        const Shape shape = cut.box(rank).shape();
        Block block{shape, blocks[static_cast<std::size_t>(rank)].data(), {}};
        std::vector<double> copies[kSides];
        for (const Side side : kAllSides) {
            const int peer = cut.neighbour(rank, side);
            if (peer < 0) {
                block.around[side] = {beyond.data() + side * all[0], axis_of(side) == 0 ? 0 : 1, 0};
                continue;
            }
            const LayerShape layer = layer_shape(shape, side);
            copies[side].resize(layer.cells());
            copy_layer(inner_layer(blocks[static_cast<std::size_t>(peer)].data(),
                                   cut.box(peer).shape(), opposite(side)),
                       layer, copies[side].data());
            block.around[side] = packed_layer(copies[side].data(), layer);
        }
        std::vector<double> mine(shape.cells());
        *largest = std::max(*largest, step(block, {mine.data(), {}}, stencil, true));
        for_cells(cut.box(rank),
                  [&](std::size_t own, std::size_t whole) { result[whole] = mine[own]; });
    }
    return result;
}

TEST(Step, the_field_does_not_depend_on_how_the_grid_is_cut) {
    const Triple cells{13, 6, 5};
    const Shape shape{13, 6, 5};
    const std::vector<double> start = random_cells(shape.cells());
    std::vector<double> beyond;
    for (const Side side : kAllSides)
        beyond.insert(beyond.end(), shape.nx, 10 * side - 20);
    for (const double slope : {0.0, 0.003}) {
        const Stencil stencil{0.11, 0.13, 0.07, slope};
        const std::vector<double> whole = step_whole(shape, start, beyond, stencil);
        double change = 0;
        for (std::size_t i = 0; i < whole.size(); ++i) {
            change = std::max(change, std::fabs(whole[i] - start[i]));
        }
        for (const Triple &grid : {Triple{1, 1, 1}, Triple{13, 1, 1}, Triple{2, 3, 1},
                                   Triple{4, 6, 5}, Triple{1, 1, 5}}) {
            const Decomposition cut(cells, grid, static_cast<int>(grid[0] * grid[1] * grid[2]));
            double largest = 0;
            EXPECT_EQ(step_cut(cut, start, beyond, stencil, &largest), whole) << text_of(grid);
            // Adding the change to a cell rounds it once more.
            EXPECT_NEAR(largest, change, 1e-12);
        }
    }
}

TEST(Step, the_end_buffers_get_the_west_and_east_layers) {
    for (const Shape &shape : {Shape{13, 6, 5}, Shape{1, 3, 2}}) {
        const std::vector<double> cells = random_cells(shape.cells());
        Block block{shape, cells.data(), {}};
        for (const Side side : kAllSides) {
            block.around[side] = inner_layer(cells.data(), shape, side);
        }
        std::vector<double> result(shape.cells());
        std::vector<double> ends[2], layers[2];
        for (const Side side : {west, east}) {
            ends[side].resize(shape.ny * shape.nz);
            layers[side].resize(shape.ny * shape.nz);
        }
        step(block, {result.data(), {ends[west].data(), ends[east].data()}}, {0.1, 0.1, 0.1, 0},
             false);
        for (const Side side : {west, east}) {
            copy_layer(inner_layer(result.data(), shape, side), layer_shape(shape, side),
                       layers[side].data());
            EXPECT_EQ(ends[side], layers[side]);
        }
    }
}

TEST(Step, each_neighbour_has_the_factor_of_its_axis) {
    const Shape shape{3, 3, 3};
    std::vector<double> cells(27, 0.0);
    cells[13] = 1.0;
    const std::vector<double> beyond(18, 0.0);
    const auto result = step_whole(shape, cells, beyond, {0.1, 0.02, 0.003, 0});
    EXPECT_DOUBLE_EQ(result[13], 1.0 - 2 * (0.1 + 0.02 + 0.003));
    EXPECT_DOUBLE_EQ(result[12], 0.1);
    EXPECT_DOUBLE_EQ(result[14], 0.1);
    EXPECT_DOUBLE_EQ(result[10], 0.02);
    EXPECT_DOUBLE_EQ(result[16], 0.02);
    EXPECT_DOUBLE_EQ(result[4], 0.003);
    EXPECT_DOUBLE_EQ(result[22], 0.003);
    EXPECT_DOUBLE_EQ(result[0], 0.0);
}

TEST(Step, heat_that_leaves_one_cell_enters_another) {
    // All sides insulated: the sum is conserved, also with a diffusivity that depends on
    // temperature.
    const Shape shape{7, 5, 4};
    const std::vector<double> cells = random_cells(shape.cells());
    Block block{shape, cells.data(), {}};
    for (const Side side : kAllSides)
        block.around[side] = inner_layer(cells.data(), shape, side);
    std::vector<double> result(shape.cells());
    step(block, {result.data(), {}}, {0.1, 0.1, 0.1, 0.004}, false);
    double before = 0, after = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        before += cells[i];
        after += result[i];
    }
    EXPECT_NEAR(before, after, 1e-10);
    EXPECT_NE(cells, result);
}

double error_after_many_steps(Options options) {
    const Decomposition one(options.size, {1, 1, 1}, 1);
    Problem problem(options, one, 0);
    problem.prepare(problem.own_range());
    const Shape shape = one.box(0).shape();
    std::vector<double> cells(shape.cells(), 0.0), next(shape.cells());
    for (int i = 0; i < 4000; ++i) {
        Block block{shape, cells.data(), {}};
        for (const Side side : kAllSides) {
            block.around[side] = problem.outer_layer(side, cells.data());
        }
        step(block, {next.data(), {}}, problem.stencil(), false);
        cells.swap(next);
    }
    EXPECT_TRUE(problem.steady_state_known());
    return problem.largest_error(cells.data());
}

TEST(Problem, a_linear_profile_is_reached_exactly) {
    for (int axis = 0; axis < 3; ++axis) {
        Options options;
        options.size = {5, 6, 4};
        options.length = {1.0, 2.0, 0.5};
        for (const Side side : kAllSides)
            options.sides[side] = {true, 0};
        options.sides[2 * axis] = {false, 80};
        options.sides[2 * axis + 1] = {false, -20};
        EXPECT_LT(error_after_many_steps(options), 1e-10) << axis;
    }
}

TEST(Problem, a_harmonic_polynomial_is_reached_exactly) {
    Options options;
    options.size = {6, 5, 7};
    options.problem = Case::harmonic;
    EXPECT_LT(error_after_many_steps(options), 1e-12);
    options.slope = 0.3;
    EXPECT_LT(error_after_many_steps(options), 1e-12);
}

TEST(Problem, an_unstable_time_step_is_refused) {
    Options options;
    options.size = {4, 4, 4};
    const Decomposition one(options.size, {1, 1, 1}, 1);
    Problem chosen(options, one, 0);
    chosen.prepare(chosen.own_range());
    options.time_step = chosen.time_step() / 0.9 * 1.001;
    Problem given(options, one, 0);
    EXPECT_THROW(given.prepare(given.own_range()), Failure);
    options.time_step = chosen.time_step();
    Problem same(options, one, 0);
    same.prepare(same.own_range());
    EXPECT_EQ(same.stencil().x, chosen.stencil().x);
}

TEST(Problem, a_diffusivity_that_turns_negative_is_refused) {
    Options options;
    options.size = {4, 4, 4};
    options.slope = -0.01;
    options.sides[up].temperature = 100;
    const Decomposition one(options.size, {1, 1, 1}, 1);
    Problem problem(options, one, 0);
    EXPECT_THROW(problem.prepare(problem.own_range()), Failure);
    options.sides[up].temperature = 99;
    options.sides[down].temperature = 0;
    Problem allowed(options, one, 0);
    EXPECT_NO_THROW(allowed.prepare(allowed.own_range()));
}

TEST(Times, the_median_is_within_two_thousandths) {
    Histogram histogram;
    EXPECT_EQ(histogram.median_ns(), 0);
    for (int i = 0; i < 50; ++i)
        histogram.add(40);
    for (int i = 0; i < 102; ++i)
        histogram.add(123456);
    for (int i = 0; i < 50; ++i)
        histogram.add(987654321);
    EXPECT_NEAR(histogram.median_ns(), 123456, 0.002 * 123456);
}

TEST(Times, durations_of_any_size_are_counted) {
    for (const std::int64_t ns : {std::int64_t{0}, std::int64_t{63}, std::int64_t{64},
                                  std::int64_t{127}, std::int64_t{128}, INT64_MAX}) {
        Histogram histogram;
        histogram.add(ns);
        const auto value = static_cast<double>(ns);
        EXPECT_NEAR(histogram.median_ns(), value, 0.002 * value) << ns;
    }
}

TEST(Times, a_step_adds_to_its_parts_and_to_their_sum) {
    Times times;
    times.add_step(100, 20, 3);
    times.add_step(100, 20, 3);
    EXPECT_EQ(times.compute.total_ns, 200);
    EXPECT_EQ(times.exchange.total_ns, 40);
    EXPECT_EQ(times.synchronise.total_ns, 6);
    EXPECT_EQ(times.communicate.total_ns, 46);
    EXPECT_EQ(times.communicate.steps.median_ns(), 23);
}

}  // namespace
}  // namespace heat3d
