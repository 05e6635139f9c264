// The program `sennit`: hands over to the subcommand. Owns nothing.
#include <fmt/format.h>
#include <sennit/sennit.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "commands.hpp"
#include "usage.hpp"

namespace {

// Throws sennit::cli::UsageError for words that no part of `app` knows. What `run` is to start is
// taken out of `words` and put into `program`: it is not for CLI11 to look at.
void check_words(const CLI::App &app, std::vector<std::string> &words,
                 std::vector<std::string> &program) {
    if (words.empty()) return;
    sennit::cli::check_subcommand(app, words[0], "sennit", "command");
    if (words[0] == "bench" && words.size() > 1) {
        sennit::cli::check_subcommand(*app.get_subcommand("bench"), words[1], "sennit bench",
                                      "measurement");
    }
    if (words[0] == "run") {
        std::vector<std::string> rest(words.begin() + 1, words.end());
        program = sennit::cli::split_off_program(*app.get_subcommand("run"), rest);
        std::copy(rest.begin(), rest.end(), words.begin() + 1);
        words.resize(1 + rest.size());
    }
}

}  // namespace

int main(int argc, char **argv) {
    CLI::App app{"Sennit: one-sided communication that takes the shortest way", "sennit"};
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("sennit ") + sennit_version());
    int exit_code = 0;
    std::vector<std::string> program;
    sennit::cli::add_run_command(app, program, exit_code);
    sennit::cli::add_info_command(app, exit_code);
    sennit::cli::add_bench_command(app, exit_code);
    app.formatter(std::make_shared<sennit::cli::UsageFormatter>("COMMAND [OPTIONS]"));
    std::vector<std::string> words(argv + 1, argv + argc);
    try {
        check_words(app, words, program);
        std::reverse(words.begin(), words.end());  // as CLI11 wants them
        app.parse(std::move(words));
    } catch (const CLI::ParseError &error) {
        // Help and version are no errors; everything else is wrong usage.
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const sennit::cli::UsageError &error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    } catch (const std::exception &error) {
        fmt::print(stderr, "sennit: {}\n", error.what());
        return 125;
    }
    return exit_code;
}
