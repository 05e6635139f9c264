#include "command_line.hpp"

#include "failure.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>

namespace apps {
namespace {

// Throws CLI::ValidationError.
std::array<std::int64_t, 3> triple_of(const char *name, const std::string &text,
                                      CommandLine::Bounds bounds) {
    std::array<std::int64_t, 3> values{};
    const char *at = text.data(), *const end = at + text.size();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto [next, error] = std::from_chars(at, end, values[i]);
        const bool last = i + 1 == values.size();
        if (error != std::errc{} || (last ? next != end : next == end || *next != ',')) {
            throw CLI::ValidationError(name, fmt::format("'{}' is not X,Y,Z", text));
        }
        if (values[i] < bounds.least || values[i] > bounds.most) {
            throw CLI::ValidationError(
                name, fmt::format("{} is not from {} to {}", values[i], bounds.least, bounds.most));
        }
        at = next + 1;
    }
    return values;
}

}  // namespace

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

void CommandLine::real(const char *name, double &value, RealBounds bounds, const char *help) {
    app_->add_option(name, value, help)
        ->check(CLI::Range(bounds.least, bounds.most))
        ->type_name("R")
        ->capture_default_str();
}

void CommandLine::triple(const char *name, std::array<std::int64_t, 3> &value, Bounds bounds,
                         const char *help) {
    app_->add_option_function<std::string>(
            name,
            [name, &value, bounds](const std::string &text) {
                value = triple_of(name, text, bounds);
            },
            help)
        ->type_name("X,Y,Z")
        ->default_str(fmt::format("{},{},{}", value[0], value[1], value[2]));
}

void CommandLine::word(const char *name, std::string &value,
                       const std::vector<std::string> &choices, const char *help) {
    app_->add_option(name, value, help)->check(CLI::IsMember(choices))->capture_default_str();
}

void CommandLine::text(const char *name, std::string &value, const char *help) {
    app_->add_option(name, value, help);
}

void CommandLine::flag(const char *name, bool &value, const char *help) {
    app_->add_flag(name, value, help);
}

void CommandLine::config(const char *name, const char *help) {
    app_->set_config(name, "", help)->type_name("FILE")->check(CLI::ExistingFile);
    app_->allow_config_extras(CLI::config_extras_mode::error);
    // The separator cannot occur in a value: X,Y,Z stays one value.
    app_->get_config_formatter_base()->arrayDelimiter('\x1f')->comment('#');
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
