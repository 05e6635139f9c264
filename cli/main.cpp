// The program `sennit`: calls the subcommand. Owns nothing.
#include <fmt/format.h>
#include <sennit/sennit.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "commands.hpp"
#include "launch/job.hpp"
#include "print_error.hpp"
#include "usage.hpp"

namespace {

// Throws sennit::cli::UsageError for a wrong word after a command that has subcommands. `kind` is
// the term for the subcommands.
void check_second(const CLI::App &app, const std::vector<std::string> &words,
                  const std::string &kind) {
    const CLI::App &command = *app.get_subcommand(words[0]);
    const std::string caller = "sennit " + words[0];
    if (words.size() == 1) sennit::cli::fail_without_subcommand(command, caller, kind);
    sennit::cli::check_subcommand(command, words[1], caller, kind);
}

// Throws sennit::cli::UsageError for words that no part of `app` knows. Moves the program of `run`
// and its arguments from `words` to `what`, since CLI11 must not parse them.
void check_words(const CLI::App &app, std::vector<std::string> &words,
                 sennit::cli::RunCommand &what) {
    if (words.empty()) sennit::cli::fail_without_subcommand(app, "sennit", "command");
    // Options without a command, as for mpirun.
    if (words[0][0] == '-' && app.get_option_no_throw(words[0]) == nullptr)
        throw sennit::cli::UsageError(fmt::format(
            "sennit: which command? \"{}\" is no option of sennit; to start a program: sennit run "
            "-n N PROGRAM",
            words[0]));
    sennit::cli::check_subcommand(app, words[0], "sennit", "command");
    if (words[0] == "bench") check_second(app, words, "measurement");
    if (words[0] == "trace") check_second(app, words, "command");
    if (words[0] == "run") {
        std::vector<std::string> rest(words.begin() + 1, words.end());
        // Only oshrun passes this word; no help mentions it.
        if (!rest.empty() && rest[0] == "--openshmem") {
            what.by_oshrun = true;
            rest.erase(rest.begin());
        }
        what.program = sennit::cli::split_off_program(*app.get_subcommand("run"), rest);
        words.resize(1);
        words.insert(words.end(), rest.begin(), rest.end());
    }
}

// The command that the first words name, such as "sennit bench put".
std::string command_of(const CLI::App &app, const std::vector<std::string> &words) {
    std::string name = app.get_name();
    const CLI::App *at = &app;
    for (const std::string &word : words) {
        const auto named =
            at->get_subcommands([&](const CLI::App *one) { return one->check_name(word); });
        if (named.empty()) break;
        at = named.front();
        name += " " + word;
    }
    return name;
}

// Flushes standard output. If output was lost, for example on a full disk, reports this and returns
// 125 in place of the exit code 0.
int flushed(int code) {
    const bool failed_before = std::ferror(stdout) != 0;
    // The errno of an earlier failure is lost. Writing one more byte fails in the same way; the
    // output is incomplete in any case.
    if (failed_before) (void)std::fputc('\n', stdout);
    const bool fails = std::fflush(stdout) != 0;
    if (!fails && !failed_before) return code;
    sennit::cli::print_error("sennit: cannot write the standard output{}\n",
                             fails ? fmt::format(": {}", std::strerror(errno)) : "");
    return code == 0 ? 125 : code;
}

int fail_usage(const std::string &message, const sennit::cli::RunCommand &what) {
    sennit::cli::print_error("{}\n", what.by_oshrun ? sennit::cli::as_oshrun(message) : message);
    return 2;
}

}  // namespace

int main(int argc, char **argv) {
    CLI::App app{"Sennit: one-sided communication for HPC codes", "sennit"};
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("sennit ") + sennit_version());
    int exit_code = 0;
    sennit::cli::RunCommand what;
    sennit::cli::add_run_command(app, what, exit_code);
    sennit::cli::add_info_command(app, exit_code);
    sennit::cli::add_doctor_command(app, exit_code);
    sennit::cli::add_trace_command(app, exit_code);
    sennit::cli::add_stats_command(app, exit_code);
    sennit::cli::add_bench_command(app, exit_code);
    std::vector<std::string> words(argv + 1, argv + argc);
    sennit::cli::add_map_command(app, fmt::format("{}", fmt::join(words, " ")), exit_code);
    sennit::cli::add_report_command(app, exit_code);
    app.formatter(std::make_shared<sennit::cli::UsageFormatter>("COMMAND [OPTIONS]"));
    const std::string command = command_of(app, words);
    try {
        check_words(app, words, what);
        std::reverse(words.begin(), words.end());  // the order that CLI11 expects
        app.parse(std::move(words));
    } catch (const CLI::ParseError &error) {
        // Help and version are no errors; everything else is wrong usage.
        if (error.get_exit_code() == 0) return flushed(app.exit(error));
        return fail_usage(
            fmt::format("{0}: {1}; {0} --help lists the options", command, error.what()), what);
    } catch (const sennit::cli::UsageError &error) {
        return fail_usage(error.what(), what);
    } catch (const std::exception &error) {
        sennit::cli::print_error("sennit: {}\n", error.what());
        return 125;
    }
    return flushed(exit_code);
}
