#include "map/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench_table.hpp"

namespace sennit::cli::map {

namespace {

constexpr std::size_t kCoresWithValues = 12;  // values of all fit into 80 columns
constexpr std::size_t kCoresWithGaps = 32;

// From small to large values: background and foreground, of the 256 colours.
constexpr std::array<std::pair<int, int>, 10> kColours{{{53, 231},
                                                        {54, 231},
                                                        {60, 231},
                                                        {24, 231},
                                                        {30, 231},
                                                        {29, 231},
                                                        {35, 16},
                                                        {71, 16},
                                                        {148, 16},
                                                        {226, 16}}};

int level_of(const Grid &grid, double value) {
    return std::clamp(static_cast<int>(grid.part_of(value) * 10), 0, 9);
}

std::string value_text(double value) {
    // 9.996 must become 10.0, not 10.00.
    const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f}", value, digits);
}

std::string cell(const Grid &grid, double value, std::size_t width, bool colours) {
    if (std::isnan(value)) return fmt::format("{:>{}}", "-", width);
    const int level = level_of(grid, value);
    const std::string text = width >= 6 ? value_text(value) : std::to_string(level);
    const std::string padded = fmt::format("{:>{}}", text, width);
    if (!colours) return padded;
    const auto &[background, foreground] = kColours[static_cast<std::size_t>(level)];
    return fmt::format("\x1b[48;5;{}m\x1b[38;5;{}m{}\x1b[0m", background, foreground, padded);
}

std::string mark(Border border) {
    return border == Border::domain ? "|" : border == Border::cache ? ":" : " ";
}

// The cells of a line with the borders between them. Cells of one character have no gap.
template <class CellOf>
std::string joined(const Machine &machine, std::size_t width, CellOf cell_of) {
    std::string text;
    for (std::size_t to = 0; to < machine.cores.size(); ++to) {
        text += cell_of(to);
        if (to + 1 == machine.cores.size()) break;
        const Border border = border_between(machine.cores[to], machine.cores[to + 1]);
        if (width > 1 || border != Border::none) text += mark(border);
    }
    return text;
}

const bench::MapFigure *find_figure(const Figures &figures, const std::string &part,
                                    const Grid &grid, Distance wanted) {
    const auto core = [&](int processor) {
        const auto &cores = figures.machine.cores;
        return *std::find_if(cores.begin(), cores.end(),
                             [&](const Core &one) { return one.processor == processor; });
    };
    for (const bench::MapFigure &figure : figures.all)
        if (figure.part == part && figure.way == grid.way && figure.bytes == grid.bytes &&
            distance(core(figure.from), core(figure.to)) == wanted)
            return &figure;
    return nullptr;
}

const Grid *find_grid(const std::vector<Grid> &all, const std::string &way, std::uint64_t bytes) {
    for (const Grid &grid : all)
        if (grid.way == way && grid.bytes == bytes) return &grid;
    return nullptr;
}

std::string spread_text(const Spread &spread) {
    if (spread.least == spread.most) return value_text(spread.median);
    return fmt::format("{} ({} to {})", value_text(spread.median), value_text(spread.least),
                       value_text(spread.most));
}

// The distances at which something was measured, nearest first.
std::vector<Distance> measured_distances(const Figures &figures, const std::vector<Grid> &all) {
    std::vector<Distance> found;
    for (const Distance one : kDistances)
        if (std::any_of(all.begin(), all.end(), [&](const Grid &grid) {
                return spread_at(figures, grid, one).has_value();
            }))
            found.push_back(one);
    return found;
}

// "; CMA is 0.40 of it", empty if it was not measured.
std::string cma_part(const Figures &figures, const std::vector<Grid> &all, std::uint64_t bytes,
                     Distance where) {
    const Grid *const mapped = find_grid(all, "mapped", bytes);
    const Grid *const cma = find_grid(all, "cma", bytes);
    if (mapped == nullptr || cma == nullptr) return "";
    const auto of_mapped = spread_at(figures, *mapped, where);
    const auto of_cma = spread_at(figures, *cma, where);
    if (!of_mapped || !of_cma) return "";
    return fmt::format("; CMA is {:.2f} of it", of_cma->median / of_mapped->median);
}

std::string flag_part(const Figures &figures, const std::vector<Grid> &all, Distance where) {
    const Grid *const flag = find_grid(all, "flag", 0);
    const auto spread = flag != nullptr ? spread_at(figures, *flag, where) : std::nullopt;
    return spread ? fmt::format("; a flag takes {} ns there", value_text(spread->median)) : "";
}

std::string cores_text(const bench::MapFigure &figure, Distance where) {
    if (figure.from == figure.to) return fmt::format("Core {} by itself", figure.from);
    return fmt::format("Cores {} and {} {}", figure.from, figure.to, distance_text(where));
}

}  // namespace

