// The program, apart from how its ranks communicate: main of each program calls run().
#pragma once

#include "pipeline.hpp"

namespace p2p {

// Collective. Returns the exit status, the same on all ranks; errors were then reported on stderr
// by one of them. Throws Lost, which only some ranks may see.
int run(Pipeline &pipeline, int argc, const char *const *argv);

}  // namespace p2p
