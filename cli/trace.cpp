// `sennit trace`: options and help. The work is in trace/.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

#include "commands.hpp"
#include "trace/part.hpp"
#include "usage.hpp"

namespace sennit::cli {
namespace {

constexpr const char *kTraceHelp =
    R"(A trace shows what each rank did when: calls, waits inside them, progress. The ranks write it where
SENNIT_TRACE names a file, which opens in ui.perfetto.dev.

Examples
  SENNIT_TRACE=trace.json sennit run -n 4 ./prog     one file, a lane for each rank
  SENNIT_TRACE=trace.%r.json mpirun -n 64 ./prog     a file for each rank, as several nodes need it
  sennit trace merge -o all.json trace.*.json        one of them
  sennit trace merge trace.json                      trace.json with what ranks left that died
  sennit trace where trace.json                      in which call each rank is

While the job runs
  What a rank does lies in trace.json.RANK.part beside the trace, and stays there when the rank dies.
  A rank that ends by sennit_finalize writes it into the trace and removes it. Each rank keeps its
  last SENNIT_TRACE_EVENTS events (262144).

The end
  Exit code 0; 1 if a file can not be read or written or is no trace; 2 wrong usage.)";

struct TraceOptions {
    std::vector<std::string> files;
    std::string output;
};

Trace read_files(const TraceOptions &options) {
    Trace trace = read_trace(options.files);
    for (const std::string &name : trace.left_out)
        fmt::print(stderr, "sennit trace: {} is of another job and left out\n", name);
    return trace;
}

int merge(const TraceOptions &options) {
    try {
        const Trace trace = read_files(options);
        write_trace(trace, options.output.empty() ? options.files.front() : options.output);
    } catch (const std::exception &error) {
        fmt::print(stderr, "sennit trace merge: {}\n", error.what());
        return 1;
    }
    return 0;
}

int where(const TraceOptions &options) {
    try {
        const std::string text = where_text(read_files(options));
        fmt::print("{}", text.empty() ? "no rank is running: they have all ended\n" : text);
    } catch (const std::exception &error) {
        fmt::print(stderr, "sennit trace where: {}\n", error.what());
        return 1;
    }
    return 0;
}

}  // namespace

void add_trace_command(CLI::App &app, int &exit_code) {
    auto options = std::make_shared<TraceOptions>();
    CLI::App *command =
        app.add_subcommand("trace", "Put traces of ranks together; see where a job is");
    command->footer(kTraceHelp);
    command->require_subcommand(1);
    command->formatter(std::make_shared<UsageFormatter>("merge|where FILE..."));
    CLI::App *merging = command->add_subcommand(
        "merge", "One trace of the files given and of what ranks have left beside them");
    merging->formatter(std::make_shared<UsageFormatter>("FILE... [-o OUT]"));
    merging->add_option("files", options->files, "traces, and parts of ranks")
        ->type_name("FILE")
        ->required();
    merging->add_option("-o,--output", options->output, "the file to write; default: the first one")
        ->type_name("OUT");
    merging->callback([options, &exit_code] { exit_code = merge(*options); });
    CLI::App *asking =
        command->add_subcommand("where", "In which call each rank is that runs, or was that died");
    asking->formatter(std::make_shared<UsageFormatter>("FILE..."));
    asking->add_option("files", options->files, "as SENNIT_TRACE names it, or parts of ranks")
        ->type_name("FILE")
        ->required();
    asking->callback([options, &exit_code] { exit_code = where(*options); });
}

}  // namespace sennit::cli
