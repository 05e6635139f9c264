// Who starts the ranks of a benchmark and how: Sennit's own launcher, and the launchers of the MPIs
// that this build has, each with the settings that suit it best.
#pragma once

#include <string>
#include <vector>

#include "bench_options.hpp"

namespace sennit::cli {

struct Launcher {
    std::string name;  // sennit, openmpi, mpich, openshmem: also the last part of program names
    std::string path;
};

// Sennit's own launcher: this program.
Launcher own_launcher();

// Is OpenSHMEM, Open MPI's, measured among `all`?
bool compares_with_openshmem(const BenchOptions &options);

// Those MPIs that the options ask for, and OpenSHMEM. Throws std::runtime_error for one that was
// asked for by its name and is not there.
std::vector<Launcher> mpi_launchers(const BenchOptions &options);

// A measuring program, `sennit-bench-KIND-NAME`: beside this program or in its libexec folder.
std::string measuring_program(const std::string &kind, const std::string &name);

// Processors that this process may use.
int available_cores();

// The command line that starts `program` on `ranks` ranks, bound to cores where there are enough.
std::vector<std::string> launch_command(const Launcher &launcher, int ranks, double timeout_s,
                                        const std::vector<std::string> &program);

// The same on two hosts that tools/cluster makes. `progress`: of SENNIT_PROGRESS; "": as it is.
std::vector<std::string> cluster_command(const BenchOptions &options, const Launcher &launcher,
                                         int ranks, const std::string &progress,
                                         const std::vector<std::string> &program);

// The first, with every launcher's default binding, as a user types it.
std::vector<std::string> plain_launch_command(const Launcher &launcher, int ranks,
                                              const std::vector<std::string> &program);

}  // namespace sennit::cli
