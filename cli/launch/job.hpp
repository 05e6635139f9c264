// The job to run, and the parts of the launcher. Filled by cli/run.cpp, argument of run_job().
//
// Two processes run a job. The front is the process the user started: it forwards signals and
// waits. The keeper is its child, and the parent and subreaper of all ranks: it does everything
// else. Each of the two ends the ranks if the other dies. docs/design/launcher.md describes which
// process watches which.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/launch_protocol.hpp"

namespace sennit::cli {

enum class Binding { kShare, kCore, kNone };

using Cookie = std::array<unsigned char, runtime::kLaunchCookieBytes>;

struct Job {
    int ranks = 0;
    int nodes = 0;  // emulated nodes for the ranks; 0: the machine is one node
    Binding binding = Binding::kShare;
    bool tag = false;
    bool keep_going = false;
    bool by_oshrun = false;  // messages use the terms of OpenSHMEM
    std::optional<double> timeout_seconds;
    std::vector<std::string> set_variables;  // "NAME=value", from --env
    std::string program;                     // as found by find_program()
    std::vector<std::string> arguments;      // [0] is the name as typed

    // Filled by run_job().
    Cookie cookie{};
    sigset_t original_mask{};            // restored in the ranks
    std::vector<std::vector<int>> cpus;  // per rank; empty: not bound
    int input_fd = -1;                   // standard input of rank 0
    bool at_terminal = false;            // rank 0's standard input is a terminal
};

// Exit codes that are not a rank's own.
inline constexpr int kExitUnfinished = 1;  // a rank ended with 0 and without sennit_finalize
inline constexpr int kExitUsage = 2;
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitInternal = 125;  // the launcher itself failed
inline constexpr int kExitNotExecutable = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignalBase = 128;

// Times for the end of the job, in nanoseconds.
inline constexpr std::int64_t kTermToKillNs = 500'000'000;
inline constexpr std::int64_t kFrontLostToKillNs = 250'000'000;
inline constexpr std::int64_t kInterruptToKillNs = 5'000'000'000;
inline constexpr std::int64_t kLeftoverGraceNs = 200'000'000;
inline constexpr std::int64_t kKillToGiveUpNs = 2'000'000'000;

// Signals that the front passes to the ranks. kEndingSignals end the job.
inline constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
inline constexpr std::array kPassedSignals = {SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGWINCH};

// A message of `sennit run` in the terms of oshrun.
std::string as_oshrun(std::string message);

// Runs the job from start to end in the calling process (the front) and a child (the keeper).
// Returns the exit code of the command.
int run_job(Job job);

// keeper.cpp: the whole life of the keeper; `front_fd` is its end of the pipe from the front.
int keep_job(const Job &job, int front_fd);

// The part of the environment that is the same for all ranks: the variables of this process without
// those of other launchers, plus job.set_variables.
std::vector<std::string> rank_environment(const std::vector<std::string> &set_variables);

// The CPUs of each rank. Empty if the ranks are not bound.
std::vector<std::vector<int>> plan_binding(Binding binding, int ranks);

}  // namespace sennit::cli
