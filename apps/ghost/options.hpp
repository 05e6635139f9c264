// The options of ghost.
#pragma once

#include "stencil.hpp"

#include <cstdint>
#include <string>

namespace ghost {

enum class Scaling { weak, strong };
// svaf (MiniGhost's SVAF): exchanges one variable at a time, each before its own step. bspma
// (BSPMA): exchanges all variables in one message before all steps.
enum class Method { svaf, bspma };

struct Options {
    apps::Triple size{100, 100, 100};  // weak scaling: of a rank; strong: of all ranks
    apps::Triple ranks_grid{0, 0, 0};  // zeros: chosen
    Scaling scaling = Scaling::weak;
    Stencil stencil = Stencil::points7;
    Method method = Method::bspma;
    std::int64_t variables = 5;
    std::int64_t steps = 100;  // after each source
    std::int64_t sources = 1;
    std::int64_t sum_every = 20;
    std::string faces;            // "": the default of the program
    std::int64_t spoil_step = 0;  // 0: never
    bool barrier = false;         // a barrier before each exchange, not counted in its time
    bool json = false;
    std::string help;  // not empty: print this and end
};

// Throws Failure with the error.
Options parse_options(int argc, const char *const *argv);

// The number of cells of the whole grid in each direction, on ranks arranged like this.
apps::Triple grid_cells(const Options &options, const apps::Triple &ranks_grid);
// options.ranks_grid, or the arrangement with the smallest slabs. Throws Failure if there is none.
apps::Triple choose_grid(const Options &options, int ranks);

}  // namespace ghost
