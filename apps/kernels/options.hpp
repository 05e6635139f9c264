// The settings of a run, the same for all programs; README.md describes them.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace kernels {

struct Options {
    std::string kernel = "daxpy", version;  // version empty: the program's first
    std::int64_t size = 0, total = 0;
    std::array<std::int64_t, 3> shape{};  // M, K, N
    std::int64_t rows = 0, columns = 0;
    std::string keys = "uniform", nas;
    std::int64_t values = std::int64_t{1} << 27;
    std::int64_t chunk = 8192;
    std::int64_t warmup = 5, runs = 50;
    bool json = false, spoil = false;
    std::string help;  // not empty: print this instead of a run
};

// Throws Failure with the error.
Options parse_options(int argc, const char *const *argv);

}  // namespace kernels
