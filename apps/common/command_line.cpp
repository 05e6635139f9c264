// Reading options; see command_line.hpp.
#include "command_line.hpp"

#include "failure.hpp"

#include <CLI/CLI.hpp>

namespace apps {

CommandLine::CommandLine(const std::string &program, const std::string &about)
    : app_(std::make_unique<CLI::App>(about, program)) {
    app_->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CommandLine::~CommandLine() = default;

void CommandLine::number(const char *name, std::int64_t &value, Bounds bounds, const char *help) {
    app_->add_option(name, value, help)
        ->check(CLI::Range(bounds.least, bounds.most))
        ->type_name("N")
        ->capture_default_str();
}

void CommandLine::word(const char *name, std::string &value,
                       const std::vector<std::string> &choices, const char *help) {
    app_->add_option(name, value, help)->check(CLI::IsMember(choices))->capture_default_str();
}

void CommandLine::flag(const char *name, bool &value, const char *help) {
    app_->add_flag(name, value, help);
}

bool CommandLine::parse(int argc, const char *const *argv) {
    try {
        app_->parse(argc, argv);
    } catch (const CLI::CallForHelp &) {
        return false;
    } catch (const CLI::ParseError &error) {
        throw Failure(error.what());
    }
    return true;
}

std::string CommandLine::help() const {
    return app_->help();
}

}  // namespace apps
