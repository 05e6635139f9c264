#include "report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace heat3d {
namespace {

std::string times_line(const char *name, const PartTimes &part) {
    return fmt::format("  {:<17}{:>12.4f}{:>12.4f}{:>14.2f}{:>12.2f}{:>12.2f}\n", name,
                       part.total_s.max, part.total_s.mean, part.step_median_us.max,
                       part.step_median_us.mean, part.step_median_us.min);
}

// Rounds to nine decimals: in seconds a nanosecond. Hides most noise of binary fractions.
double rounded(double value) {
    return std::round(value * 1e9) / 1e9;
}

std::int64_t ranks_of(const Report &report) {
    return report.ranks_grid[0] * report.ranks_grid[1] * report.ranks_grid[2];
}

}  // namespace

std::string table_of(const Report &report) {
    std::string text = fmt::format(
        "heat3d, {}\n"
        "  {} cells on {} {} ({}), neighbours' cells: {}\n"
        "  {} steps of {:.4g} s, residual {:.4g} K{}\n",
        report.program, text_of(report.cells), ranks_of(report),
        ranks_of(report) == 1 ? "rank" : "ranks", text_of(report.ranks_grid), report.layers,
        report.steps, report.time_step_s, report.residual, report.converged ? ", converged" : "");
    auto out = std::back_inserter(text);
    if (report.steady_state_known) {
        fmt::format_to(out, "  largest distance from the exact steady state {:.4g} K\n",
                       report.largest_error);
    }
    const double cells = static_cast<double>(report.cells[0] * report.cells[1] * report.cells[2]);
    const double rate = cells * static_cast<double>(report.steps) / report.loop_s * 1e-6;
    fmt::format_to(out, "  {:.3f} s, {:.1f} million cells a second\n", report.loop_s, rate);
    text += "  over ranks         max [s]    mean [s]   step max us     mean us      min us\n";
    text += times_line("computing", report.compute);
    text += times_line("exchange", report.exchange);
    text += times_line("synchronisation", report.synchronise);
    text += times_line("the last two", report.communicate);
    for (const std::string &file : report.files)
        fmt::format_to(out, "  written: {}\n", file);
    return text;
}

std::string json_of(const Report &report) {
    nlohmann::ordered_json object;
    object["program"] = "heat3d";
    object["subject"] = report.program;
    object["ranks"] = ranks_of(report);
    object["ranks_grid"] = report.ranks_grid;
    object["cells"] = report.cells;
    object["layers"] = report.layers;
    object["check_every"] = report.check_every;
    object["steps"] = report.steps;
    object["time_step_s"] = report.time_step_s;
    object["residual"] = report.residual;
    object["converged"] = report.converged;
    if (report.steady_state_known) object["largest_error"] = report.largest_error;
    object["field_hash"] = fmt::format("{:016x}", report.field_hash);
    object["loop_s"] = report.loop_s;
    object["output_s"] = report.output_s;
    const auto add = [&object](const std::string &name, const PartTimes &part) {
        object[name + "_s_max"] = rounded(part.total_s.max);
        object[name + "_s_mean"] = rounded(part.total_s.mean);
        object[name + "_step_median_us_max"] = rounded(part.step_median_us.max);
        object[name + "_step_median_us_mean"] = rounded(part.step_median_us.mean);
        object[name + "_step_median_us_min"] = rounded(part.step_median_us.min);
    };
    add("compute", report.compute);
    add("exchange", report.exchange);
    add("synchronise", report.synchronise);
    add("communicate", report.communicate);
    object["files"] = report.files;
    return object.dump() + "\n";
}

}  // namespace heat3d
