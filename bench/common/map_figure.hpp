// One figure of `sennit map`, and its line of JSON, which measuring ranks send to the program that
// draws.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/statistics.hpp"

namespace sennit::bench {

// The reason for parts that were left out because --seconds had passed.
inline constexpr const char *kOverBudget = "over the budget of time";

struct MapFigure {
    std::string part;         // pair, flag, setup, at-once
    std::string way;          // mapped, cma, adopted, xpmem, threads; setup: the step
    int from = 0;             // processor of the source; at once: of the first transfer
    int to = 0;               // processor that copies
    std::uint64_t bytes = 0;  // of one transfer; 0 for a flag
    int transfers = 1;        // at the same time
    std::string group = {};   // at once: within which domain, or across which
    bool is_fresh = false;    // at once: another part of a pool each time
    Summary time_ns = {};     // of one transfer; at once: until the last one ends

    // Total bandwidth by the mean time, in GB/s (10^9 bytes).
    double gb_per_s() const { return static_cast<double>(bytes) * transfers / time_ns.mean; }
};

// Fields: map (the part), way, from, to, bytes, transfers, group and fresh (at once), mean_ns,
// median_ns, p5_ns, p95_ns, rounds, gb_per_s (not of flag and setup).
nlohmann::ordered_json to_json(const MapFigure &figure);

// Throws nlohmann::json::exception or std::invalid_argument if a field is missing or invalid.
MapFigure map_figure_from_json(const nlohmann::ordered_json &line);

}  // namespace sennit::bench
