// `sennit trace`: options and help. The work is in trace/.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>

#include "commands.hpp"
#include "print_error.hpp"
#include "trace/part.hpp"
#include "usage.hpp"

namespace sennit::cli {
namespace {

constexpr const char *kTraceHelp =
    R"(A trace shows the calls of each rank over time, waits inside them, and progress. Ranks write it if
SENNIT_TRACE names a file. It opens in ui.perfetto.dev.

Examples
  SENNIT_TRACE=trace.json sennit run -n 4 ./prog     one file for all ranks
  SENNIT_TRACE=trace.%r.json mpirun -n 64 ./prog     a file for each rank, needed on several nodes
  sennit trace merge -o all.json trace.*.json        joins them into one file
  sennit trace merge trace.json                      adds the events of ranks that died
  sennit trace where trace.json                      the call that each rank is in, or in which it died
  sennit trace where trace.*                         the same with a file for each rank

While the job runs
  Each rank writes trace.json.RANK.part, with its last SENNIT_TRACE_EVENTS events (262144).
  sennit_finalize adds it to trace.json and deletes it; the part of a rank that died stays.

Exit code
  0; 1 if a file cannot be read or written or is no trace; 2 wrong usage.)";

struct TraceOptions {
    std::vector<std::string> files;
    std::string output;
};

void check_files(const TraceOptions &options, const char *command) {
    if (options.files.empty())
        throw UsageError(fmt::format(
            "sennit trace {0}: which file? Start the job with SENNIT_TRACE=trace.json, then: "
            "sennit trace {0} trace.json; sennit trace --help shows more",
            command));
}

Trace read_files(const TraceOptions &options) {
    Trace trace = read_trace(options.files);
    for (const std::string &name : trace.left_out)
        print_error("sennit trace: {} is of another job and left out\n", name);
    return trace;
}

int merge(const TraceOptions &options) {
    try {
        const Trace trace = read_files(options);
        write_trace(trace, options.output.empty() ? options.files.front() : options.output);
    } catch (const std::exception &error) {
        print_error("sennit trace merge: {}\n", error.what());
        return 1;
    }
    return 0;
}

int where(const TraceOptions &options) {
    try {
        const std::string text = where_text(read_files(options));
        fmt::print("{}", text.empty() ? "no rank is running: they have all ended\n" : text);
    } catch (const std::exception &error) {
        print_error("sennit trace where: {}\n", error.what());
        return 1;
    }
    return 0;
}

}  // namespace

void add_trace_command(CLI::App &app, int &exit_code) {
    auto options = std::make_shared<TraceOptions>();
    CLI::App *command =
        app.add_subcommand("trace", "Join traces of ranks, or show the call each rank is in");
    command->footer(kTraceHelp);
    command->require_subcommand(1);
    command->formatter(std::make_shared<UsageFormatter>("merge|where FILE..."));
    CLI::App *merging = command->add_subcommand(
        "merge", "Join these files and the parts that ranks left beside them");
    merging->formatter(std::make_shared<UsageFormatter>("FILE... [-o OUT]"));
    merging->add_option("files", options->files, "traces, and parts of ranks")->type_name("FILE");
    merging
        ->add_option("-o,--output", options->output, "the file to write; default: the first FILE")
        ->type_name("OUT");
    merging->callback([options, &exit_code] {
        check_files(*options, "merge");
        exit_code = merge(*options);
    });
    CLI::App *asking =
        command->add_subcommand("where", "Show the call that each rank is in, or in which it died");
    asking->formatter(std::make_shared<UsageFormatter>("FILE..."));
    asking->add_option("files", options->files, "the file of SENNIT_TRACE, or parts of ranks")
        ->type_name("FILE");
    asking->callback([options, &exit_code] {
        check_files(*options, "where");
        exit_code = where(*options);
    });
}

}  // namespace sennit::cli