Border border_between(const Core &one, const Core &next) {
    if (one.numa != next.numa || one.package != next.package) return Border::domain;
    const bool has_l3 = one.l3 >= 0 || next.l3 >= 0;
    const bool same = has_l3 ? one.l3 == next.l3 : one.l2 == next.l2;
    return same ? Border::none : Border::cache;
}

std::string heat_text(const Machine &machine, const Grid &grid, bool colours) {
    const std::vector<Core> &cores = machine.cores;
    const std::size_t width = cores.size() <= kCoresWithValues ? 6
                              : cores.size() <= kCoresWithGaps ? 2
                                                               : 1;
    std::string text =
        fmt::format("{}, {} to {}{}\n", grid.title(), value_text(grid.least), value_text(grid.most),
                    width < 6 ? "; 9: the most, 0: nothing" : "");
    // Numbers of processors that are longer than a cell are written from top to bottom.
    const int last = std::max_element(cores.begin(), cores.end(), [](const Core &a, const Core &b) {
                         return a.processor < b.processor;
                     })->processor;
    const std::size_t lines = width >= 6 ? 1 : std::to_string(last).size();
    std::string numbers;
    for (std::size_t line = 0; line < lines; ++line) {
        numbers = joined(machine, width, [&](std::size_t to) {
            std::string number = std::to_string(cores[to].processor);
            if (width < 6) {
                number.insert(0, lines - std::min(lines, number.size()), ' ');
                number = number.substr(line, 1);
            }
            return fmt::format("{:>{}}", number, width);
        });
        text += (line + 1 == lines ? "from\\to " : "        ") + numbers + "\n";
    }
    for (std::size_t from = 0; from < cores.size(); ++from) {
        text += fmt::format("{:>7} ", cores[from].processor);
        text += joined(machine, width, [&](std::size_t to) {
            return cell(grid, grid.rows[from][to], width, colours);
        });
        text += "\n";
        const Border border =
            from + 1 == cores.size() ? Border::none : border_between(cores[from], cores[from + 1]);
        if (border != Border::none)
            text += "        " + std::string(numbers.size(), border == Border::domain ? '-' : '.') +
                    "\n";
    }
    return text;
}

std::string distance_table(const Figures &figures) {
    const std::vector<Grid> all = grids(figures);
    std::string text;
    for (const Distance one : measured_distances(figures, all)) {
        text +=
            fmt::format("{}: median of the pairs (least to most)\n",
                        one == Distance::same ? "A core by itself"
                                              : fmt::format("Cores that {}", distance_text(one)));
        for (const Grid &grid : all)
            if (const auto spread = spread_at(figures, grid, one))
                text += fmt::format("  {:<40} {}\n", grid.title(), spread_text(*spread));
    }
    return text;
}

std::string setup_table(const Figures &figures) {
    std::string text;
    for (const bench::MapFigure &figure : figures.all) {
        if (figure.part != "setup") continue;
        if (text.empty()) text = "Set-up, before the first copy: mean (p5 to p95)\n";
        text += fmt::format("  cores {} and {}  {:>8}  {:<17} {:>10}  ({} to {})\n", figure.from,
                            figure.to, size_text(figure.bytes), figure.way,
                            format_time(figure.time_ns.mean), format_time(figure.time_ns.p5),
                            format_time(figure.time_ns.p95));
    }
    return text;
}

std::string at_once_table(const Figures &figures) {
    std::string text;
    std::string last;
    for (const Curve &curve : curves(figures)) {
        const std::string title =
            fmt::format("{} at once, {}: total GB/s by the number of transfers\n",
                        size_text(curve.bytes), curve.group);
        if (title != last) text += title;
        last = title;
        text += fmt::format("  {:<8} {:<6}", curve.way, curve.is_fresh ? "fresh" : "again");
        // Only powers of two and the largest number, so that the line is not too long.
        for (const bench::MapFigure *const point : curve.points)
            if ((point->transfers & (point->transfers - 1)) == 0 || point == curve.points.back())
                text += fmt::format("  {}: {}", point->transfers, value_text(point->gb_per_s()));
        text += "\n";
    }
    return text;
}

