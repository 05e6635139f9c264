// The launchers that start the ranks of a benchmark, each with its fastest settings: Sennit's own,
// and those of the MPIs that this build has.
#pragma once

#include <string>
#include <vector>

#include "bench_options.hpp"

namespace sennit::cli {

struct Launcher {
    std::string name;  // sennit, openmpi, mpich, openshmem; ends the measuring programs' names
    std::string path;
};

// Sennit's own launcher: this program.
Launcher own_launcher();

// Whether Open MPI's OpenSHMEM is measured with `--mpi all`.
bool compares_with_openshmem(const BenchOptions &options);

// The launchers of the MPIs and of OpenSHMEM that the options select. Throws std::runtime_error if
// an option names one that is missing.
std::vector<Launcher> mpi_launchers(const BenchOptions &options);

// A measuring program, `sennit-bench-KIND-NAME`: beside this program or in its libexec folder.
std::string measuring_program(const std::string &kind, const std::string &name);

// Processors that this process may use.
int available_cores();

// The command line that starts `program` on `ranks` ranks, bound to cores if there are enough.
std::vector<std::string> launch_command(const Launcher &launcher, int ranks, double timeout_s,
                                        const std::vector<std::string> &program);

// The command line that starts `program` on two hosts that tools/cluster makes. `progress`: the
// value of SENNIT_PROGRESS; "": unchanged.
std::vector<std::string> cluster_command(const BenchOptions &options, const Launcher &launcher,
                                         int ranks, const std::string &progress,
                                         const std::vector<std::string> &program);

// launch_command() with the launcher's default binding, as a user would type it.
std::vector<std::string> plain_launch_command(const Launcher &launcher, int ranks,
                                              const std::vector<std::string> &program);

}  // namespace sennit::cli
