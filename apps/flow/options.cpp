#include "options.hpp"

#include "common/command_line.hpp"
#include "common/failure.hpp"

namespace flow {
namespace {

constexpr double kLargest = 1e100;
constexpr double kSmallest = 1e-100;

void add_problem(apps::CommandLine &line, Options &o) {
    line.triple("--cells", o.cells, {1, 100'000}, "cells in each direction");
    line.real("--length-x", o.length_x, {kSmallest, kLargest}, "channel length, along the flow");
    line.real("--length-y", o.length_y, {kSmallest, kLargest}, "channel width, across the flow");
    line.real("--height", o.height, {kSmallest, kLargest}, "channel height, from wall to wall");
    line.real("--stretching", o.stretching, {0, 10},
              "a larger value makes the cells at the walls thinner; 0: equal cells");
    line.number("--order", o.order, {2, 4}, "order of the differences in x and y: 2 or 4");
    line.word(
        "--case", o.problem, {"channel", "rest", "laminar", "vortex"},
        "start: a mean profile with noise; at rest; the laminar profile; a vortex that decays "
        "between walls with slip, whose solution is known");
    line.real("--viscosity", o.viscosity, {kSmallest, kLargest}, "kinematic viscosity");
    line.real("--gradient", o.gradient, {-kLargest, kLargest},
              "pressure gradient that drives the flow, over the density");
    line.real("--bulk", o.bulk, {-kLargest, kLargest},
              "mean velocity to keep instead of the gradient; 0: keep the gradient");
    line.real("--noise", o.noise, {0, kLargest}, "noise of `channel`, over its mean velocity");
}

void add_run(apps::CommandLine &line, Options &o) {
    line.number("--ranks-y", o.ranks_y, {0, 1'000'000}, "ranks in y; 0: chosen");
    line.number("--ranks-z", o.ranks_z, {0, 1'000'000}, "ranks in z; 0: chosen");
    line.real("--time-step", o.time_step, {0, kLargest}, "0: chosen by --cfl and viscosity");
    line.real("--cfl", o.cfl, {kSmallest, 10}, "cells that the flow passes in a chosen time step");
    line.number("--steps", o.steps, {0, 1'000'000'000'000}, "time steps of this run");
    line.number(
        "--check-every", o.check_every, {1, 1'000'000'000'000},
        "steps between choices of the time step, samples of statistics, and progress lines");
    line.text("--transpose", o.transpose,
              "packed: pack and all-to-all; described: blocks sent from and to their places");
    line.word("--overlap", o.overlap, {"on", "off"},
              "whether inner cells are computed while halos are under way");
    line.number("--threads", o.threads, {1, 1024}, "threads of each rank");
    line.number("--pieces", o.pieces, {0, 128},
                "pieces of an exchange of the pressure solver, in programs that split it; "
                "0: up to 8 of at least 16 KiB, or one for each thread if that is more");
    line.text("--output", o.output, "folder of the field and the statistics");
    line.word("--format", o.format, {"vtk", "hdf5"}, "format of the field");
    line.text("--restart", o.restart, "go on from this file");
    line.text("--save", o.save, "write a file to go on from, at the end");
    line.flag("--no-output", o.no_output, "write no field and no statistics");
    line.flag("--quiet", o.quiet, "no progress line");
    line.flag("--json", o.json, "print the result as one JSON object on one line");
}

}  // namespace

bool parse_options(Options &options, int argc, const char *const *argv, std::string &help) {
    apps::CommandLine line("flow", "Incompressible flow between two walls.");
    add_problem(line, options);
    add_run(line, options);
    line.config("--config",
                "INI file of these settings, without the dashes; the command line wins");
    const bool goes_on = line.parse(argc, argv);
    help = line.help();
    if (goes_on && options.order == 3) throw apps::Failure("--order: 3 is neither 2 nor 4");
    return goes_on;
}

}  // namespace flow
