// The options: the command line and the INI file, one table for both.
#pragma once

#include "common/decomposition.hpp"

#include <cstdint>
#include <string>

namespace flow {

struct Options {
    apps::Triple cells{64, 64, 64};
    std::int64_t ranks_y = 0, ranks_z = 0;  // 0: chosen
    double length_x = 6.283185307179586, length_y = 3.141592653589793, height = 2;
    double stretching = 0;
    std::int64_t order = 2;
    std::string problem = "channel";
    double viscosity = 1.0 / 180;
    double gradient = 1, bulk = 0;
    double noise = 0.1;
    double time_step = 0, cfl = 0.5;
    std::int64_t steps = 100, check_every = 10;
    std::string transpose, overlap;  // "": the default of the program
    std::int64_t threads = 1, pieces = 0;
    std::string output = "flow-out", format = "vtk", restart, save;
    bool no_output = false, quiet = false, json = false;
};

// False for --help, whose text is then in `help`. Throws Failure with the error.
bool parse_options(Options &options, int argc, const char *const *argv, std::string &help);

}  // namespace flow
