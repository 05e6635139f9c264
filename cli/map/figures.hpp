// The results of `sennit map`, added line by line, and the values for drawing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/map_figure.hpp"
#include "map/machine.hpp"

namespace sennit::cli::map {

struct LeftOut {
    std::string what;
    std::string reason;
};

struct Figures {
    Machine machine;
    std::string command;
    double seconds = 0;  // the budget
    std::vector<bench::MapFigure> all;
    std::vector<LeftOut> left_out;
    std::string end;  // how the measuring ended: complete, budget, interrupted, failed
};

// Adds one line of JSON. False: not a line of the map. Throws nlohmann::json::exception or
// std::invalid_argument if a field is missing or invalid, or names a core that the machine lacks.
bool take_line(const Json &line, Figures *figures);

// "1 MiB", "8 bytes".
std::string size_text(std::uint64_t bytes);

// The results of one way to move data ("mapped", "cma", ...) and one size: a value for each pair of
// cores. Indices are those of Machine::cores.
struct Grid {
    std::string way;
    std::uint64_t bytes = 0;
    bool is_time = false;                   // ns, else GB/s
    std::vector<std::vector<double>> rows;  // [from][to]; NaN: not measured
    double least = 0;
    double most = 0;

    std::string title() const;  // "mapped, 1 MiB: GB/s"
    // Fraction of the largest value, for the colour. It counts from 0 and not from `least`:
    // otherwise even similar values would get very different colours.
    double part_of(double value) const { return value / most; }
};
// The grids that have a value, in the order in which ways and sizes were measured.
std::vector<Grid> grids(const Figures &figures);

// The spread of a grid's values for one distance; nothing if there is no value.
struct Spread {
    double least = 0;
    double median = 0;
    double most = 0;
};
std::optional<Spread> spread_at(const Figures &figures, const Grid &grid, Distance distance);

// A curve of many transfers at once: the total rate by the number of transfers.
struct Curve {
    std::string group;
    std::uint64_t bytes = 0;
    std::string way;
    bool is_fresh = false;
    std::vector<const bench::MapFigure *> points;  // by the number of transfers

    const bench::MapFigure &at_most() const { return *points.back(); }
};
// Curves of one group and size are adjacent.
std::vector<Curve> curves(const Figures &figures);

// The curve of `way` with the group, size and is_fresh of `like`. Null: there is none.
const Curve *find_curve(const std::vector<Curve> &curves, const Curve &like,
                        const std::string &way);

}  // namespace sennit::cli::map
