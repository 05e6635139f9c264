#include "map/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "bench_table.hpp"
#include "common/statistics.hpp"

namespace sennit::cli::map {

namespace {

// The index of the core with this processor; the number of cores if there is none.
std::size_t place_of(const Machine &machine, int processor) {
    const auto found = std::find_if(machine.cores.begin(), machine.cores.end(),
                                    [&](const Core &core) { return core.processor == processor; });
    return static_cast<std::size_t>(found - machine.cores.begin());
}

Grid &grid_for(std::vector<Grid> *all, const bench::MapFigure &figure, std::size_t cores) {
    for (Grid &grid : *all)
        if (grid.way == figure.way && grid.bytes == figure.bytes) return grid;
    Grid grid;
    grid.way = figure.way;
    grid.bytes = figure.bytes;
    grid.is_time = figure.part == "flag";
    grid.rows.assign(cores, std::vector<double>(cores, std::numeric_limits<double>::quiet_NaN()));
    grid.least = std::numeric_limits<double>::infinity();
    all->push_back(std::move(grid));
    return all->back();
}

}  // namespace

bool take_line(const Json &line, Figures *figures) {
    if (!line.is_object() || !line.contains("map")) return false;
    const std::string part = line.at("map").get<std::string>();
    if (part == "machine") {
        figures->machine = machine_from_json(line);
        figures->command = line.at("command").get<std::string>();
        figures->seconds = line.at("seconds").get<double>();
    } else if (part == "left-out") {
        figures->left_out.push_back(
            {line.at("what").get<std::string>(), line.at("reason").get<std::string>()});
    } else if (part == "end") {
        figures->end = line.at("ended").get<std::string>();
    } else {
        bench::MapFigure figure = bench::map_figure_from_json(line);
        const std::size_t cores = figures->machine.cores.size();
        if (place_of(figures->machine, figure.from) == cores ||
            place_of(figures->machine, figure.to) == cores)
            throw std::invalid_argument("a figure of cores that the machine does not have");
        figures->all.push_back(std::move(figure));
    }
    return true;
}

std::string size_text(std::uint64_t bytes) {
    const std::string text = format_bytes(bytes);
    return text + (text.back() == 'i' ? "B" : " bytes");
}

std::string Grid::title() const {
    return is_time ? "flag: ns for half a round trip"
                   : fmt::format("{}, {}: GB/s", way, size_text(bytes));
}

std::vector<Grid> grids(const Figures &figures) {
    std::vector<Grid> all;
    const std::size_t cores = figures.machine.cores.size();
    for (const bench::MapFigure &figure : figures.all) {
        if (figure.part != "pair" && figure.part != "flag") continue;
        const std::size_t from = place_of(figures.machine, figure.from);
        const std::size_t to = place_of(figures.machine, figure.to);
        Grid &grid = grid_for(&all, figure, cores);
        // The median, because one long wait for a processor would distort the mean.
        const double value = grid.is_time ? figure.time_ns.median : figure.gb_per_s();
        grid.rows[from][to] = value;
        grid.least = std::min(grid.least, value);
        grid.most = std::max(grid.most, value);
    }
    return all;
}

std::optional<Spread> spread_at(const Figures &figures, const Grid &grid, Distance wanted) {
    const std::vector<Core> &cores = figures.machine.cores;
    std::vector<double> values;
    for (std::size_t from = 0; from < cores.size(); ++from)
        for (std::size_t to = 0; to < cores.size(); ++to)
            if (distance(cores[from], cores[to]) == wanted && !std::isnan(grid.rows[from][to]))
                values.push_back(grid.rows[from][to]);
    if (values.empty()) return std::nullopt;
    std::sort(values.begin(), values.end());
    return Spread{values.front(), bench::percentile(values, 0.5), values.back()};
}

std::vector<Curve> curves(const Figures &figures) {
    std::vector<Curve> all;
    for (const bench::MapFigure &figure : figures.all) {
        if (figure.part != "at-once") continue;
        auto found = std::find_if(all.begin(), all.end(), [&](const Curve &curve) {
            return curve.group == figure.group && curve.bytes == figure.bytes &&
                   curve.way == figure.way && curve.is_fresh == figure.is_fresh;
        });
        if (found == all.end()) {
            const auto last = std::find_if(all.rbegin(), all.rend(), [&](const Curve &curve) {
                return curve.group == figure.group && curve.bytes == figure.bytes;
            });
            found = all.insert(last == all.rend() ? all.end() : last.base(),
                               {figure.group, figure.bytes, figure.way, figure.is_fresh, {}});
        }
        found->points.push_back(&figure);
    }
    for (Curve &curve : all)
        std::sort(curve.points.begin(), curve.points.end(),
                  [](const auto *a, const auto *b) { return a->transfers < b->transfers; });
    return all;
}

const Curve *find_curve(const std::vector<Curve> &curves, const Curve &like,
                        const std::string &way) {
    const auto found = std::find_if(curves.begin(), curves.end(), [&](const Curve &curve) {
        return curve.way == way && curve.group == like.group && curve.bytes == like.bytes &&
               curve.is_fresh == like.is_fresh;
    });
    return found == curves.end() ? nullptr : &*found;
}

}  // namespace sennit::cli::map
