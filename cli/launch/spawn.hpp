// Finds the program (for cli/run.cpp) and starts one rank of it (for the keeper).
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "launch/job.hpp"

namespace sennit::cli {

// The file of the program `name`, searched in PATH as by a shell. exit_code is 0, or 126 or 127
// with the reason in `message`.
struct FoundProgram {
    int exit_code = 0;
    std::string path;
    std::string message;
};
FoundProgram find_program(const std::string &name);

// Descriptors for the new rank, all close-on-exec in the keeper.
struct RankFiles {
    int standard_input;
    int standard_output;
    int standard_error;
    int control;
};

// Arguments that are the same for all ranks of a job. Made once by the keeper.
struct SpawnPlan {
    const Job *job;
    std::vector<std::string> environment;
    std::optional<rlimit>
        descriptors;  // original limit of open files, restored in the ranks, if known
};

// Starts rank `rank` in its own process group. Returns its process; or -1 with errno, and the name
// of the failed step in `step`.
pid_t spawn_rank(const SpawnPlan &plan, int rank, const RankFiles &files, const char *&step);

}  // namespace sennit::cli