std::string paper_table(const Figures &figures) {
    // Table 1 of the paper (docs/results/map): the ratio of mapped to CMA, for reused buffers.
    struct Paper {
        std::uint64_t bytes;
        bool is_within;
        const char *grace;
        const char *sapphire;
    };
    constexpr std::uint64_t kMi = std::uint64_t{1} << 20;
    constexpr Paper kPaper[] = {{kMi, true, "2.64", "1.77"},
                                {kMi, false, "4.81", "1.94"},
                                {200 * kMi, true, "1.41", "4.28"},
                                {200 * kMi, false, "0.76", "3.43"}};
    const std::vector<Curve> all = curves(figures);
    std::string text;
    for (const Curve &curve : all) {
        const Curve *const cma = find_curve(all, curve, "cma");
        if (curve.way != "mapped" || cma == nullptr) continue;
        const bench::MapFigure &most = curve.at_most();
        if (cma->at_most().transfers != most.transfers) continue;
        if (text.empty())
            text = fmt::format("Mapped over CMA at the most transfers{:>29}  {:>6}  {:>9}\n",
                               "here", "GRACE*", "SAPPHIRE*");
        std::string grace;
        std::string sapphire;
        for (const Paper &paper : kPaper)
            if (paper.bytes == curve.bytes && !curve.is_fresh &&
                paper.is_within == (curve.group.rfind("within", 0) == 0)) {
                grace = paper.grace;
                sapphire = paper.sapphire;
            }
        text +=
            fmt::format("  {:<56}{:>8.2f}  {:>6}  {:>9}\n",
                        fmt::format("{}, {} {}, {}", size_text(curve.bytes), most.transfers,
                                    most.transfers == 1 ? "transfer" : "transfers", curve.group) +
                            (curve.is_fresh ? ", fresh" : ""),
                        most.gb_per_s() / cma->at_most().gb_per_s(), grace, sapphire);
    }
    if (!text.empty()) text += "  * table 1 of \"To Share or Not to Share\" (Adam et al., 2024)\n";
    return text;
}

std::string rounds_text(const Figures &figures) {
    std::size_t least = SIZE_MAX;
    std::size_t most = 0;
    for (const bench::MapFigure &figure : figures.all) {
        if (figure.part != "pair" && figure.part != "at-once") continue;
        least = std::min(least, figure.time_ns.rounds);
        most = std::max(most, figure.time_ns.rounds);
    }
    if (most == 0) return "";
    return fmt::format(
        "Each bandwidth is the mean of {} transfer{} in a budget of {} s for all; a GB is 10^9 "
        "bytes.\n",
        least == most ? std::to_string(most) : fmt::format("{} to {}", least, most),
        most == 1 ? "" : "s", figures.seconds);
}

std::vector<std::string> sentences(const Figures &figures) {
    const std::vector<Grid> all = grids(figures);
    std::vector<const Grid *> mapped;
    for (const Grid &grid : all)
        if (grid.way == "mapped") mapped.push_back(&grid);
    if (mapped.empty()) return {};
    std::vector<Distance> found = measured_distances(figures, {*mapped.front()});
    if (found.size() > 1 && found.front() == Distance::same) found.erase(found.begin());
    const auto say = [&](const Grid &grid, Distance where) {
        return fmt::format(
            "{}: {} GB/s at {}", cores_text(*find_figure(figures, "pair", grid, where), where),
            value_text(spread_at(figures, grid, where)->median), size_text(grid.bytes));
    };
    const Grid &first = *mapped.front();
    const Distance near = found.front();
    std::vector<std::string> texts{say(first, near) + cma_part(figures, all, first.bytes, near) +
                                   flag_part(figures, all, near) + "."};
    if (found.size() > 1) {
        const Distance far = found.back();
        texts.push_back(fmt::format(
            "{}, {:.2f} of that{}{}.", say(first, far),
            spread_at(figures, first, far)->median / spread_at(figures, first, near)->median,
            cma_part(figures, all, first.bytes, far), flag_part(figures, all, far)));
    } else if (mapped.size() > 1 && spread_at(figures, *mapped.back(), near)) {
        const Grid &last = *mapped.back();
        texts.push_back(
            fmt::format("With {}{} it is {} GB/s{}.", size_text(last.bytes),
                        last.bytes > figures.machine.largest_cache ? ", which no cache holds," : "",
                        value_text(spread_at(figures, last, near)->median),
                        cma_part(figures, all, last.bytes, near)));
    }
    return texts;
}

}  // namespace sennit::cli::map
