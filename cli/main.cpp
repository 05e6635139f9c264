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

namespace {

// `sennit run -n 2 -- prog`: the separator that many launchers know. CLI11 would take it for the
// end of the subcommand, so it is removed where it stands between the options and the program.
void drop_separator(const CLI::App &run, std::vector<std::string> &arguments) {
    for (std::size_t i = 1; i < arguments.size(); ++i) {
        if (arguments[i] == "--") {
            arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i));
            return;
        }
        if (arguments[i].empty() || arguments[i][0] != '-') return;
        const CLI::Option *option = run.get_option_no_throw(arguments[i]);
        if (option != nullptr && option->get_items_expected_max() > 0) ++i;  // its value
    }
}

}  // namespace

int main(int argc, char **argv) {
    CLI::App app{"Sennit: one-sided communication that takes the shortest way"};
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("sennit ") + sennit_version());
    int exit_code = 0;
    sennit::cli::add_run_command(app, exit_code);
    sennit::cli::add_info_command(app, exit_code);
    sennit::cli::add_bench_command(app, exit_code);
    std::vector<std::string> arguments(argv + 1, argv + argc);
    if (!arguments.empty() && arguments[0] == "run") {
        drop_separator(*app.get_subcommand("run"), arguments);
    }
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    try {
        app.parse(std::move(arguments));
    } catch (const CLI::ParseError &error) {
        // Help and version are no errors; everything else is wrong usage.
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const std::exception &error) {
        fmt::print(stderr, "sennit: {}\n", error.what());
        return 125;
    }
    return exit_code;
}
