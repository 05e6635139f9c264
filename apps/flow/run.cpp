#include "run.hpp"

#include "cases.hpp"
#include "files.hpp"
#include "hdf5_file.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "solver.hpp"
#include "statistics.hpp"

#include "common/field_hash.hpp"
#include "common/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace flow {
namespace {

constexpr const char *kProgram = "flow";

// All ranks along z, because nothing is transposed then, as long as each rank has enough cells in
// z.
std::array<std::int64_t, 2> ranks_grid_of(const Options &options, int ranks) {
    const std::int64_t all = ranks, y = options.ranks_y, z = options.ranks_z;
    if (y > 0 && z > 0) return {y, z};
    if (y > 0 && all % y == 0) return {y, all / y};
    if (z > 0 && all % z == 0) return {all / z, z};
    if (y > 0 || z > 0) return {std::max<std::int64_t>(y, 1), std::max<std::int64_t>(z, 1)};
    constexpr std::int64_t kPlanes = 8;
    for (std::int64_t in_y = 1; in_y <= all; ++in_y)
        if (all % in_y == 0 && options.cells[2] / (all / in_y) >= kPlanes)
            return {in_y, all / in_y};
    return {1, all};
}

class Run {
  public:
    Run(Exchange &exchange, const Options &options) : exchange_(exchange), options_(options) {}

    void prepare();
    void solve();
    void write();
    void report();

  private:
    bool first() const { return exchange_.rank() == 0; }
    void together(const std::function<void()> &part) { apps::together(exchange_, kProgram, part); }
    void check(Progress &progress);
    void write_vtk();
    void write_hdf5();
    std::uint64_t hash();
    void add_times(apps::Result &result, const char *name, const apps::Phase &phase);
    void add_physics(apps::Result &result);

