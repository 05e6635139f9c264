// The result of a run: a table for people or one JSON object on one line. Rank 0 calls it.
#pragma once

#include "decomposition.hpp"
#include "options.hpp"

#include "common/ranks.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace heat3d {

struct PartTimes {
    apps::Spread total_s;
    apps::Spread step_median_us;
};

struct Report {
    std::string program;
    Triple cells{}, ranks_grid{};
    std::string layers;
    std::int64_t steps = 0, check_every = 0;
    double time_step_s = 0, residual = 0;
    bool converged = false;
    bool steady_state_known = false;
    double largest_error = 0;
    std::uint64_t field_hash = 0;
    double loop_s = 0, output_s = 0;
    PartTimes compute, exchange, synchronise, communicate;
    std::vector<std::string> files;
};

std::string table_of(const Report &report);
std::string json_of(const Report &report);

}  // namespace heat3d
