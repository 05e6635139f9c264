// The options: the command line and the configuration file, one table for both.
#pragma once

#include "decomposition.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace heat3d {

// The condition at one side of the body: a fixed temperature, or no heat flow.
struct SideCondition {
    bool insulated = false;
    double temperature = 0;
};

// The source of the temperatures at the sides: the six settings, or a known steady state.
enum class Case { sides, sine, harmonic };

struct Options {
    Triple size{64, 64, 64};
    Triple ranks_grid{0, 0, 0};  // zeros: chosen
    std::array<double, 3> length{1, 1, 1};
    double diffusivity = 1e-4;
    double slope = 0;
    double time_step = 0;  // 0: chosen
    double initial = 0;
    Case problem = Case::sides;
    // A body on a hot plate.
    std::array<SideCondition, kSides> sides{{{}, {}, {}, {}, {false, 100}, {}}};
    std::int64_t max_steps = 1000;
    double tolerance = 0;
    std::int64_t check_every = 1;
    std::string output = "heat3d-out";
    std::string layers;  // "": the default of the program
    bool no_output = false;
    bool quiet = false;
    bool json = false;
    std::string help;  // not empty: print this and end
};

// Reads the command line, which overrides the file of --config. If a setting is given twice, the
// last value counts. Throws Failure with the error and its place.
Options parse_options(int argc, const char *const *argv);

}  // namespace heat3d
