// The program, apart from how its ranks communicate: main of each program calls run().
#pragma once

#include "exchange.hpp"

namespace heat3d {

// Collective. Returns the exit code, the same on all ranks; errors were then reported on stderr by
// one of them. Throws Lost, which only some ranks may see.
int run(Exchange &ranks, int argc, const char *const *argv);

}  // namespace heat3d
