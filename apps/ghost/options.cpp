#include "options.hpp"

#include "common/command_line.hpp"
#include "common/failure.hpp"

namespace ghost {
namespace {

// These limits keep every later product of sizes within 64 bits.
constexpr std::int64_t kSideCellsLimit = 10'000;
constexpr std::int64_t kCountLimit = 1'000'000'000;

}  // namespace

Options parse_options(int argc, const char *const *argv) {
    Options options;
    std::string scaling = "weak", method = "bspma", stencil = "7";
    apps::CommandLine line("ghost",
                           "Exchange of ghost cells: in each step every cell of a 3-D grid becomes "
                           "the mean of itself and its neighbours, for several variables.");
    line.triple("--size", options.size, {1, kSideCellsLimit},
                "cells in each direction, of a rank (weak scaling) or of all (strong)");
    line.triple("--ranks-grid", options.ranks_grid, {0, kSideCellsLimit},
                "ranks in each direction; zeros: chosen");
    line.word("--scaling", scaling, {"weak", "strong"}, "whether --size is of a rank or of all");
    line.word("--stencil", stencil, {"5", "7", "9", "27"},
              "points of the stencil: 5 and 9 in the x-y plane, 7 and 27 in space");
    line.word("--method", method, {"svaf", "bspma"}, "one variable in an exchange, or all of them");
    line.number("--variables", options.variables, {1, 1000}, "variables of a cell");
    line.number("--steps", options.steps, {1, kCountLimit}, "steps after each source");
    line.number("--sources", options.sources, {1, kCountLimit},
                "how often something is added to a cell of each variable");
    line.number("--sum-every", options.sum_every, {1, kCountLimit},
                "steps from one check of the sums to the next; the last step is always checked");
    line.text("--faces", options.faces,
              "how slabs travel: packed, datatype, isend with MPI's send and receive; else chosen, "
              "direct, packed; the first is the default");
    line.number(
        "--spoil-step", options.spoil_step, {0, kCountLimit},
        "spoil a cell before this step, to see that the check of the sums ends the program");
    line.flag("--barrier", options.barrier,
              "barrier before each exchange, so that exchanges do not wait for computing ranks");
    line.flag("--json", options.json, "the result as one JSON object on one line");
    if (!line.parse(argc, argv)) {
        options.help = line.help();
        return options;
    }
    options.scaling = scaling == "weak" ? Scaling::weak : Scaling::strong;
    options.method = method == "svaf" ? Method::svaf : Method::bspma;
    options.stencil = static_cast<Stencil>(std::stoi(stencil));
    const apps::Triple &grid = options.ranks_grid;
    const bool none = grid == apps::Triple{0, 0, 0};
    if (!none && (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)) {
        throw apps::Failure("--ranks-grid: give all three numbers, or none");
    }
    return options;
}

apps::Triple grid_cells(const Options &options, const apps::Triple &ranks_grid) {
    apps::Triple cells = options.size;
    for (std::size_t axis = 0; axis < cells.size(); ++axis) {
        if (options.scaling == Scaling::weak) cells[axis] *= ranks_grid[axis];
    }
    return cells;
}

// With weak scaling the whole grid depends on the arrangement of ranks. So the arrangement is
// chosen for a grid of `ranks` blocks in each direction, which has the shape of a block.
apps::Triple choose_grid(const Options &options, int ranks) {
    if (options.ranks_grid[0] != 0) return options.ranks_grid;
    return apps::choose_ranks_grid(grid_cells(options, {ranks, ranks, ranks}), ranks);
}

}  // namespace ghost