    Exchange &exchange_;
    Options options_;
    std::unique_ptr<Threads> threads_;
    std::unique_ptr<Layout> layout_;
    std::unique_ptr<Grid> grid_;
    std::unique_ptr<Kernels> kernels_;
    std::unique_ptr<Case> case_;
    std::unique_ptr<Solver> solver_;
    std::unique_ptr<Statistics> statistics_;
    Clocks clocks_;
    std::int64_t begin_ = 0;  // the step from which the run continues
    std::int64_t steps_ = 0;
    Times times_;
    std::vector<std::string> files_;
};

void Run::prepare() {
    together([this] {
        const std::vector<std::string> ways = exchange_.ways();
        if (options_.transpose.empty()) options_.transpose = ways.front();
        if (std::find(ways.begin(), ways.end(), options_.transpose) == ways.end()) {
            throw apps::Failure(fmt::format("--transpose: '{}' is none of {}", options_.transpose,
                                            fmt::join(ways, ", ")));
        }
        if (options_.overlap.empty()) options_.overlap = exchange_.overlaps() ? "on" : "off";
        if (options_.format == "hdf5" && !Hdf5File::is_there())
            throw apps::Failure("--format: the program was built without HDF5");
        threads_ = std::make_unique<Threads>(static_cast<int>(options_.threads));
        layout_ = std::make_unique<Layout>(
            options_.cells, ranks_grid_of(options_, exchange_.size()), exchange_.size(),
            exchange_.rank(), static_cast<int>(options_.order));
        grid_ = std::make_unique<Grid>(
            options_.cells,
            std::array<double, 3>{options_.length_x, options_.length_y, options_.height},
            options_.stretching);
        kernels_ = std::make_unique<Kernels>(*grid_, *layout_);
        case_ = std::make_unique<Case>(options_, *grid_, *layout_);
        statistics_ = std::make_unique<Statistics>(*layout_);
    });
    exchange_.open(*layout_, options_.pieces, options_.threads);
    solver_ =
        std::make_unique<Solver>(exchange_, *kernels_, case_->physics(), options_.bulk,
                                 Manner{*threads_, options_.transpose, options_.overlap == "on"});
    const bool is_new = options_.restart.empty();
    together([&] {
        if (is_new) {
            case_->fill(solver_->velocity());
            return;
        }
        std::vector<double> sums(Statistics::sums_of(*layout_));
        clocks_ = RestartFile(options_.restart, *layout_).read(*solver_, sums);
        statistics_->take(sums);
        begin_ = clocks_.step;
        if (options_.bulk != 0) solver_->set_gradient(clocks_.gradient);
    });
    solver_->begin(is_new);
}

void Run::solve() {
    Progress progress(first() && !options_.quiet, options_.steps);
    if (options_.time_step > 0) clocks_.time_step = options_.time_step;
    StepTimes step;
    exchange_.barrier();
    while (steps_ < options_.steps) {
        step.begin();
        const bool chooses = clocks_.step % options_.check_every == 0;
        if (chooses && options_.time_step == 0)
            clocks_.time_step = solver_->chosen_time_step(options_.cfl);
        step.passed(Part::other);
        solver_->step(clocks_.time_step, step);
        clocks_.time += clocks_.time_step;
        ++clocks_.step;
        ++steps_;
        if (clocks_.step % options_.check_every == 0 || steps_ == options_.steps) check(progress);
        step.passed(Part::other);
        times_.add(step);
    }
    progress.end(steps_);
}

// The sum is finite on all ranks or on none, so all ranks fail together.
void Run::check(Progress &progress) {
    const double mean = solver_->mean_velocity();
    together([&] {
        if (std::isfinite(mean)) return;
        throw apps::Failure(fmt::format(
            "the velocity is not finite after step {}: the time step {:.3g} is too long",
            clocks_.step, clocks_.time_step));
    });
    const Sample sample{clocks_.step,        clocks_.time,           mean,
                        solver_->gradient(), solver_->wall_stress(), solver_->divergence()};
    statistics_->add(sample, solver_->velocity(), first());
    progress.at(steps_, fmt::format("time {:.4g}, mean velocity {:.5g}", clocks_.time, mean));
}

void Run::write() {
    const std::vector<double> sums = statistics_->sums(exchange_);
    if (!options_.save.empty()) {
        const RestartFile file(options_.save, *layout_);
        clocks_.gradient = solver_->gradient();
        together([&] {
            if (first()) file.begin(clocks_, sums);
        });
        together([&] { file.write(*solver_); });
        together([&] {
            if (first()) file.finish();
        });
        files_.push_back(options_.save);
    }
    if (options_.no_output) return;
    if (options_.format == "hdf5")
        write_hdf5();
    else
        write_vtk();
    together([&] {
        if (first()) statistics_->write(options_.output, *grid_, sums, begin_);
    });
    files_.push_back(options_.output + "/profile.csv");
    files_.push_back(options_.output + "/samples.csv");
}

void Run::write_vtk() {
    const FieldFile field(options_.output, *grid_, *layout_);
    together([&] {
        if (first()) field.begin();
    });
    together([&] { field.write(*solver_); });
    together([&] {
        if (first()) field.finish();
    });
    files_.push_back(field.path());
}

void Run::write_hdf5() {
    const Hdf5File field(options_.output, *grid_);
    CellPlaces places;
    together([&] {
        if (first()) places = field.begin(clocks_);
    });
    // Only rank 0 knows them; a double holds them exactly.
    std::vector<double> both{static_cast<double>(places.velocity),
                             static_cast<double>(places.pressure)};
    exchange_.sum(both);
    places = {static_cast<std::uint64_t>(both[0]), static_cast<std::uint64_t>(both[1])};
    together([&] { field.write(*solver_, *layout_, places); });
    together([&] {
        if (first()) field.finish(clocks_);
    });
    files_.push_back(field.path());
    files_.push_back(field.xdmf_path());
}

// This rank's part of the hash of velocity and pressure; the sum over ranks is that of the fields.
std::uint64_t Run::hash() {
    const Extent &e = layout_->velocity(), &ep = layout_->pressure();
    const Triple &cells = layout_->cells();
    std::uint64_t sum = 0;
    for (Count k = 0; k < e.nz; ++k) {
        for (Count j = 0; j < e.ny; ++j) {
            const Count row =
                layout_->y_share().begin + j + cells[1] * (layout_->z_share().begin + k);
            const auto add = [&](Count array, const double *at) {
                const Count number = cells[0] * (row + cells[1] * cells[2] * array);
                sum += apps::hash_of_row(static_cast<std::uint64_t>(number), at,
                                         static_cast<std::size_t>(e.nx));
            };
            for (Count n = 0; n < Velocity::kComponents; ++n)
                add(n, solver_->velocity().at(n) + j * e.row() + k * e.plane());
            add(Velocity::kComponents, solver_->pressure() + j * ep.row() + k * ep.plane());
        }
    }
    return sum;
}

// Adds the total time and the median step: their mean and range over the ranks.
void Run::add_times(apps::Result &result, const char *name, const apps::Phase &phase) {
    const std::vector<double> all = exchange_.gather(
        {static_cast<double>(phase.total_ns) * 1e-9, phase.steps.median_ns() * 1e-3});
    if (!first()) return;
    const apps::Spread total = apps::spread_of(all, 0, 2), step = apps::spread_of(all, 1, 2);
    result.add(fmt::format("{}_s_mean", name), total.mean);
    result.add(fmt::format("{}_s_max", name), total.max);
    result.add(fmt::format("{}_step_us_mean", name), step.mean);
    result.add(fmt::format("{}_step_us_min", name), step.min);
    result.add(fmt::format("{}_step_us_max", name), step.max);
}

void Run::add_physics(apps::Result &result) {
    const double divergence = solver_->divergence(), mean = solver_->mean_velocity();
    const double stress = solver_->wall_stress(), momentum = solver_->momentum_error();
    std::vector<double> squares{0};
    double largest = 0;
    if (case_->is_known()) {
        const Case::Error error = case_->error(solver_->velocity(), clocks_.time);
        squares[0] = error.squares;
        exchange_.sum(squares);
        largest = exchange_.max(error.largest);
    }
    const std::uint64_t mine = hash();
    const std::vector<double> hashes = exchange_.gather(
        {static_cast<double>(mine & 0xffffffffu), static_cast<double>(mine >> 32)});
    if (!first()) return;
    std::uint64_t hash = 0;
    for (std::size_t at = 0; at < hashes.size(); at += 2)
        hash += static_cast<std::uint64_t>(hashes[at]) +
                (static_cast<std::uint64_t>(hashes[at + 1]) << 32);
    result.add("steps", steps_);
    result.add("last_step", clocks_.step);
    result.add("time", clocks_.time);
    result.add("time_step", clocks_.time_step);
    result.add("mean_velocity", mean);
    result.add("gradient", solver_->gradient());
    result.add("wall_stress", stress);
    result.add("friction_velocity", std::sqrt(std::fabs(stress)));
    result.add("divergence", divergence);
    result.add("momentum_error", momentum);
    result.add("samples", statistics_->samples());
    result.add("mean_bulk", statistics_->bulk());
    result.add("mean_wall_stress", statistics_->wall_stress());
    if (case_->is_known()) {
        const double volume = options_.length_x * options_.length_y * options_.height;
        result.add("largest_error", largest);
        result.add("rms_error", std::sqrt(squares[0] / volume));
    }
    result.add("field_hash", fmt::format("{:016x}", hash));
}

void Run::report() {
    apps::Result result;
    result.add("program", kProgram);
    result.add("backend", exchange_.backend());
    result.add("subject", exchange_.name());
    result.add("ranks", exchange_.size());
    result.add("ranks_y", layout_->ranks_y());
    result.add("ranks_z", layout_->ranks_z());
    result.add("cells", std::vector<double>(options_.cells.begin(), options_.cells.end()));
    result.add("order", options_.order);
    result.add("case", options_.problem);
    result.add("transpose", options_.transpose);
    result.add("overlap", options_.overlap);
    result.add("threads", options_.threads);
    result.add("pieces_transpose", exchange_.pieces(Leg::to_y));
    result.add("pieces_tridiagonal", exchange_.pieces(Leg::down));
    result.add("coupled_pairs", solver_->coupled());
    add_physics(result);
    for (std::size_t part = 0; part < kParts; ++part)
        add_times(result, kPartNames[part], times_.parts[part]);
    add_times(result, "velocity_update", times_.velocity_update);
    add_times(result, "pressure_solver", times_.pressure_solver);
    add_times(result, "communicate", times_.communicate);
    add_times(result, "step", times_.whole);
    if (!first()) return;
    if (!options_.json)
        for (const std::string &file : files_)
            result.add("written", file);
    const std::string text = options_.json ? result.json() : result.table();
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
}

}  // namespace

int run(Exchange &exchange, int argc, const char *const *argv) {
    try {
        Options options;
        std::string help;
        bool goes_on = true;
        apps::together(exchange, kProgram,
                       [&] { goes_on = parse_options(options, argc, argv, help); });
        if (!goes_on) {
            if (exchange.rank() == 0) std::fputs(help.c_str(), stdout);
            return 0;
        }
        Run run(exchange, options);
        run.prepare();
        run.solve();
        run.write();
        run.report();
        return 0;
    } catch (const apps::Refused &) {
        return 1;
    }
}

}  // namespace flow
