// The run. The clock covers all iterations except the first, as in the suite.
#include "run.hpp"

#include "common/command_line.hpp"
#include "common/failure.hpp"
#include "common/result.hpp"
#include "common/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace stencil {
namespace {

constexpr const char *kProgram = "stencil";
// The suite's tolerance for the answer, but relative to the expected value, not absolute.
constexpr double kTolerance = 1e-8;

struct Options {
    std::int64_t size = 1000, iterations = 100, radius = 2, ranks_x = 0;
    std::string way;
    bool json = false, spoil = false;
};

bool read(Options &options, const std::vector<std::string> &ways, int argc, char **argv,
          std::string &help) {
    apps::CommandLine line(kProgram, "The stencil kernel of the Parallel Research Kernels.");
    line.number("--size", options.size, {3, 1'000'000}, "cells along an axis of the grid");
    line.number("--iterations", options.iterations, {1, 100'000'000}, "iterations that are timed");
    line.number("--radius", options.radius, {1, kStencilMaxRadius}, "reach of the star, in cells");
    line.number("--ranks-x", options.ranks_x, {0, 1'000'000},
                "ranks along x; 0 chooses a grid that is as square as can be");
    if (!ways.empty()) {
        options.way = ways.front();
        line.word("--way", options.way, ways, "how neighbours' rows are read");
    }
    line.flag("--json", options.json, "print the result as one line of JSON");
    line.flag("--spoil", options.spoil, "make one cell wrong, so that the check must find it");
    const bool goes_on = line.parse(argc, argv);
    help = line.help();
    return goes_on;
}

// The results of all ranks. Comparisons are written so that NaN is an error.
struct Answer {
    double norm = 0, expected = 0, deviation = 0;
    bool right() const {
        return std::fabs(norm - expected) <= kTolerance * expected &&
               deviation <= kTolerance * expected;
    }
};

class Run {
  public:
    Run(apps::Ranks &ranks, Method &method, const Options &options)
        : ranks_(ranks), method_(method), options_(options) {}

    void prepare();
    void solve();
    int report();

  private:
    Answer answer_of(const std::vector<double> &table) const;
    void print(const Answer &answer, double seconds) const;

    apps::Ranks &ranks_;
    Method &method_;
    Options options_;
    std::unique_ptr<Decomposition> decomposition_;
    std::unique_ptr<Tile> tile_;
    apps::BatchTimes times_;
};

void Run::prepare() {
    apps::together(ranks_, kProgram, [this] {
        const int x = static_cast<int>(options_.ranks_x);
        const std::array<int, 2> grid{x, x == 0 ? 0 : ranks_.size() / x};
        decomposition_ = std::make_unique<Decomposition>(
            options_.size, static_cast<int>(options_.radius), ranks_.size(), grid);
    });
    const Shape shape = decomposition_->shape(ranks_.rank());
    double *in = nullptr;
    apps::together(ranks_, kProgram, [&] { in = method_.allocate(shape.cells()); });
    apps::together(ranks_, kProgram, [&] {
        tile_ = std::make_unique<Tile>(*decomposition_, ranks_.rank(), in);
        method_.fill(*tile_);
        tile_->pack_columns();
    });
    method_.connect(*decomposition_, ranks_.rank(), *tile_);
}

void Run::solve() {
    method_.iterate(*tile_, 1);
    ranks_.barrier();
    times_ = apps::time_batches(options_.iterations,
                                [this](std::int64_t count) { method_.iterate(*tile_, count); });
    method_.finish(*tile_);
    if (options_.spoil && ranks_.rank() == 0) tile_->spoil();
}

Answer Run::answer_of(const std::vector<double> &table) const {
    const double active = static_cast<double>(options_.size - 2 * options_.radius);
    Answer answer{0, 2.0 * static_cast<double>(options_.iterations + 1), 0};
    for (std::size_t at = 0; at < table.size(); at += 3) {
        answer.norm += table[at] / (active * active);
        answer.deviation = std::max(answer.deviation, table[at + 1]);
    }
    return answer;
}

int Run::report() {
    const double expected = 2.0 * static_cast<double>(options_.iterations + 1);
    const stencil_sums sums = tile_->sums(expected);
    const std::vector<double> table =
        ranks_.gather({sums.norm, sums.deviation, static_cast<double>(times_.total_ns) * 1e-9});
    bool right = true;
    if (ranks_.rank() == 0) {
        const Answer answer = answer_of(table);
        right = answer.right();
        if (right) print(answer, apps::spread_of(table, 2, 3).max);
        if (!right) {
            std::fputs(fmt::format("{}: the answer is wrong: norm {:.12g} instead of {:.12g}, a "
                                   "cell is {:.3g} away\n",
                                   kProgram, answer.norm, answer.expected, answer.deviation)
                           .c_str(),
                       stderr);
        }
    }
    return ranks_.max(right ? 0 : 1) == 0 ? 0 : 1;
}

// The rate as in the suite: a multiplication and an addition for each point of the star, also for
// its middle of weight 0, and the addition that raises the cell. Computed for all iterations of the
// slowest rank, and for the median iteration of rank 0.
void Run::print(const Answer &answer, double seconds) const {
    const double active = static_cast<double>(options_.size - 2 * options_.radius);
    const double flops = static_cast<double>(2 * (4 * options_.radius + 1) + 1) * active * active;
    const double iteration_s = seconds / static_cast<double>(options_.iterations);
    apps::Result result;
    result.add("program", kProgram);
    result.add("backend", method_.backend());
    result.add("subject", ranks_.name());
    if (!options_.way.empty()) result.add("way", options_.way);
    result.add("ranks", ranks_.size());
    result.add("threads", method_.threads());
    result.add("ranks_x", decomposition_->grid()[0]);
    result.add("ranks_y", decomposition_->grid()[1]);
    result.add("size", options_.size);
    result.add("radius", options_.radius);
    result.add("iterations", options_.iterations);
    result.add("norm", answer.norm);
    result.add("deviation", answer.deviation);
    result.add("loop_s", seconds);
    result.add("iteration_us", iteration_s * 1e6);
    result.add("median_iteration_us", times_.median_iteration_ns * 1e-3);
    result.add("rate_mflops", flops / iteration_s * 1e-6);
    result.add("median_rate_mflops", flops / times_.median_iteration_ns * 1e3);
    std::fputs((options_.json ? result.json() : result.table()).c_str(), stdout);
}

}  // namespace

int run(apps::Ranks &ranks, Method &method, int argc, char **argv) {
    Options options;
    std::string help;
    bool goes_on = true;
    try {
        apps::together(ranks, kProgram,
                       [&] { goes_on = read(options, method.ways(), argc, argv, help); });
        if (!goes_on) {
            if (ranks.rank() == 0) std::fputs(help.c_str(), stdout);
            return 0;
        }
        method.choose(options.way);
        Run run(ranks, method, options);
        run.prepare();
        run.solve();
        return run.report();
    } catch (const apps::Refused &) {
        return 1;
    }
}

}  // namespace stencil
