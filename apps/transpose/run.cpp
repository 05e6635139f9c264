// The run. The clock covers all steps except the first, as in the suite.
#include "run.hpp"

#include "common/command_line.hpp"
#include "common/failure.hpp"
#include "common/result.hpp"
#include "common/times.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

namespace transpose {
namespace {

constexpr const char *kProgram = "transpose";
// The suite's tolerance. Sums of integers below 2^53 are exact.
constexpr double kTolerance = 1e-8;

struct Options {
    std::int64_t order = 1000, iterations = 100, tile = 32;
    bool json = false, spoil = false;
};

bool read(Options &options, Choice *choice, int argc, char **argv, std::string &help) {
    apps::CommandLine line(kProgram, "The transpose kernel of the Parallel Research Kernels.");
    line.number("--order", options.order, {1, 100'000}, "rows and columns of the matrices");
    line.number("--iterations", options.iterations, {1, 100'000'000}, "steps that are timed");
    line.number("--tile", options.tile, {1, 100'000}, "rows and columns of a tile");
    if (choice != nullptr) {
        line.number("--chunk", choice->chunk_bytes, {1, std::int64_t{1} << 30},
                    "bytes of a message, rounded to whole columns");
    }
    line.flag("--json", options.json, "print the result as one line of JSON");
    line.flag("--spoil", options.spoil, "make one element wrong, so that the check must find it");
    const bool goes_on = line.parse(argc, argv);
    help = line.help();
    return goes_on;
}

class Run {
  public:
    Run(apps::Ranks &ranks, Method &method, const Options &options)
        : ranks_(ranks), method_(method), options_(options) {}

    void prepare();
    void solve();
    int report();

  private:
    void print(double error, double seconds) const;

    apps::Ranks &ranks_;
    Method &method_;
    Options options_;
    std::unique_ptr<Matrices> matrices_;
    apps::BatchTimes times_;
};

void Run::prepare() {
    const Shares shares(options_.order, ranks_.size(), method_.threads());
    Matrices::Memory memory{};
    apps::together(ranks_, kProgram, [&] {
        if (options_.order < shares.groups()) {
            throw apps::Failure(fmt::format("{} {} cannot share {} columns", shares.groups(),
                                            method_.threads() > 1 ? "threads" : "ranks",
                                            options_.order));
        }
    });
    apps::together(ranks_, kProgram,
                   [&] { memory = method_.allocate(shares.elements(ranks_.rank())); });
    matrices_ = std::make_unique<Matrices>(shares, ranks_.rank(), memory, options_.tile);
    method_.fill(*matrices_);
    method_.connect(*matrices_);
}

void Run::solve() {
    method_.iterate(*matrices_, 1);
    ranks_.barrier();
    times_ = apps::time_batches(options_.iterations,
                                [this](std::int64_t count) { method_.iterate(*matrices_, count); });
    method_.finish();
    if (options_.spoil && ranks_.rank() == 0) matrices_->spoil();
}

int Run::report() {
    const double mine = matrices_->error(options_.iterations + 1);
    const std::vector<double> table =
        ranks_.gather({mine, static_cast<double>(times_.total_ns) * 1e-9});
    bool right = true;
    if (ranks_.rank() == 0) {
        double error = 0;
        for (std::size_t at = 0; at < table.size(); at += 2)
            error += table[at];
        // Written so that NaN counts as an error.
        right = error <= kTolerance;
        if (right) {
            print(error, apps::spread_of(table, 1, 2).max);
        } else {
            std::fputs(fmt::format("{}: the answer is wrong: the elements are {:.6g} away in sum\n",
                                   kProgram, error)
                           .c_str(),
                       stderr);
        }
    }
    return ranks_.max(right ? 0 : 1) == 0 ? 0 : 1;
}

// The rate as in the suite counts the bytes of both matrices once per step. Computed for all steps
// of the slowest rank, and for the median step of rank 0.
void Run::print(double error, double seconds) const {
    const double order = static_cast<double>(options_.order);
    const double bytes = 2.0 * sizeof(double) * order * order;
    const double step_s = seconds / static_cast<double>(options_.iterations);
    apps::Result result;
    result.add("program", kProgram);
    result.add("backend", method_.backend());
    result.add("subject", ranks_.name());
    result.add("ranks", ranks_.size());
    result.add("threads", method_.threads());
    result.add("order", options_.order);
    result.add("tile", options_.tile);
    result.add("iterations", options_.iterations);
    result.add("error", error);
    result.add("loop_s", seconds);
    result.add("iteration_us", step_s * 1e6);
    result.add("median_iteration_us", times_.median_iteration_ns * 1e-3);
    result.add("rate_mb_per_s", bytes / step_s * 1e-6);
    result.add("median_rate_mb_per_s", bytes / times_.median_iteration_ns * 1e3);
    std::fputs((options_.json ? result.json() : result.table()).c_str(), stdout);
}

}  // namespace

int run(apps::Ranks &ranks, Method &method, int argc, char **argv) {
    return run(ranks, method, nullptr, argc, argv);
}

int run(apps::Ranks &ranks, Method &method, Choice *choice, int argc, char **argv) {
    Options options;
    std::string help;
    bool goes_on = true;
    try {
        apps::together(ranks, kProgram, [&] { goes_on = read(options, choice, argc, argv, help); });
        if (!goes_on) {
            if (ranks.rank() == 0) std::fputs(help.c_str(), stdout);
            return 0;
        }
        Run run(ranks, method, options);
        run.prepare();
        run.solve();
        return run.report();
    } catch (const apps::Refused &) {
        return 1;
    }
}

}  // namespace transpose
