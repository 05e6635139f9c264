// `sennit run`: options and help. The work is done by run_job() in launch/.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "commands.hpp"
#include "launch/foreign_program.hpp"
#include "launch/job.hpp"
#include "launch/spawn.hpp"
#include "print_error.hpp"
#include "units.hpp"
#include "usage.hpp"

namespace sennit::cli {
namespace {

constexpr const char *kRunHelp =
    R"(Starts N ranks of a program on this machine and waits for them. On several machines use mpirun or
srun, which start programs of Sennit too.

Examples
  sennit run -n 4 ./heat3d --size 128       four ranks
  sennit run -n 2 --tag ./hello             each line of output begins with its rank
  sennit run -n 8 --timeout 60 ./test       ended after a minute, exit code 124
  sennit run -n 4 --env SENNIT_LOG=info ./prog
  sennit run -n 2 valgrind ./prog           any command may stand before the program
  sennit run -n 4 sh -c './prog > out.$SENNIT_RANK'
  sennit run -n 4 --nodes 2 ./prog          ranks 0, 1 and ranks 2, 3 use the network path

Ranks
  Each rank has SENNIT_RANK and SENNIT_SIZE in its environment.

Input and output
  Standard input goes to rank 0; the others get an empty file. Output is passed on in whole lines;
  standard output and standard error stay apart.

Signals
  SIGINT (Ctrl-C), SIGTERM, SIGHUP and SIGQUIT go to every rank. Ranks that still run 5 s later, or at
  the second such signal, are killed. SIGUSR1, SIGUSR2, SIGTSTP (Ctrl-Z), SIGCONT and SIGWINCH are
  passed on.

Exit code
  The code of the first rank that failed: its own, or 128 + the number of the signal that killed it.
  The others then get SIGTERM and 0.5 s later SIGKILL, unless --keep-going. Processes that ranks have
  started end with the job, also when this command is killed by SIGKILL.
  A rank that ends with 0 after sennit_init and without sennit_finalize counts as failed, with code 1.

  124  the --timeout has passed
  125  the launcher failed, or could not write the output (a full disk)
  126  the program cannot be executed
  127  the program was not found
  2    wrong usage; also a program of an MPI that does not call sennit_init, or a program that is
       linked to another OpenSHMEM library)";

struct RunOptions {
    Job job;
    std::string binding = "share";
    double timeout_seconds = 0;
    int ranks_of_node = 0;  // 0: not given
};

// A check of CLI11: returns an empty text for a number of ranks that can be started, else throws
// UsageError.
std::string check_ranks(const char *option, const std::string &text) {
    int ranks = 0;
    const char *end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, ranks);
    if (error != std::errc() || rest != end || ranks < 1 || ranks > runtime::kLaunchRanksMax) {
        throw UsageError(fmt::format("sennit run: {} must be a number from 1 to {}, not \"{}\"",
                                     option, runtime::kLaunchRanksMax, text));
    }
    return {};
}

// Prints a line of this command.
template <typename... Parts>
void say(const Job &job, fmt::format_string<Parts...> format, Parts &&...parts) {
    const std::string message = "sennit run: " + fmt::format(format, std::forward<Parts>(parts)...);
    print_error("{}\n", job.by_oshrun ? as_oshrun(message) : message);
}

