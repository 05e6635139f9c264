// The benchmarks whose ranks measure together. Launches one job for each MPI, or one without an
// MPI. Each job measures the raw limit, Sennit and its MPI in turn. Prints the report of rank 0.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench_launch.hpp"
#include "bench_options.hpp"
#include "bench_process.hpp"
#include "bench_table.hpp"
#include "print_error.hpp"
#include "units.hpp"

namespace sennit::cli {

namespace {

struct JobReport {
    nlohmann::ordered_json about;
    std::vector<bench::Record> records;
};

std::vector<std::string> worker_command(const BenchOptions &options, const std::string &job,
                                        int ranks) {
    std::string sizes;
    for (const std::uint64_t bytes : options.sizes) {
        sizes += fmt::format("{}{}", sizes.empty() ? "" : ",", bytes);
    }
    std::vector<std::string> words{measuring_program("worker", job),
                                   options.bench,
                                   "--job",
                                   job,
                                   "--ranks",
                                   std::to_string(ranks),
                                   "--time-limit",
                                   std::to_string(static_cast<int>(options.timeout_s) + 5),
                                   "--rounds",
                                   std::to_string(options.rounds),
                                   "--seconds",
                                   std::to_string(options.seconds)};
    if (!sizes.empty()) {
        words.insert(words.end(), {"--bytes", sizes});
    }
    if (options.untouched) {
        words.push_back("--untouched");
    }
    return words;
}

void take_line(const std::string &text, const BenchOptions &options, JobReport &report) {
    const auto line = nlohmann::ordered_json::parse(text, nullptr, false);
    if (line.is_discarded() || !line.is_object()) {
        print_error("{}\n", text);  // output of another program: show it
    } else if (!line.contains("bench")) {
        report.about = line;
    } else {
        report.records.push_back(bench::record_from_json(line));
        if (options.json) {
            fmt::print("{}\n", line.dump());
            std::fflush(stdout);
        }
    }
}

// The error of a job, empty if it succeeded.
std::string failure_of(const ProcessResult &result, const BenchOptions &options,
                       const JobReport &report) {
    if (result.timed_out) {
        return fmt::format("did not end within {} s (--timeout)", options.timeout_s);
    }
    if (result.exit_code != 0) {
        return fmt::format("ended with exit code {}", result.exit_code);
    }
    return report.records.empty() ? "reported nothing" : "";
}

void print_report(const BenchOptions &options, const JobReport &report) {
    const auto text = [&](const char *field) { return report.about.value(field, std::string()); };
    const std::string library = text("library");
    fmt::print("{}: {}.\nStarted by {}; {}{}. Medians of batches in turn.\n", options.bench,
               bench_sentence(options.bench),
               library.empty() ? "sennit run" : fmt::format("the launcher of {}", library),
               text("binding"),
               report.about.value("oversubscribed", false) ? "; more ranks than cores" : "");
    // One table for each benchmark in the records; most jobs have one.
    for (auto first = report.records.begin(); first != report.records.end();) {
        const auto end =
            std::find_if(first, report.records.end(),
                         [&](const bench::Record &record) { return record.bench != first->bench; });
        if (first->bench != options.bench) {
            fmt::print("{}: {}\n", first->bench, bench_sentence(first->bench));
        }
        fmt::print("{}\n", time_table({first, end}));
        first = end;
    }
    std::fflush(stdout);
}

// Open MPI may lack OpenSHMEM, or its OpenSHMEM may not run here. If the user did not name it, its
// failure is reported but is no error.
bool may_be_missing(const BenchOptions &options, const std::string &launcher) {
    return launcher == "openshmem" &&
           std::find(options.mpis.begin(), options.mpis.end(), launcher) == options.mpis.end();
}

void report_missing(const BenchOptions &options, const std::string &reason) {
    fmt::print(options.json ? stderr : stdout, "openshmem: not measured: {}\n", reason);
    std::fflush(stdout);
}

bool run_job(const BenchOptions &options, const Launcher &launcher, int ranks,
             const std::string &progress) {
    const auto worker = worker_command(options, launcher.name, ranks);
    const auto command = options.cluster.empty()
                             ? launch_command(launcher, ranks, options.timeout_s, worker)
                             : cluster_command(options, launcher, ranks, progress, worker);
    if (options.show_commands) {
        print_error("{}\n", fmt::join(command, " "));
    }
    JobReport report;
    const ProcessResult result =
        run_process(command, options.timeout_s,
                    [&](const std::string &line) { take_line(line, options, report); });
    if (!options.json && !report.records.empty()) {
        print_report(options, report);
    }
    const std::string failure = failure_of(result, options, report);
    if (!failure.empty() && may_be_missing(options, launcher.name)) {
        report_missing(options, fmt::format("the job {}: {}", failure, fmt::join(command, " ")));
        return true;
    }
    if (!failure.empty()) {
        print_error("sennit bench: the {} job of {} {}: {}\n", launcher.name,
                    counted(ranks, "rank"), failure, fmt::join(command, " "));
    }
    return failure.empty();
}

// Runs one job for each setting of SENNIT_PROGRESS.
bool run_jobs(const BenchOptions &options, const Launcher &launcher, int ranks) {
    if (options.progress.empty()) return run_job(options, launcher, ranks, "");
    bool all_well = true;
    for (const std::string &progress : options.progress) {
        if (!options.json) fmt::print("SENNIT_PROGRESS={}\n", progress);
        all_well &= run_job(options, launcher, ranks, progress);
    }
    return all_well;
}

}  // namespace

int bench_ranks(const BenchOptions &options) {
    std::vector<Launcher> launchers = mpi_launchers(options);
    if (!options.cluster.empty() && launchers.empty())
        throw std::runtime_error(
            "--cluster needs an MPI, whose launcher starts ranks on several hosts");
    const bool without =
        std::find(options.mpis.begin(), options.mpis.end(), "none") != options.mpis.end();
    if (launchers.empty() || without) {
        launchers.insert(launchers.begin(), own_launcher());
    }
    bool all_well = true;
    for (const int ranks : options.ranks) {
        for (const Launcher &launcher : launchers) {
            all_well &= run_jobs(options, launcher, ranks);
        }
    }
    const bool asks_for_all =
        std::find(options.mpis.begin(), options.mpis.end(), "all") != options.mpis.end();
    const bool is_missing = std::none_of(launchers.begin(), launchers.end(),
                                         [](const Launcher &l) { return l.name == "openshmem"; });
    if (asks_for_all && is_missing && compares_with_openshmem(options))
        report_missing(options, "it was not found when this program was built");
    return all_well ? 0 : 1;
}

}  // namespace sennit::cli
