#include "run.hpp"

#include "field_files.hpp"
#include "kernel.hpp"
#include "options.hpp"
#include "problem.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "times.hpp"

#include "common/field_hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>

namespace heat3d {
namespace {

void together(Exchange &ranks, const std::function<void()> &part) {
    apps::together(ranks, "heat3d", part);
}

std::uint64_t hash_of(const Decomposition &decomposition, const Box &box, const double *cells) {
    const Triple &all = decomposition.cells();
    std::uint64_t sum = 0;
    for (std::int64_t k = 0; k < box.cells[2]; ++k) {
        for (std::int64_t j = 0; j < box.cells[1]; ++j) {
            const std::int64_t row =
                box.begin[0] + all[0] * (box.begin[1] + j + all[1] * (box.begin[2] + k));
            const auto count = static_cast<std::size_t>(box.cells[0]);
            sum += apps::hash_of_row(static_cast<std::uint64_t>(row), cells, count);
            cells += count;
        }
    }
    return sum;
}

class Run {
  public:
    Run(Exchange &ranks, const Options &options) : ranks_(ranks), options_(options) {}

    void prepare();
    void solve();
    void write();
    void report();

  private:
    void open_files();
    void connect_fields();

    bool first() const { return ranks_.rank() == 0; }
    const double *result() const { return ranks_.field(current_); }

    Exchange &ranks_;
    Options options_;
    std::unique_ptr<Decomposition> decomposition_;
    std::unique_ptr<Problem> problem_;
    Box box_;
    std::array<Block, 2> blocks_;
    std::array<Target, 2> targets_;
    struct Discard {
        void operator()(FieldFiles *files) const {
            files->discard();
            delete files;
        }
    };
    std::unique_ptr<FieldFiles, Discard> files_;

