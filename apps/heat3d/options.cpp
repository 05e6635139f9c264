// The table of settings, and the functions that read them from the command line and the
// configuration file.
#include "options.hpp"

#include "failure.hpp"
#include "ini.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <string_view>

namespace heat3d {
namespace {

// These bounds keep every later product of sizes within 64 bits, and every temperature's square and
// difference finite.
constexpr std::int64_t kSideCellsLimit = 1'000'000;
constexpr std::int64_t kCellsLimit = std::int64_t{1} << 40;
constexpr double kTemperatureLimit = 1e100;

using Setter = std::function<void(Options &, const std::string &)>;

struct Setting {
    const char *name;
    const char *value;  // the word for the value in --help; null for a switch
    const char *help;
    Setter set;
};

// The messages of these functions complete a sentence that begins with the setting's name.
template <typename Number>
Number number_of(const std::string &text) {
    Number value{};
    std::size_t used = 0;
    try {
        if constexpr (std::is_integral_v<Number>) {
            value = std::stoll(text, &used);
        } else {
            value = std::stod(text, &used);
        }
    } catch (const std::logic_error &) {
        used = 0;
    }
    if (used == 0 || used != text.size() || !std::isfinite(static_cast<double>(value))) {
        const char *kind = std::is_integral_v<Number> ? "an integer" : "a number";
        throw Failure(fmt::format("'{}' is not {}", text, kind));
    }
    return value;
}

template <typename Number>
std::array<Number, 3> three_of(const std::string &text) {
    const std::size_t first = text.find(','), second = text.find(',', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
        throw Failure(fmt::format("'{}' is not X,Y,Z", text));
    }
    return {number_of<Number>(text.substr(0, first)),
            number_of<Number>(text.substr(first + 1, second - first - 1)),
            number_of<Number>(text.substr(second + 1))};
}

bool switch_of(const std::string &text) {
    if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
    if (text == "false" || text == "no" || text == "off" || text == "0") return false;
    throw Failure(fmt::format("'{}' is neither true nor false", text));
}

double at_least_zero(double value) {
    if (value < 0) throw Failure(fmt::format("{} is negative", value));
    return value;
}

double positive(double value) {
    if (value <= 0) throw Failure(fmt::format("{} is not positive", value));
    return value;
}

double temperature_of(const std::string &text) {
    const double value = number_of<double>(text);
    if (std::fabs(value) > kTemperatureLimit) {
        throw Failure(fmt::format("{} is larger than {}", value, kTemperatureLimit));
    }
    return value;
}

void set_size(Options &options, const std::string &text) {
    const auto size = three_of<std::int64_t>(text);
    std::int64_t cells = 1;
    for (const std::int64_t side : size) {
        if (side < 1) throw Failure(fmt::format("{} is not positive", side));
        if (side > kSideCellsLimit) {
            throw Failure(fmt::format("{} is more than {}", side, kSideCellsLimit));
        }
        cells *= side;
    }
    if (cells > kCellsLimit) {
        throw Failure(fmt::format("{} cells are more than {}", cells, kCellsLimit));
    }
    options.size = size;
}

void set_ranks_grid(Options &options, const std::string &text) {
    const auto grid = three_of<std::int64_t>(text);
    for (const std::int64_t ranks : grid) {
        if (ranks < 1) throw Failure(fmt::format("{} is not positive", ranks));
    }
    options.ranks_grid = grid;
}

void set_case(Options &options, const std::string &text) {
    if (text == "sides") {
        options.problem = Case::sides;
    } else if (text == "sine") {
        options.problem = Case::sine;
    } else if (text == "harmonic") {
        options.problem = Case::harmonic;
    } else {
        throw Failure(fmt::format("'{}' is none of sides, sine, harmonic", text));
    }
}

Setter side_setter(Side side) {
    return [side](Options &options, const std::string &text) {
        if (text == "insulated") {
            options.sides[side] = {true, 0};
        } else {
            options.sides[side] = {false, temperature_of(text)};
        }
    };
}

Setter number_setter(double Options::*member, double (*check)(double)) {
    return [member, check](Options &options, const std::string &text) {
        options.*member = check(number_of<double>(text));
    };
}

Setter count_setter(std::int64_t Options::*member) {
    return [member](Options &options, const std::string &text) {
        const auto count = number_of<std::int64_t>(text);
        if (count < 1) throw Failure(fmt::format("{} is not positive", count));
        options.*member = count;
    };
}

Setter text_setter(std::string Options::*member) {
    return [member](Options &options, const std::string &text) {
        if (text.empty()) throw Failure("the value is missing");
        options.*member = text;
    };
}

Setter switch_setter(bool Options::*member) {
    return
        [member](Options &options, const std::string &text) { options.*member = switch_of(text); };
}

std::vector<Setting> settings() {
    const auto set_length = [](Options &options, const std::string &text) {
        const auto length = three_of<double>(text);
        for (const double side : length)
            positive(side);
        options.length = length;
    };
    const auto set_initial = [](Options &options, const std::string &text) {
        options.initial = temperature_of(text);
    };
    const char *side_help = "temperature [K] of that side, or 'insulated' (down 100, others 0)";
    return {
        {"size", "X,Y,Z", "cells in each direction (64,64,64)", set_size},
        {"ranks-grid", "X,Y,Z", "ranks in each direction (chosen)", set_ranks_grid},
        {"length", "X,Y,Z", "size of the body [m] (1,1,1)", set_length},
        {"diffusivity", "A", "thermal diffusivity [m^2/s] (1e-4)",
         number_setter(&Options::diffusivity, positive)},
        {"diffusivity-slope", "B", "B [1/K] makes the diffusivity A (1 + B T) (0)",
         number_setter(&Options::slope, [](double slope) { return slope; })},
        {"time-step", "S", "[s]; 0: 0.9 of the longest stable step (0)",
         number_setter(&Options::time_step, at_least_zero)},
        {"initial", "T", "temperature [K] at the start (0)", set_initial},
        {"case", "NAME",
         "sides: the six settings below; sine, harmonic: a known steady state; the "
         "report has the error (sides)",
         set_case},
        {"west", "T", side_help, side_setter(west)},
        {"east", "T", side_help, side_setter(east)},
        {"south", "T", side_help, side_setter(south)},
        {"north", "T", side_help, side_setter(north)},
        {"down", "T", side_help, side_setter(down)},
        {"up", "T", side_help, side_setter(up)},
        {"max-steps", "N", "stop after N steps (1000)", count_setter(&Options::max_steps)},
        {"tolerance", "R",
         "stop when no cell changes by more than R [K] in a step; 0 goes on to --max-steps (0)",
         number_setter(&Options::tolerance, at_least_zero)},
        {"check-every", "K", "look at the residual every K steps (1)",
         count_setter(&Options::check_every)},
        {"output", "DIR", "folder of temperature.vti and temperature.npy (heat3d-out)",
         text_setter(&Options::output)},
        {"no-output", nullptr, "write no field", switch_setter(&Options::no_output)},
        {"layers", "MODE",
         "how neighbours' cells are fetched; Sennit: copy, inplace, get; MPI: datatype, packed, "
         "cells; notified: plan, packed; other programs: pieces, whole",
         text_setter(&Options::layers)},
        {"quiet", nullptr, "no progress line", switch_setter(&Options::quiet)},
        {"json", nullptr, "print the result as one JSON object on one line",
         switch_setter(&Options::json)},
    };
}

void apply(const Setting &setting, const std::string &value, const std::string &where,
           Options &options) {
    try {
        setting.set(options, value);
    } catch (const Failure &failure) {
        throw Failure(fmt::format("{}{}: {}", where, setting.name, failure.what()));
    }
}

void apply_file(const std::vector<Setting> &table, const std::string &path, Options &options) {
    for (const IniEntry &entry : read_ini(path)) {
        const auto named = [&entry](const Setting &setting) { return entry.key == setting.name; };
        const auto setting = std::find_if(table.begin(), table.end(), named);
        const std::string where = fmt::format("{}:{}: ", path, entry.line);
        if (setting == table.end()) {
            throw Failure(fmt::format("{}'{}' is no setting; --help lists them", where, entry.key));
        }
        apply(*setting, entry.value, where, options);
    }
}

}  // namespace

Options parse_options(int argc, const char *const *argv) {
    CLI::App app("3-D heat conduction in a box whose sides have fixed temperatures.");
    app.get_formatter()->column_width(30);
    const std::vector<Setting> table = settings();
    std::string file;
    std::vector<std::pair<const Setting *, std::string>> given;
    for (const Setting &setting : table) {
        const std::string name = fmt::format("--{}", setting.name);
        if (setting.value == nullptr) {
            app.add_flag_function(
                name, [&](std::int64_t) { given.emplace_back(&setting, "true"); }, setting.help);
            continue;
        }
        app.add_option_function<std::string>(
               name, [&](const std::string &value) { given.emplace_back(&setting, value); },
               setting.help)
            ->type_name(setting.value)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
    app.add_option("--config", file, "INI file of the same settings: lines NAME = VALUE")
        ->type_name("FILE");

    Options options;
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp &) {
        options.help = app.help();
        return options;
    } catch (const CLI::ParseError &error) {
        throw Failure(fmt::format("{} (--help lists the settings)", error.what()));
    }
    if (!file.empty()) apply_file(table, file, options);
    for (const auto &[setting, value] : given)
        apply(*setting, value, "--", options);
    return options;
}

}  // namespace heat3d