int run(RunOptions &options, const std::vector<std::string> &program) {
    Job &job = options.job;
    if (options.binding == "core") job.binding = Binding::kCore;
    if (options.binding == "none") job.binding = Binding::kNone;
    if (options.timeout_seconds > 0) job.timeout_seconds = options.timeout_seconds;
    for (const std::string &setting : job.set_variables) {
        const std::size_t sign = setting.find('=');
        const std::string name = setting.substr(0, sign);
        if (name.empty()) {
            say(job, "--env must be NAME=VALUE or NAME, not \"{}\"", setting);
            return kExitUsage;
        }
        if (sign == std::string::npos && std::getenv(name.c_str()) == nullptr)
            say(job, "warning: --env {}: the variable is not set here, so the ranks do not get it",
                name);
    }
    // A variable without a value is taken from this command's environment, which the ranks inherit.
    std::erase_if(job.set_variables, [](const std::string &setting) {
        return setting.find('=') == std::string::npos;
    });
    if (options.ranks_of_node > 0) {
        const std::int64_t room = std::int64_t{options.ranks_of_node} * std::max(job.nodes, 1);
        if (job.ranks > room) {
            say(job, "-n {} is more than the {} that -N allows on {}", job.ranks,
                counted(room, "rank"), counted(std::max(job.nodes, 1), "node"));
            return kExitUsage;
        }
        if (job.ranks == 0) {
            (void)check_ranks("-N, for all nodes,", std::to_string(room));
            job.ranks = static_cast<int>(room);
        }
    }
    if (job.nodes > job.ranks) {
        say(job, "{} cannot be spread over {} nodes", counted(job.ranks, "rank"), job.nodes);
        return kExitUsage;
    }
    // The value for the ranks is appended later, and of two values getenv() returns the first.
    if (job.nodes > 0) (void)unsetenv("SENNIT_NODE");
    FoundProgram found = find_program(program.front());
    if (found.exit_code != 0) {
        say(job, "{}", found.message);
        return found.exit_code;
    }
    const ForeignProgram foreign = foreign_libraries_of(found.path);
    if (!foreign.openshmem.empty() && !foreign.has_sennit && job.ranks > 1) {
        say(job,
            "{} is linked to another OpenSHMEM library ({}) and not to Sennit: each rank would be "
            "a job of one PE; compile it with the oshcc of Sennit, or start it with its own oshrun",
            program.front(), foreign.openshmem);
        return kExitUsage;
    }
    job.program = std::move(found.path);
    job.arguments = program;
    return run_job(std::move(job));
}

}  // namespace

void add_run_command(CLI::App &app, const RunCommand &what, int &exit_code) {
    auto options = std::make_shared<RunOptions>();
    CLI::App *command = app.add_subcommand("run", "Start a program as N ranks on this machine");
    command->footer(kRunHelp);
    command->formatter(std::make_shared<UsageFormatter>("-n N [OPTIONS] [--] PROGRAM [ARGUMENTS]"));
    CLI::Option *ranks =
        command->add_option("-n,--ranks,--np", options->job.ranks, "number of ranks; also -np")
            ->type_name("N")
            ->check([](const std::string &text) { return check_ranks("-n", text); });
    CLI::Option *ranks_of_node =
        command
            ->add_option("-N,--per-node", options->ranks_of_node,
                         "ranks on each node; with -n the most on a node")
            ->type_name("N")
            ->check([](const std::string &text) { return check_ranks("-N", text); });
    command
        ->add_option(
            "--bind", options->binding,
            "share (default): an equal share of the cores for each rank, no binding with more "
            "ranks than CPUs; core: one core each; none: no binding")
        ->check(CLI::IsMember({"share", "core", "none"}));
    command
        ->add_option("--nodes", options->job.nodes,
                     "for tests: spread the ranks over this many emulated nodes of this machine")
        ->type_name("N")
        ->check(CLI::Range(1, 4096));
    command->add_flag("--tag", options->job.tag, "begin each line of output with [rank]");
    command
        ->add_option("--timeout", options->timeout_seconds,
                     "end the job after this many seconds, with exit code 124")
        ->check(check_seconds);
    command->add_flag("--keep-going", options->job.keep_going,
                      "do not end the other ranks when one fails");
    command
        ->add_option(
            "-x,--env", options->job.set_variables,
            "set NAME=VALUE in the environment of the ranks; NAME alone keeps the value that "
            "is set; repeatable")
        ->allow_extra_args(false);
    command->callback([ranks, ranks_of_node, options, &what, &exit_code] {
        if (ranks->count() == 0 && ranks_of_node->count() == 0) {
            throw UsageError("sennit run: how many ranks? -n N, before the program");
        }
        if (what.program.empty()) {
            throw UsageError("sennit run: which program? See sennit run --help");
        }
        options->job.by_oshrun = what.by_oshrun;
        exit_code = run(*options, what.program);
    });
}

}  // namespace sennit::cli