    int current_ = 0;  // the field with the newest temperatures
    std::int64_t steps_ = 0;
    double residual_ = 0;
    bool converged_ = false;
    Times times_;
    std::int64_t loop_ns_ = 0, output_ns_ = 0;
};

void Run::prepare() {
    together(ranks_, [this] {
        const std::vector<std::string> modes = ranks_.modes();
        if (options_.layers.empty()) options_.layers = modes.front();
        if (std::find(modes.begin(), modes.end(), options_.layers) == modes.end()) {
            throw Failure(fmt::format("--layers: '{}' is none of {}", options_.layers,
                                      fmt::join(modes, ", ")));
        }
        Triple grid = options_.ranks_grid;
        if (grid[0] == 0) grid = choose_ranks_grid(options_.size, ranks_.size());
        decomposition_ = std::make_unique<Decomposition>(options_.size, grid, ranks_.size());
        box_ = decomposition_->box(ranks_.rank());
        problem_ = std::make_unique<Problem>(options_, *decomposition_, ranks_.rank());
    });
    const Range own = problem_->own_range();
    const Range range{-ranks_.max(-own.low), ranks_.max(own.high)};
    together(ranks_, [&] { problem_->prepare(range); });
    open_files();
    together(ranks_, [this] { ranks_.open(*decomposition_, options_.layers); });
    connect_fields();
}

// Determines the addresses of each field and its surroundings, and fills the field that the first
// step reads.
void Run::connect_fields() {
    const Shape shape = box_.shape();
    for (int field = 0; field < 2; ++field) {
        Block &block = blocks_[static_cast<std::size_t>(field)];
        block.shape = shape;
        block.cells = ranks_.field(field);
        for (const Side side : kAllSides) {
            const bool inner = decomposition_->neighbour(ranks_.rank(), side) >= 0;
            block.around[side] =
                inner ? ranks_.outer_layer(field, side) : problem_->outer_layer(side, block.cells);
        }
        targets_[static_cast<std::size_t>(field)] = {
            ranks_.field(field), {ranks_.ends(field, west), ranks_.ends(field, east)}};
    }
    problem_->fill(targets_[0].cells);
    for (const Side side : {west, east}) {
        double *ends = targets_[0].ends[side];
        if (ends == nullptr) continue;
        copy_layer(inner_layer(targets_[0].cells, shape, side), layer_shape(shape, side), ends);
    }
}

// Called early, so that a folder that cannot be written does not cost a whole run.
void Run::open_files() {
    if (options_.no_output) return;
    files_.reset(new FieldFiles(options_.output, decomposition_->cells(), problem_->spacing()));
    together(ranks_, [this] {
        if (first()) files_->create();
    });
}

void Run::solve() {
    Progress progress(first() && !options_.quiet, options_.max_steps);
    ranks_.barrier();
    const Clock::time_point start = Clock::now();
    Clock::time_point now = start;
    const auto lap = [&now] {
        const Clock::time_point before = now;
        now = Clock::now();
        return elapsed_ns(before, now);
    };
    while (steps_ < options_.max_steps && !converged_) {
        const bool check =
            (steps_ + 1) % options_.check_every == 0 || steps_ + 1 == options_.max_steps;
        (void)lap();
        ranks_.exchange_layers(current_);
        const std::int64_t exchange_ns = lap();
        const auto from = static_cast<std::size_t>(current_);
        const double change = step(blocks_[from], targets_[1 - from], problem_->stencil(), check);
        const std::int64_t compute_ns = lap();
        const double largest = ranks_.finish_step(change, check);
        const std::int64_t synchronise_ns = lap();
        times_.add_step(compute_ns, exchange_ns, synchronise_ns);
        ++steps_;
        current_ = 1 - current_;
        if (check) {
            residual_ = largest;
            converged_ = options_.tolerance > 0 && residual_ <= options_.tolerance;
            progress.at(steps_, residual_, now);
        }
    }
    loop_ns_ = elapsed_ns(start, now);
    progress.end(steps_, residual_);
}

void Run::write() {
    if (options_.no_output) return;
    const Clock::time_point start = Clock::now();
    together(ranks_, [this] { files_->write(box_, result()); });
    together(ranks_, [this] {
        if (first()) files_->finish();
    });
    output_ns_ = elapsed_ns(start, Clock::now());
}

// The columns of a gathered table; a row has the values of one rank. It begins with total and
// median of each of the four parts of a step.
enum Column : std::size_t {
    column_loop = 8,
    column_output,
    column_error,
    column_hash_low,
    column_hash_high,
    column_count
};
static_assert(column_count <= Exchange::kGatherLimit);

void Run::report() {
    std::vector<double> row(column_count);
    const Times::Part *parts[] = {&times_.compute, &times_.exchange, &times_.synchronise,
                                  &times_.communicate};
    for (std::size_t part = 0; part < 4; ++part) {
        row[2 * part] = static_cast<double>(parts[part]->total_ns) * 1e-9;
        row[2 * part + 1] = parts[part]->steps.median_ns() * 1e-3;
    }
    row[column_loop] = static_cast<double>(loop_ns_) * 1e-9;
    row[column_output] = static_cast<double>(output_ns_) * 1e-9;
    row[column_error] = problem_->steady_state_known() ? problem_->largest_error(result()) : 0;
    const std::uint64_t hash = hash_of(*decomposition_, box_, result());
    row[column_hash_low] = static_cast<double>(hash & 0xffffffffu);
    row[column_hash_high] = static_cast<double>(hash >> 32);
    const std::vector<double> all = ranks_.gather(row);
    if (!first()) return;

    const auto spread = [&](std::size_t column) {
        return apps::spread_of(all, column, column_count);
    };
    Report report;
    report.program = ranks_.name();
    report.cells = decomposition_->cells();
    report.ranks_grid = decomposition_->ranks_grid();
    report.layers = options_.layers;
    report.steps = steps_;
    report.check_every = options_.check_every;
    report.time_step_s = problem_->time_step();
    report.residual = residual_;
    report.converged = converged_;
    report.steady_state_known = problem_->steady_state_known();
    report.largest_error = spread(column_error).max;
    for (std::size_t at = 0; at < all.size(); at += column_count) {
        report.field_hash += static_cast<std::uint64_t>(all[at + column_hash_low]) +
                             (static_cast<std::uint64_t>(all[at + column_hash_high]) << 32);
    }
    report.loop_s = spread(column_loop).max;
    report.output_s = spread(column_output).max;
    PartTimes *rows[] = {&report.compute, &report.exchange, &report.synchronise,
                         &report.communicate};
    for (std::size_t part = 0; part < 4; ++part) {
        *rows[part] = {spread(2 * part), spread(2 * part + 1)};
    }
    if (!options_.no_output) {
        for (const FieldFile &file : files_->files())
            report.files.push_back(file.path);
    }
    const std::string text = options_.json ? json_of(report) : table_of(report);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

}  // namespace

int run(Exchange &ranks, int argc, const char *const *argv) {
    try {
        Options options;
        together(ranks, [&] { options = parse_options(argc, argv); });
        if (!options.help.empty()) {
            if (ranks.rank() == 0) std::fputs(options.help.c_str(), stdout);
            return 0;
        }
        Run program(ranks, options);
        program.prepare();
        program.solve();
        program.write();
        program.report();
        return 0;
    } catch (const Refused &) {
        return 1;
    }
}

}  // namespace heat3d
