// The benchmarks of whole jobs, launched in turn: the time of start and end, and the private memory
// of an idle rank.
#include <fmt/format.h>

#include <cstdio>
#include <functional>
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

using bench::Record;
using bench::summarise;

// One way of starting a job. For `start`: run() starts one job and returns its time in nanoseconds.
struct Candidate {
    std::string subject;
    std::string job;
    std::function<double()> run;
    std::vector<double> samples;
    std::vector<double> pss_samples;
};

void run_or_throw(const std::vector<std::string> &command, const BenchOptions &options,
                  ProcessResult &result, const LineHandler &on_line) {
    if (options.show_commands) {
        print_error("{}\n", fmt::join(command, " "));
    }
    result = run_process(command, options.timeout_s, on_line);
    if (result.timed_out || result.exit_code != 0) {
        throw std::runtime_error(fmt::format("{}: {}", fmt::join(command, " "),
                                             result.timed_out
                                                 ? std::string("did not end in time (--timeout)")
                                                 : fmt::format("exit code {}", result.exit_code)));
    }
}

double time_job(const std::vector<std::string> &command, const BenchOptions &options) {
    ProcessResult result;
    run_or_throw(command, options, result, nullptr);
    return result.elapsed_ns;
}

std::vector<Launcher> all_launchers(const BenchOptions &options) {
    std::vector<Launcher> launchers{own_launcher()};
    for (const Launcher &launcher : mpi_launchers(options)) {
        launchers.push_back(launcher);
    }
    return launchers;
}

std::string launcher_verb(const Launcher &launcher) {
    if (launcher.name == "sennit") {
        return "sennit-run";
    }
    return launcher.name == "openmpi" ? "openmpi-mpirun" : "mpich-mpiexec";
}

void print_records(const BenchOptions &options, const std::vector<Record> &records, int ranks) {
    if (options.json) {
        for (const Record &record : records) {
            fmt::print("{}", bench::line_of(record));
        }
    } else {
        const bool is_memory = options.bench == "memory";
        fmt::print("{}: {}.\n{} on {}, {}, jobs in turn.\n{}\n", options.bench,
                   bench_sentence(options.bench), counted(ranks, "rank"),
                   counted(available_cores(), "core"),
                   is_memory ? "all ranks of all jobs" : "every launcher's default binding",
                   is_memory ? memory_table(records) : time_table(records));
    }
    std::fflush(stdout);
}

std::vector<Record> records_of(const BenchOptions &options, std::vector<Candidate> &candidates,
                               int ranks) {
    const bool is_memory = options.bench == "memory";
    std::vector<Record> records;
    double raw = 0.0;
    for (Candidate &candidate : candidates) {
        Record record;
        record.bench = options.bench;
        record.subject = candidate.subject;
        record.job = candidate.job;
        record.ranks = ranks;
        const bench::Summary summary = summarise(candidate.samples);
        raw = records.empty() ? summary.median : raw;
        record.ratio_to_raw = summary.median / raw;
        if (is_memory) {
            record.memory = bench::MemoryUse{summary, summarise(candidate.pss_samples).median};
        } else {
            record.time_ns = summary;
        }
        const std::string complaint = bench::complaint_about(record);
        if (!complaint.empty()) {
            throw std::runtime_error(candidate.subject + ": " + complaint);
        }
        records.push_back(record);
    }
    return records;
}

// Every rank prints one line about its own process.
void sample_memory(const std::vector<std::string> &command, std::size_t expected,
                   const BenchOptions &options, Candidate &candidate) {
    ProcessResult result;
    std::size_t seen = 0;
    run_or_throw(command, options, result, [&](const std::string &text) {
        const auto line = nlohmann::json::parse(text, nullptr, false);
        if (line.is_object() && line.contains("private_bytes")) {
            candidate.samples.push_back(line.at("private_bytes").get<double>());
            candidate.pss_samples.push_back(line.at("pss_bytes").get<double>());
            ++seen;
        }
    });
    if (seen != expected) {
        throw std::runtime_error(
            fmt::format("{}: {} of {} ranks reported", fmt::join(command, " "), seen, expected));
    }
}

}  // namespace

int bench_start(const BenchOptions &options) {
    for (const int ranks : options.ranks) {
        std::vector<Candidate> candidates;
        candidates.push_back(
            {"raw-spawn", "raw", [ranks] { return spawn_and_wait({"true"}, ranks); }, {}, {}});
        for (const Launcher &launcher : all_launchers(options)) {
            const auto command =
                plain_launch_command(launcher, ranks, {measuring_program("start", launcher.name)});
            candidates.push_back({launcher_verb(launcher),
                                  launcher.name,
                                  [command, &options] { return time_job(command, options); },
                                  {},
                                  {}});
        }
        if (!options.nodes.empty()) {
            const std::vector<std::string> command{measuring_program("start", "none"),
                                                   "--provider"};
            candidates.push_back({"raw-provider",
                                  "raw",
                                  [command, ranks] { return spawn_and_wait(command, ranks); },
                                  {},
                                  {}});
        }
        for (const int nodes : options.nodes) {
            if (nodes > ranks) continue;
            auto command = plain_launch_command(own_launcher(), ranks,
                                                {measuring_program("start", own_launcher().name)});
            command.insert(command.begin() + 2, {"--nodes", std::to_string(nodes)});
            candidates.push_back({fmt::format("sennit-run-nodes-{}", nodes),
                                  own_launcher().name,
                                  [command, &options] { return time_job(command, options); },
                                  {},
                                  {}});
        }
        for (Candidate &candidate : candidates) {
            candidate.run();  // warm up: files are then in the page cache
        }
        for (std::uint64_t round = 0; round < options.rounds; ++round) {
            for (Candidate &candidate : candidates) {
                candidate.samples.push_back(candidate.run());
            }
        }
        print_records(options, records_of(options, candidates, ranks), ranks);
    }
    return 0;
}

int bench_memory(const BenchOptions &options) {
    const std::string flag = "--memory";
    for (const int ranks : options.ranks) {
        std::vector<Candidate> candidates{{"raw-process", "raw", {}, {}, {}}};
        std::vector<std::vector<std::string>> commands{{measuring_program("start", "none"), flag}};
        for (const Launcher &launcher : all_launchers(options)) {
            candidates.push_back({launcher.name + "-rank", launcher.name, {}, {}, {}});
            commands.push_back(plain_launch_command(
                launcher, ranks, {measuring_program("start", launcher.name), flag}));
        }
        for (std::uint64_t round = 0; round < options.rounds; ++round) {
            for (std::size_t i = 0; i < candidates.size(); ++i) {
                sample_memory(commands[i], i == 0 ? 1 : static_cast<std::size_t>(ranks), options,
                              candidates[i]);
            }
        }
        print_records(options, records_of(options, candidates, ranks), ranks);
    }
    return 0;
}

}  // namespace sennit::cli
