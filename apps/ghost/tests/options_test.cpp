// Tests the command line, and the grid that follows from it. Breaks when a setting is ignored, when
// a wrong one is accepted, or when weak scaling does not give each rank the cells of --size.
#include "../options.hpp"

#include "common/failure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace ghost {
namespace {

Options parsed(std::vector<const char *> words) {
    words.insert(words.begin(), "ghost");
    return parse_options(static_cast<int>(words.size()), words.data());
}

TEST(Options, defaults_are_those_of_miniGhost_except_the_stencil) {
    const Options options = parsed({});
    EXPECT_EQ(options.size, (apps::Triple{100, 100, 100}));
    EXPECT_EQ(options.variables, 5);
    EXPECT_EQ(options.method, Method::bspma);
    EXPECT_EQ(options.scaling, Scaling::weak);
    EXPECT_EQ(options.stencil, Stencil::points7);
}

TEST(Options, options_are_taken_from_the_command_line) {
    const Options options =
        parsed({"--size",       "8,9,10", "--scaling",    "strong", "--stencil", "27",
                "--method",     "svaf",   "--variables",  "3",      "--steps",   "7",
                "--sources",    "2",      "--sum-every",  "4",      "--faces",   "direct",
                "--ranks-grid", "1,2,3",  "--spoil-step", "5",      "--json"});
    EXPECT_EQ(options.size, (apps::Triple{8, 9, 10}));
    EXPECT_EQ(options.scaling, Scaling::strong);
    EXPECT_EQ(options.stencil, Stencil::points27);
    EXPECT_EQ(options.method, Method::svaf);
    EXPECT_EQ(options.variables, 3);
    EXPECT_EQ(options.steps, 7);
    EXPECT_EQ(options.sources, 2);
    EXPECT_EQ(options.sum_every, 4);
    EXPECT_EQ(options.faces, "direct");
    EXPECT_EQ(options.ranks_grid, (apps::Triple{1, 2, 3}));
    EXPECT_EQ(options.spoil_step, 5);
    EXPECT_TRUE(options.json);
    EXPECT_EQ(options.help, "");
    EXPECT_THAT(parsed({"--help"}).help, testing::HasSubstr("--stencil"));
}

TEST(Options, wrong_options_are_refused) {
    const std::vector<std::vector<const char *>> table{{"--size", "0,1,1"},
                                                       {"--size", "8"},
                                                       {"--stencil", "6"},
                                                       {"--method", "none"},
                                                       {"--scaling", "small"},
                                                       {"--variables", "0"},
                                                       {"--variables", "9999"},
                                                       {"--steps", "0"},
                                                       {"--steps", "x"},
                                                       {"--sum-every", "0"},
                                                       {"--ranks-grid", "1,0,2"},
                                                       {"--spoil-step", "-1"},
                                                       {"--nonsense"},
                                                       {"extra"}};
    for (const auto &words : table)
        EXPECT_THROW(parsed(words), apps::Failure) << words[0];
}

TEST(Options, the_size_is_per_rank_in_weak_scaling_and_in_total_in_strong) {
    Options options = parsed({"--size", "10,20,30"});
    const apps::Triple grid = choose_grid(options, 8);
    EXPECT_EQ(grid[0] * grid[1] * grid[2], 8);
    const apps::Triple cells = grid_cells(options, grid);
    for (std::size_t axis = 0; axis < 3; ++axis)
        EXPECT_EQ(cells[axis], options.size[axis] * grid[axis]);
    options.scaling = Scaling::strong;
    EXPECT_EQ(grid_cells(options, choose_grid(options, 8)), options.size);
    options.ranks_grid = {8, 1, 1};
    EXPECT_EQ(choose_grid(options, 8), options.ranks_grid);
}

TEST(Options, the_grid_of_ranks_is_as_cubic_as_possible) {
    EXPECT_EQ(choose_grid(parsed({}), 8), (apps::Triple{2, 2, 2}));
    EXPECT_EQ(choose_grid(parsed({}), 2), (apps::Triple{1, 1, 2}));
}

}  // namespace
}  // namespace ghost
