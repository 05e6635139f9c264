// A run from the command line to the report. main() of each program calls it.
#pragma once

#include "common/ranks.hpp"
#include "halo.hpp"

namespace ghost {

// Returns the exit status: 0, or 1 after an error, which has been reported.
int run(apps::Ranks &ranks, Halo &halo, int argc, const char *const *argv);

}  // namespace ghost
