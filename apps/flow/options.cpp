#include "options.hpp"

#include "common/command_line.hpp"
#include "common/failure.hpp"

namespace flow {
namespace {

constexpr double kLargest = 1e100;
constexpr double kSmallest = 1e-100;

void add_problem(apps::CommandLine &line, Options &o) {
    line.triple("--cells", o.cells, {1, 100'000}, "cells in each direction");
    line.real("--length-x", o.length_x, {kSmallest, kLargest}, "of the channel, along the flow");
    line.real("--length-y", o.length_y, {kSmallest, kLargest}, "across the flow");
    line.real("--height", o.height, {kSmallest, kLargest}, "from wall to wall, in z");
    line.real("--stretching", o.stretching, {0, 10},
              "the larger, the thinner are cells at the walls; 0: all are equal");
    line.number("--order", o.order, {2, 4}, "of the differences in x and y: 2 or 4");
    line.word(
        "--case", o.problem, {"channel", "rest", "laminar", "vortex"},
        "start: a mean profile with noise; at rest; the laminar profile; a vortex that decays "
        "between walls with slip, whose solution is known");
    line.real("--viscosity", o.viscosity, {kSmallest, kLargest}, "kinematic");
    line.real("--gradient", o.gradient, {-kLargest, kLargest},
              "of the pressure, which drives the flow, over the density");
    line.real("--bulk", o.bulk, {-kLargest, kLargest},
              "mean velocity that is kept in place of a gradient; 0: the gradient is kept");
    line.real("--noise", o.noise, {0, kLargest}, "of the start `channel`, over its mean velocity");
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
    line.number("--threads", o.threads, {1, 1024}, "of each rank, which compute");
    line.number("--pieces", o.pieces, {0, 128},
                "of each exchange of the pressure solver, where the program has them in pieces; "
                "0: up to 8 of at least 16 KiB, but as many as threads");
    line.text("--output", o.output, "folder of the field and the statistics");
    line.word("--format", o.format, {"vtk", "hdf5"}, "of the field");
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
