// Finding the program, and starting one rank of it. Called by cli/run.cpp (find) and the keeper.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "launch/job.hpp"

namespace sennit::cli {

// The file that `name` stands for, searched in PATH as a shell does. exit_code is 0, or 126 or 127
// with `message` saying why.
struct FoundProgram {
    int exit_code = 0;
    std::string path;
    std::string message;
};
FoundProgram find_program(const std::string &name);

// Descriptors of the rank to be, all close-on-exec in the keeper.
struct RankFiles {
    int standard_input;
    int standard_output;
    int standard_error;
    int control;
};

// What all ranks of a job share when they are started. Made once by the keeper.
struct SpawnPlan {
    const Job *job;
    std::vector<std::string> environment;
    std::optional<rlimit> descriptors;  // limit on open files that the ranks get back, if known
};

// Starts rank `rank` in its own process group. Returns its process, or -1 and errno of the step
// that failed; its name is stored in `step`.
pid_t spawn_rank(const SpawnPlan &plan, int rank, const RankFiles &files, const char *&step);

}  // namespace sennit::cli
