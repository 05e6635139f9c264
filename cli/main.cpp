// The program `sennit`: hands over to the subcommand. Owns nothing.
#include <fmt/format.h>
#include <sennit/sennit.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

#include "commands.hpp"

int main(int argc, char **argv) {
    CLI::App app{"Sennit: one-sided communication that takes the shortest way"};
    app.require_subcommand(1);
    app.set_version_flag("--version", std::string("sennit ") + sennit_version());
    int exit_code = 0;
    sennit::cli::add_run_command(app, exit_code);
    sennit::cli::add_info_command(app, exit_code);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        // Help and version are no errors; everything else is wrong usage.
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const std::exception &error) {
        fmt::print(stderr, "sennit: {}\n", error.what());
        return 125;
    }
    return exit_code;
}
