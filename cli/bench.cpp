// `sennit bench`: options and help. bench_ranks.cpp and bench_start.cpp launch the jobs that
// measure.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>

#include "bench_launch.hpp"
#include "bench_options.hpp"
#include "commands.hpp"
#include "usage.hpp"

namespace sennit::cli {

namespace {

using Runner = int (*)(const BenchOptions &);

struct Entry {
    const char *name;
    const char *help;
    Runner runner;
    std::vector<int> ranks;
    std::vector<std::uint64_t> sizes;
    std::uint64_t rounds;
};

constexpr std::uint64_t kKi = 1024;
constexpr std::uint64_t kMi = kKi * kKi;

using Sizes = std::vector<std::uint64_t>;

// A benchmark that measures inside one job, of 2 ranks unless the user gives another number.
Entry in_one_job(const char *name, const char *help, Sizes sizes = {}) {
    return {name, help, bench_ranks, {2}, std::move(sizes), 201};
}

const std::vector<Entry> &entries() {
    const Sizes transfers{8, 64, kKi, 64 * kKi, kMi, 16 * kMi};
    const Sizes collectives{8, 64, kKi, 8 * kKi, 64 * kKi, kMi, 4 * kMi};
    static const std::vector<Entry> all{
        in_one_job("pingpong", "half the round trip of a message between two ranks",
                   {0, 8, 64, kKi, 8 * kKi, 64 * kKi, kMi}),
        in_one_job("put", "a blocking put, against a bare store or memcpy", transfers),
        in_one_job("get", "a blocking get, against a bare load or memcpy", transfers),
        in_one_job("rate", "small puts with 64 in flight, time of each"),
        in_one_job("wake", "a put and a get whose target sleeps or computes, on another host"),
        in_one_job("barrier", "a barrier of all ranks"),
        in_one_job("channel", "half the round trip of a channel's buffer",
                   {0, 8, kKi, 64 * kKi, kMi, 64 * kMi}),
        in_one_job("notify", "half the round trip of a message and its event",
                   {8, 64, kKi, 64 * kKi}),
        in_one_job("plan", "a plan of 64 puts, against copies by hand, single puts and MPI's puts",
                   {8, 64, kKi}),
        {"rails",
         "messages over several rails: one pair, or two pairs that compute",
         bench_ranks,
         {2, 4},
         {kMi, 4 * kMi, 16 * kMi},
         21},
        in_one_job("progress", "gain and cost of the progress thread"),
        in_one_job("queue", "a stream of items through a queue, from all other ranks to one",
                   {8, 64, 512}),
        in_one_job("strided", "a strided put, against a loop by hand and MPI's derived datatypes",
                   {kKi, 16 * kKi, 256 * kKi}),
        in_one_job("cma", "get and put of private memory, against the bare system calls",
                   {8, kKi, 64 * kKi, kMi, 16 * kMi}),
        in_one_job("adopt", "adoption of used memory, and access to it afterwards",
                   {64 * kKi, kMi, 16 * kMi, 64 * kMi}),
        in_one_job("atomic",
                   "fetch_add, compare_swap, locks and accumulate, against the bare instructions",
                   {8, kKi}),
        in_one_job("broadcast", "a broadcast to all ranks", collectives),
        in_one_job("allreduce", "the sum of a vector of doubles of each rank, on all ranks",
                   collectives),
        in_one_job("alltoall", "a block from each rank to every rank", collectives),
        {"start", "start and end of an empty job", bench_start, {2, 16}, {}, 11},
        {"memory", "private memory of an idle rank", bench_memory, {2}, {}, 3},
    };
    return all;
}

void add_shared_options(CLI::App &command, BenchOptions &options) {
    command.add_option("-n,--ranks", options.ranks, "Ranks, a job for each number")
        ->delimiter(',')
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    std::string help = "MPIs to compare with; all: those of this build";
    std::vector<std::string> names{"openmpi", "mpich", "all", "none"};
    if (compares_with_openshmem(options)) {
        help = "MPIs to compare with; openshmem: Open MPI's; all: those of this build";
        names.insert(names.begin() + 2, "openshmem");
    }
    command.add_option("--mpi", options.mpis, help)
        ->delimiter(',')
        ->check(CLI::IsMember(names))
        ->capture_default_str();
    command.add_option("--rounds", options.rounds, "Most rounds; each measures every subject")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    command.add_option("--timeout", options.timeout_s, "Time limit of a job in seconds")
        ->check(check_seconds)
        ->capture_default_str();
    command.add_flag("--json", options.json, "Print JSON, an object a line");
    command.add_flag("--commands", options.show_commands,
                     "Print the command of each job to stderr");
    command.add_option("--openmpi-launcher", options.openmpi_launcher, "Open MPI's mpirun")
        ->check(CLI::ExistingFile);
    command.add_option("--mpich-launcher", options.mpich_launcher, "MPICH's mpiexec")
        ->check(CLI::ExistingFile);
}

void add_size_options(CLI::App &command, BenchOptions &options) {
    const std::uint64_t least = options.bench == "pingpong" || options.bench == "channel" ? 0 : 8;
    // An item of a queue is at most 1 MiB.
    const std::uint64_t most = options.bench == "queue" ? kMi : kMostBytes;
    command
        .add_option("--bytes", options.sizes,
                    "Sizes of the message, multiples of 8, such as 64K,1M")
        ->delimiter(',')
        ->transform(size_validator(least, most));
}

// Options of measurements that can run between two hosts.
void add_cluster_options(CLI::App &command, BenchOptions &options) {
    static const std::set<std::string> between_hosts{
        "put",  "get",   "rate",     "wake",      "barrier",   "atomic",  "notify",
        "plan", "rails", "progress", "broadcast", "allreduce", "alltoall"};
    if (between_hosts.count(options.bench) == 0) return;
    if (options.bench == "rails") options.rails = 2;
    command.add_option("--rate", options.rate,
                       "With --cluster: rate of the rails in each direction, such as 400mbit; one "
                       "for each rail, with commas");
    command.add_option("--rails", options.rails, "With --cluster: rails between the hosts")
        ->check(CLI::Range(1, 8))
        ->capture_default_str();
    command
        .add_option(
            "--cluster", options.cluster,
            "Path of tools/cluster, which puts the ranks on two emulated hosts (wake, rails and "
            "progress need it); the raw limit is the provider's own calls")
        ->check(CLI::ExistingFile);
}

// The default settings of SENNIT_PROGRESS. The computing rank is on the second processor. The
// progress thread gets the third processor if there is one; otherwise it shares the first one with
// the rank that polls.
std::vector<std::string> progress_settings() {
    std::vector<std::string> settings{"off", "on,processor=1",
                                      available_cores() > 2 ? "on,processor=2" : "on,processor=0"};
    for (const int us : {5, 500, 5000})
        settings.push_back(fmt::format("on,processor=1,interval={}", us));
    return settings;
}

// Throws UsageError for numbers of ranks that the measurement does not support.
void require_ranks(const BenchOptions &options) {
    static const std::set<std::string> of_hosts{"wake", "rails", "progress"};
    if (of_hosts.count(options.bench) != 0 && options.cluster.empty())
        throw UsageError(fmt::format(
            "sennit bench {0}: --cluster is missing: {0} needs ranks on two hosts", options.bench));
    for (const int ranks : options.ranks) {
        static const std::set<std::string> one_way{"put",  "get",  "rate",
                                                   "wake", "plan", "progress"};
        const bool is_one_way = one_way.count(options.bench) != 0;
        if (is_one_way && ranks != 2)
            throw UsageError(
                fmt::format("sennit bench {}: -n must be 2, not {}: one rank moves the "
                            "data, one owns it",
                            options.bench, ranks));
        if (options.bench == "rails" && ranks != 2 && ranks != 4)
            throw UsageError(fmt::format(
                "sennit bench rails: -n must be 2 or 4, for one or two pairs, not {}", ranks));
        static const std::set<std::string> of_two{"barrier",   "atomic",    "notify",
                                                  "broadcast", "allreduce", "alltoall"};
        if (of_two.count(options.bench) != 0 && !options.cluster.empty() && ranks != 2)
            throw UsageError(
                fmt::format("sennit bench {}: with --cluster -n must be 2, not {}: the provider's "
                            "own calls are "
                            "measured between two ranks",
                            options.bench, ranks));
        const bool is_of_pairs =
            options.bench == "pingpong" || options.bench == "channel" || options.bench == "notify";
        if (options.bench == "queue" && ranks < 2)
            throw UsageError(
                "sennit bench queue: -n must be 2 or more: one rank takes, the others put in");
        if (is_of_pairs && ranks % 2 != 0)
            throw UsageError(
                fmt::format("sennit bench {}: -n must be an even number, for pairs, not {}",
                            options.bench, ranks));
    }
}

}  // namespace

void add_bench_command(CLI::App &app, int &exit_code) {
    CLI::App *bench =
        app.add_subcommand("bench", "Measure Sennit against the bare machine and against MPI");
    bench->require_subcommand(1);
    bench->footer(
        "Every job measures the raw limit, Sennit and the MPI that started it, if any, in turn;\n"
        "start and memory have a job for each.\n"
        "Compare within one job: times of different jobs are not comparable.\n"
        "Example: sennit bench pingpong --mpi openmpi --bytes 0,8,64K");
    for (const Entry &entry : entries()) {
        CLI::App *command = bench->add_subcommand(entry.name, entry.help);
        auto options = std::make_shared<BenchOptions>();
        options->bench = entry.name;
        options->ranks = entry.ranks;
        options->sizes = entry.sizes;
        options->rounds = entry.rounds;
        // No MPI has a counterpart.
        const bool has_no_mpi = options->bench == "cma" || options->bench == "adopt";
        if (has_no_mpi) options->mpis = {"none"};
        add_shared_options(*command, *options);
        if (!entry.sizes.empty()) {
            add_size_options(*command, *options);
        }
        if (entry.runner == bench_ranks) {
            command
                ->add_option("--seconds", options->seconds,
                             "Approximate time of one size in seconds")
                ->check(check_seconds)
                ->capture_default_str();
        }
        add_cluster_options(*command, *options);
        if (options->bench == "progress") {
            options->progress = progress_settings();
            command->add_option(
                "--progress", options->progress,
                "Settings of SENNIT_PROGRESS, a job for each; default: off, the thread on the "
                "processor of the computing rank, on another processor, and several intervals");
        }
        if (options->bench == "start") {
            command
                ->add_option(
                    "--nodes", options->nodes,
                    "Also jobs on this many emulated nodes (sennit run --nodes), one for each "
                    "number")
                ->delimiter(',')
                ->check(CLI::Range(2, 4096));
        }
        if (options->bench == "pingpong") {
            command->add_flag("--untouched", options->untouched,
                              "Only copy messages, without writing and reading their data");
        }
        command->callback([options, runner = entry.runner, &exit_code] {
            require_ranks(*options);
            try {
                exit_code = runner(*options);
            } catch (const std::exception &error) {
                std::fprintf(stderr, "sennit bench: %s\n", error.what());
                exit_code = 1;
            }
        });
    }
    // Set last: CLI11 copies a command's formatter to its subcommands when they are added.
    bench->formatter(std::make_shared<UsageFormatter>("WHAT [OPTIONS]"));
}

}  // namespace sennit::cli
