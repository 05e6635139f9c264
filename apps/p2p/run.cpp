#include "run.hpp"

#include "grid.hpp"
#include "options.hpp"

#include "common/failure.hpp"
#include "common/result.hpp"
#include "common/times.hpp"

#include <cstdio>
#include <optional>

namespace p2p {
namespace {

constexpr char kProgram[] = "p2p";

struct Timed {
    double seconds = 0;            // of all sweeps but the first, of this rank
    std::vector<double> sweep_ns;  // of each sweep but the first
};

// The first sweep is not timed: it touches the memory for the first time and wakes all ranks.
Timed solve(Pipeline &pipeline, const Grid &grid, std::int64_t iterations) {
    Timed timed;
    timed.sweep_ns.reserve(static_cast<std::size_t>(iterations));
    pipeline.sweep(grid.strip());
    pipeline.ranks().barrier();
    const apps::Clock::time_point start = apps::Clock::now();
    apps::Clock::time_point now = start;
    for (std::int64_t sweep = 0; sweep < iterations; ++sweep) {
        const apps::Clock::time_point before = now;
        pipeline.sweep(grid.strip());
        now = apps::Clock::now();
        timed.sweep_ns.push_back(static_cast<double>(apps::elapsed_ns(before, now)));
    }
    timed.seconds = static_cast<double>(apps::elapsed_ns(start, now)) * 1e-9;
    return timed;
}

// The rate as in the suite: two operations for each computed cell, by the mean sweep of the slowest
// rank. The median is that of rank 0, whose sweeps end with the corner.
apps::Result result_of(Pipeline &pipeline, const Options &options, const Grid &grid,
                       const Timed &timed, double slowest_s) {
    const double operations =
        2 * static_cast<double>(options.columns - 1) * static_cast<double>(options.lines - 1);
    const double mean_us = slowest_s / static_cast<double>(options.iterations) * 1e6;
    const double median_us = apps::median_of(timed.sweep_ns) * 1e-3;
    apps::Result result;
    result.add("program", "p2p");
    result.add("backend", pipeline.backend());
    result.add("subject", pipeline.ranks().name());
    result.add("way", options.way);
    result.add("ranks", pipeline.ranks().size());
    result.add("columns", options.columns);
    result.add("lines", options.lines);
    result.add("group", grid.strip().group);
    result.add("iterations", options.iterations);
    result.add("verification_value", grid.verification_value(options.iterations + 1));
    result.add("time_s", slowest_s);
    result.add("sweep_mean_us", mean_us);
    result.add("sweep_median_us", median_us);
    result.add("rate_mflops", operations / mean_us);
    result.add("median_rate_mflops", operations / median_us);
    return result;
}

void solve_and_report(Pipeline &pipeline, const Options &options) {
    apps::Ranks &ranks = pipeline.ranks();
    std::optional<Grid> grid;
    apps::together(ranks, kProgram, [&] {
        const Share share = share_of(options.columns, ranks.size(), ranks.rank());
        grid.emplace(Grid::Size{options.columns, options.lines}, options.group, share);
    });
    double *left = pipeline.open(options);
    grid->fill(left);
    if (options.spoil && ranks.rank() == 0) left[options.lines - 1] += 1;
    ranks.barrier();
    const Timed timed = solve(pipeline, *grid, options.iterations);
    const double slowest_s = ranks.max(timed.seconds);
    pipeline.close();
    apps::together(ranks, kProgram, [&] { grid->verify(options.iterations + 1); });
    if (ranks.rank() != 0) return;
    const apps::Result result = result_of(pipeline, options, *grid, timed, slowest_s);
    std::fputs((options.json ? result.json() : result.table()).c_str(), stdout);
    std::fflush(stdout);
}

}  // namespace

int run(Pipeline &pipeline, int argc, const char *const *argv) {
    try {
        Options options;
        apps::together(pipeline.ranks(), kProgram,
                       [&] { options = parse_options(argc, argv, pipeline.ways()); });
        if (!options.help.empty()) {
            if (pipeline.ranks().rank() == 0) std::fputs(options.help.c_str(), stdout);
            return 0;
        }
        solve_and_report(pipeline, options);
        return 0;
    } catch (const apps::Refused &) {
        return 1;
    }
}

}  // namespace p2p
