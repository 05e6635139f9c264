// The settings of a run, the same for all programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace p2p {

// The limit of --behind: fewer groups than a channel may have messages in flight.
inline constexpr std::int64_t kBehindLimit = 127;

struct Options {
    std::int64_t columns = 1000, lines = 0;  // lines 0: as many as columns
    std::int64_t iterations = 100;
    std::int64_t group = 1;
    std::int64_t behind = 0;  // 0: a part of the remaining groups
    std::string way;          // the first one of the program by default
    bool json = false;
    bool spoil = false;
    std::string help;  // not empty: print this instead of a run
};

// `ways` are those of the program. Throws Failure with the error.
Options parse_options(int argc, const char *const *argv, const std::vector<std::string> &ways);

}  // namespace p2p
