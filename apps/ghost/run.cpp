#include "run.hpp"

#include "grid.hpp"

#include "common/failure.hpp"
#include "common/result.hpp"
#include "common/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

namespace ghost {
namespace {

constexpr const char *kProgram = "ghost";
// Relative to the sum. Rounding stays far below it; one wrong ghost cell is far above it.
constexpr double kSumTolerance = 1e-10;

// Measured times: the exchange as a whole, its parts, and the rest.
struct Times {
    apps::Phase exchange, compute, check;
    std::array<apps::Phase, kParts> parts;
};

class Run {
  public:
    Run(apps::Ranks &ranks, Halo &halo, const Options &options)
        : ranks_(ranks), halo_(halo), options_(options) {}
    ~Run() { halo_.close(); }
    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;

    void prepare();
    void solve();
    void report();

  private:
    void one_step();
    void compute(std::size_t variable);
    void fill_ghost_cells(std::size_t first);
    void check_sums();
    static std::vector<std::pair<std::string, const apps::Phase *>> named(const Times &times);

    apps::Ranks &ranks_;
    Halo &halo_;
    Options options_;
    std::unique_ptr<Grid> grid_;
    std::vector<double> expected_;  // by variable: the expected sum

    int field_ = 0;  // the one with the newest values
    std::int64_t steps_ = 0;
    double largest_error_ = 0;  // relative error of a sum
    Times times_;
    std::int64_t exchange_ns_ = 0, compute_ns_ = 0;  // of the current step
    Laps laps_;
    std::int64_t loop_ns_ = 0;
};

void Run::prepare() {
    apps::together(ranks_, kProgram, [this] {
        const std::vector<std::string> modes = halo_.modes();
        if (options_.faces.empty()) options_.faces = modes.front();
        if (std::find(modes.begin(), modes.end(), options_.faces) == modes.end()) {
            throw apps::Failure(
                fmt::format("--faces: '{}' is none of {}", options_.faces, fmt::join(modes, ", ")));
        }
        grid_ = std::make_unique<Grid>(options_, ranks_.rank(), ranks_.size());
    });
    apps::together(ranks_, kProgram, [this] { grid_->use(halo_.memory_for(grid_->domain())); });
    apps::together(ranks_, kProgram, [this] { halo_.prepare(grid_->domain(), options_.faces); });
    halo_.open();
    expected_ = grid_->sums(field_);
    halo_.sum(expected_);
}

void Run::fill_ghost_cells(std::size_t first) {
    if (options_.barrier) ranks_.barrier();
    const apps::Clock::time_point start = apps::Clock::now();
    halo_.exchange_slabs(field_, first, laps_);
    exchange_ns_ += apps::elapsed_ns(start, apps::Clock::now());
}

void Run::compute(std::size_t variable) {
    const apps::Clock::time_point start = apps::Clock::now();
    grid_->step(field_, variable, halo_.ends(1 - field_, variable), halo_.outer(field_, variable));
    compute_ns_ += apps::elapsed_ns(start, apps::Clock::now());
}

void Run::one_step() {
    exchange_ns_ = compute_ns_ = 0;
    laps_ = {};
    const std::size_t together = grid_->domain().together;
    for (std::size_t first = 0; first < grid_->variables(); first += together) {
        fill_ghost_cells(first);
        // Only on the last rank: the check of all ranks must detect it.
        if (first == 0 && steps_ + 1 == options_.spoil_step && ranks_.rank() == ranks_.size() - 1)
            grid_->spoil(field_);
        for (std::size_t variable = first; variable < first + together; ++variable)
            compute(variable);
        const apps::Clock::time_point start = apps::Clock::now();
        halo_.release(laps_);
        exchange_ns_ += apps::elapsed_ns(start, apps::Clock::now());
    }
    field_ = 1 - field_;
    ++steps_;
    times_.exchange.add(exchange_ns_);
    times_.compute.add(compute_ns_);
    for (std::size_t part = 0; part < kParts; ++part)
        times_.parts[part].add(laps_.parts_ns[part]);
}

void Run::check_sums() {
    const apps::Clock::time_point start = apps::Clock::now();
    std::vector<double> sums = grid_->sums(field_);
    halo_.sum(sums);
    apps::together(ranks_, kProgram, [&] {
        for (std::size_t variable = 0; variable < sums.size(); ++variable) {
            const double error = std::fabs(sums[variable] / expected_[variable] - 1);
            // Written so that NaN counts as an error.
            if (!(error <= kSumTolerance)) {
                throw apps::Failure(fmt::format(
                    "after step {} the sum of variable {} is {:.17g} instead of {:.17g}: it is not "
                    "conserved",
                    steps_, variable, sums[variable], expected_[variable]));
            }
            largest_error_ = std::max(largest_error_, error);
        }
    });
    times_.check.add(apps::elapsed_ns(start, apps::Clock::now()));
}

void Run::solve() {
    const std::int64_t all = options_.sources * options_.steps;
    ranks_.barrier();
    const apps::Clock::time_point start = apps::Clock::now();
    while (steps_ < all) {
        if (steps_ % options_.steps == 0) {
            const double heat = grid_->add_source(field_, steps_ / options_.steps);
            for (double &sum : expected_)
                sum += heat;
            // These values come from no step, so no step has stored their ends.
            for (std::size_t variable = 0; variable < grid_->variables(); ++variable)
                grid_->put_ends(field_, variable, halo_.ends(field_, variable));
        }
        one_step();
        if (steps_ % options_.sum_every == 0 || steps_ == all) check_sums();
    }
    loop_ns_ = apps::elapsed_ns(start, apps::Clock::now());
}

std::vector<std::pair<std::string, const apps::Phase *>> Run::named(const Times &times) {
    std::vector<std::pair<std::string, const apps::Phase *>> all{
        {"exchange", &times.exchange}, {"compute", &times.compute}, {"check", &times.check}};
    for (std::size_t part = 0; part < kParts; ++part)
        all.emplace_back(kPartNames[part], &times.parts[part]);
    return all;
}

void Run::report() {
    const std::uint64_t hash = grid_->hash(field_);
    // The hash goes in two halves of 32 bits, which a double holds exactly.
    const std::vector<double> single =
        ranks_.gather({static_cast<double>(loop_ns_) * 1e-9, largest_error_,
                       static_cast<double>(hash & 0xffffffffu), static_cast<double>(hash >> 32)});
    std::vector<double> mine;
    for (const auto &[name, phase] : named(times_)) {
        mine.push_back(static_cast<double>(phase->total_ns) * 1e-9);
        mine.push_back(phase->steps.median_ns() * 1e-3);
    }
    const std::size_t columns = mine.size();
    const std::vector<double> table = ranks_.gather(mine);
    if (ranks_.rank() != 0) return;

    std::uint64_t total_hash = 0;
    for (std::size_t at = 0; at < single.size(); at += 4) {
        total_hash += static_cast<std::uint64_t>(single[at + 2]) +
                      (static_cast<std::uint64_t>(single[at + 3]) << 32);
    }
    apps::Result result;
    result.add("program", std::string(kProgram));
    result.add("subject", ranks_.name());
    result.add("ranks", ranks_.size());
    const auto numbers = [](const apps::Triple &triple) {
        return std::vector<double>(triple.begin(), triple.end());
    };
    result.add("ranks_grid", numbers(grid_->decomposition().ranks_grid()));
    result.add("cells", numbers(grid_->decomposition().cells()));
    result.add("scaling", std::string(options_.scaling == Scaling::weak ? "weak" : "strong"));
    result.add("stencil", static_cast<int>(options_.stencil));
    result.add("method", std::string(options_.method == Method::bspma ? "bspma" : "svaf"));
    result.add("variables", options_.variables);
    result.add("faces", options_.faces);
    const std::array<std::string, 3> ways = halo_.ways();
    for (std::size_t axis = 0; axis < ways.size(); ++axis)
        result.add(std::string("way_") + "xyz"[axis], ways[axis]);
    result.add("steps", steps_);
    result.add("sum_error", apps::spread_of(single, 1, 4).max);
    result.add("field_hash", fmt::format("{:016x}", total_hash));
    result.add("loop_s", apps::spread_of(single, 0, 4).max);
    std::size_t column = 0;
    for (const auto &[name, phase] : named(times_)) {
        const apps::Spread total_s = apps::spread_of(table, column, columns);
        result.add(name + "_s_max", total_s.max);
        result.add(name + "_s_mean", total_s.mean);
        const apps::Spread step_us = apps::spread_of(table, column + 1, columns);
        result.add(name + "_step_median_us_max", step_us.max);
        result.add(name + "_step_median_us_mean", step_us.mean);
        result.add(name + "_step_median_us_min", step_us.min);
        column += 2;
    }
    const std::string text = options_.json ? result.json() : result.table();
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

}  // namespace

int run(apps::Ranks &ranks, Halo &halo, int argc, const char *const *argv) {
    try {
        Options options;
        apps::together(ranks, kProgram, [&] { options = parse_options(argc, argv); });
        if (!options.help.empty()) {
            if (ranks.rank() == 0) std::fputs(options.help.c_str(), stdout);
            return 0;
        }
        Run program(ranks, halo, options);
        program.prepare();
        program.solve();
        program.report();
        return 0;
    } catch (const apps::Refused &) {
        return 1;
    }
}

}  // namespace ghost
