// `sennit report`: options and help. It replaces itself by bench/report/report.py (exec).
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "commands.hpp"
#include "print_error.hpp"
#include "usage.hpp"

namespace sennit::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char *kReportHelp =
    R"(Runs benchmarks, the map of the cores, kernels and applications. Writes one HTML page that loads
nothing else, and its data as JSON: machine, versions, and for each part the command, a plot, a table
with the spread, and the published result to compare with. Needs Python 3.9 with matplotlib and
Jinja2.

Parts
  channel, notify, put, get, plan, queue           sennit bench
  atomic, barrier, broadcast, allreduce, alltoall  sennit bench
  map                                              sennit map
  kernels, heat3d, flow                            applications, in a source tree with their build
  A part that cannot run is left out, with the reason. An estimate of the time is printed first.

Comparison
  A figure is slower if its 5th percentile is above the old 95th percentile, even if the latter is
  multiplied by the slowdown of the bare machine (the raw limit of the same job). If it is above only
  without this factor, it is "slower, as the machine is". Faster is the reverse. Other differences are
  within the noise.

Examples
  sennit report                                two minutes; writes sennit-report.html and .json
  sennit report --full --out full              half an hour
  sennit report --parts notify,map             two parts
  sennit report --compare sennit-report.json --out new    with an earlier report
  sennit report --read sennit-report.json      the page again, without measuring

Exit code
  0, 1 if a part failed or nothing was measured, 2 wrong usage, 130 if interrupted. Ctrl-C keeps what
  was measured and writes the page.)";

struct ReportOptions {
    bool quick = false;
    bool full = false;
    bool json = false;
    std::string parts;
    std::string out;
    std::string read;
    std::string compare;
    double minutes = 0;
};

// The script's path: the same relative to this program in a build tree and in an installation.
std::string script() {
    const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
    return fs::weakly_canonical(folder / SENNIT_BENCH_LIBEXEC / "report" / "report.py");
}

int report(const ReportOptions &options) {
    std::vector<std::string> words{"python3", "-B", script(), "--sennit",
                                   fs::read_symlink("/proc/self/exe")};
    if (access(words[2].c_str(), R_OK) != 0)
        throw std::runtime_error(fmt::format("{} is not there", words[2]));
    if (options.full) words.push_back("--full");
    if (options.json) words.push_back("--json");
    const auto add = [&](const char *name, const std::string &value) {
        if (!value.empty()) words.push_back(fmt::format("{}={}", name, value));
    };
    add("--parts", options.parts);
    add("--out", options.out);
    add("--read", options.read);
    add("--compare", options.compare);
    if (options.minutes > 0) add("--minutes", fmt::format("{}", options.minutes));
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    throw std::runtime_error(fmt::format("python3 cannot be started ({}): apt-get install python3",
                                         std::strerror(errno)));
}

}  // namespace

void add_report_command(CLI::App &app, int &exit_code) {
    auto options = std::make_shared<ReportOptions>();
    CLI::App *command =
        app.add_subcommand("report", "Measure everything and write a page about it");
    command->footer(kReportHelp);
    CLI::Option *quick =
        command->add_flag("--quick", options->quick, "about 2 minutes (the default)");
    command->add_flag("--full", options->full, "more sizes and ranks, within 30 minutes")
        ->excludes(quick);
    command->add_option("--parts", options->parts, "parts to measure, with commas; default: all");
    command->add_option("--minutes", options->minutes, "end all measurements after this time")
        ->check(check_seconds)
        ->type_name("M");
    command
        ->add_option("--out", options->out, "write NAME.html and NAME.json; default: sennit-report")
        ->type_name("NAME");
    command->add_option("--compare", options->compare, "compare with the JSON of an earlier report")
        ->check(CLI::ExistingFile)
        ->type_name("FILE");
    command->add_option("--read", options->read, "measure nothing, write the page of this JSON")
        ->check(CLI::ExistingFile)
        ->type_name("FILE");
    command->add_flag("--json", options->json, "print the JSON and write no file");
    command->callback([options, &exit_code] {
        try {
            exit_code = report(*options);
        } catch (const std::exception &error) {
            print_error("sennit report: {}\n", error.what());
            exit_code = 1;
        }
    });
}

}  // namespace sennit::cli
