// The options of `sennit bench`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sennit::cli {

struct BenchOptions {
    std::string bench;
    std::vector<int> ranks;
    std::vector<std::string> mpis{"all"};
    std::vector<std::uint64_t> sizes;  // in bytes; empty for benches without sizes
    std::uint64_t rounds = 0;
    double seconds = 1.0;    // for one size; not for start
    double timeout_s = 300;  // for one job
    bool untouched = false;  // only for pingpong
    bool json = false;
    bool show_commands = false;
    std::string cluster;  // tools/cluster; "": all ranks on this machine
    int rails = 1;        // networks between the hosts of the cluster
    std::string rate;     // of the rails, in the form of tools/cluster; "": not limited
    std::vector<std::string> progress;  // for progress: values of SENNIT_PROGRESS, one job each
    std::vector<int> nodes;             // for start: numbers of emulated nodes, one job each
    std::string openmpi_launcher;
    std::string mpich_launcher;
};

// Each function measures, prints, and returns the exit code of the program.
int bench_ranks(const BenchOptions &options);   // measurements inside one job
int bench_start(const BenchOptions &options);   // start
int bench_memory(const BenchOptions &options);  // memory

}  // namespace sennit::cli
