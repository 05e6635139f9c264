// The program without the communication of its ranks: main of each program calls run().
#pragma once

#include "pipeline.hpp"

namespace p2p {

// Collective. Returns the exit status, the same on all ranks; one rank has then reported the error
// on stderr. Throws Lost, which some ranks may not see.
int run(Pipeline &pipeline, int argc, const char *const *argv);

}  // namespace p2p
