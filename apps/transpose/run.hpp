// A run from the command line to the report, the same for every program.
#pragma once

#include "common/ranks.hpp"
#include "method.hpp"

namespace transpose {

// The options of a program besides the common ones.
struct Choice {
    std::int64_t chunk_bytes = 0;  // of a message; programs without messages ignore it
};

// Returns the exit status of this rank: 0 if the answer is right on all ranks, 1 if it is wrong or
// the options are invalid. Throws apps::Lost.
int run(apps::Ranks &ranks, Method &method, int argc, char **argv);
int run(apps::Ranks &ranks, Method &method, Choice *choice, int argc, char **argv);

}  // namespace transpose
