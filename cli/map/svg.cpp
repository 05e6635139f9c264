#include "map/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "map/text.hpp"

namespace sennit::cli::map {

namespace {

// All lengths are pixels of an image 1000 wide.
constexpr double kWidth = 1000;
constexpr double kMargin = 20;
constexpr double kHead = 70;
constexpr double kSquare = 240;     // the side of a heat map
constexpr double kHeatWidth = 320;  // with axes and titles
constexpr double kHeatHeight = 330;
constexpr std::size_t kCoresWithTitles = 64;
constexpr double kCurveWidth = 480;
constexpr double kCurveHeight = 340;

struct Colour {
    double red;
    double green;
    double blue;
};

// The palette Viridis (van der Walt and Smith), interpolated from five of its colours. It is
// uniform also for colour-blind readers and in grey.
std::string colour_of(double part) {
    constexpr std::array<Colour, 5> kStops{
        {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
    const double place = std::clamp(part, 0.0, 1.0) * (kStops.size() - 1);
    const std::size_t below = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
    const double rest = place - static_cast<double>(below);
    const Colour &a = kStops[below];
    const Colour &b = kStops[below + 1];
    const auto mix = [rest](double x, double y) { return std::lround(x + (y - x) * rest); };
    return fmt::format("#{:02x}{:02x}{:02x}", mix(a.red, b.red), mix(a.green, b.green),
                       mix(a.blue, b.blue));
}

std::string escaped(const std::string &text) {
    std::string result;
    for (const char c : text) {
        if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '&')
            result += "&amp;";
        else
            result += c;
    }
    return result;
}

enum class Anchor { start, middle, end };

std::string label(double x, double y, const std::string &text, Anchor anchor = Anchor::start,
                  int size = 12) {
    constexpr std::array kAnchors{"start", "middle", "end"};
    return fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y,
        size, kAnchors[static_cast<std::size_t>(anchor)], escaped(text));
}

std::string upright_label(double x, double y, const std::string &text) {
    return fmt::format(
        "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" font-size=\"12\" "
        "text-anchor=\"middle\">{}</text>\n",
        x, y, escaped(text));
}

std::string line(double x1, double y1, double x2, double y2, const std::string &style) {
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1,
                       y1, x2, y2, style);
}

std::string number_text(double value) {
    return fmt::format("{:.3g}", value);
}

// The vertical and the horizontal line of each border.
std::string borders(const Machine &machine, double x, double y, double side) {
    std::string text;
    for (std::size_t i = 0; i + 1 < machine.cores.size(); ++i) {
        const Border border = border_between(machine.cores[i], machine.cores[i + 1]);
        if (border == Border::none) continue;
        const std::string style = border == Border::domain
                                      ? "class=\"domain\" stroke=\"white\" stroke-width=\"3\""
                                      : "class=\"cache\" stroke=\"white\" stroke-width=\"1\"";
        const double at = side * static_cast<double>(i + 1);
        text += line(x + at, y, x + at, y + kSquare, style);
        text += line(x, y + at, x + kSquare, y + at, style);
    }
    return text;
}

std::string scale_bar(const Grid &grid, double x, double y) {
    constexpr int kSteps = 40;
    std::string text;
    for (int i = 0; i < kSteps; ++i)
        text += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"{:.1f}\" fill=\"{}\"/>\n", x,
            y + kSquare * (kSteps - 1 - i) / kSteps, kSquare / kSteps + 0.5,
            colour_of((i + 0.5) / kSteps));
    return text + label(x + 14, y + 10, number_text(grid.most)) + label(x + 14, y + kSquare, "0");
}

std::string heat_panel(const Machine &machine, const Grid &grid, double left, double top) {
    const double x = left + 40;
    const double y = top + 24;
    const std::size_t cores = machine.cores.size();
    const double side = kSquare / static_cast<double>(cores);
    std::string text = label(x, top + 14, grid.title(), Anchor::start, 14);
    text += "<g shape-rendering=\"crispEdges\">\n";  // otherwise gaps are visible
    for (std::size_t from = 0; from < cores; ++from) {
        for (std::size_t to = 0; to < cores; ++to) {
            const double value = grid.rows[from][to];
            text += fmt::format(
                "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"",
                x + side * static_cast<double>(to), y + side * static_cast<double>(from), side,
                side, std::isnan(value) ? "#dddddd" : colour_of(grid.part_of(value)));
            // Shown at the mouse pointer. With many cores these titles would be most of the file.
            text += cores > kCoresWithTitles
                        ? "/>\n"
                        : fmt::format("><title>{} to {}: {}</title></rect>\n",
                                      machine.cores[from].processor, machine.cores[to].processor,
                                      std::isnan(value) ? "not measured" : number_text(value));
        }
    }
    text += "</g>\n";
    text += borders(machine, x, y, side);
    for (std::size_t i = 0; i < cores; i += (cores + 9) / 10) {
        const double at = side * (static_cast<double>(i) + 0.5);
        const std::string number = std::to_string(machine.cores[i].processor);
        text += label(x + at, y + kSquare + 14, number, Anchor::middle);
        text += label(x - 4, y + at + 4, number, Anchor::end);
    }
    text += label(x + kSquare / 2, y + kSquare + 30, "to core", Anchor::middle);
    text += upright_label(left + 12, y + kSquare / 2, "from core");
    return text + scale_bar(grid, x + kSquare + 6, y);
}

const char *way_colour(const std::string &way) {
    constexpr std::pair<const char *, const char *> kColours[] = {
        {"mapped", "#1b6ca8"}, {"cma", "#d1495b"}, {"adopted", "#2e933c"}, {"xpmem", "#8e44ad"}};
    for (const auto &[name, colour] : kColours)
        if (way == name) return colour;
    return "#6b5b3e";
}

struct Frame {
    double x;
    double y;
    double width;
    double height;
    double most_transfers;
    double most_rate;

    double x_of(double transfers) const {
        return x + (most_transfers > 1 ? (transfers - 1) / (most_transfers - 1) : 0.5) * width;
    }
    double y_of(double rate) const { return y + height - rate / most_rate * height; }
};

// The points with their spread, from the 5th to the 95th percentile.
std::string curve_lines(const Curve &curve, const Frame &frame) {
    const std::string stroke = fmt::format("stroke=\"{}\"", way_colour(curve.way));
    std::string path;
    std::string text;
    for (const bench::MapFigure *const point : curve.points) {
        const double bytes = static_cast<double>(point->bytes) * point->transfers;
        const double x = frame.x_of(point->transfers);
        const double y = frame.y_of(point->gb_per_s());
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x, y);
        text += line(x, frame.y_of(std::min(bytes / point->time_ns.p5, frame.most_rate)), x,
                     frame.y_of(bytes / point->time_ns.p95), stroke + " stroke-opacity=\"0.4\"");
        text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x, y,
                            way_colour(curve.way));
    }
    return text + fmt::format("<path d=\"{}\" fill=\"none\" {} stroke-width=\"2\"{}/>\n", path,
                              stroke, curve.is_fresh ? " stroke-dasharray=\"5 4\"" : "");
}

std::string axes(const Frame &frame) {
    constexpr int kTicks = 4;
    const std::string grey = "stroke=\"#cccccc\"";
    std::string text;
    for (int i = 0; i <= kTicks; ++i) {
        const double rate = frame.most_rate * i / kTicks;
        text += line(frame.x, frame.y_of(rate), frame.x + frame.width, frame.y_of(rate), grey);
        text += label(frame.x - 5, frame.y_of(rate) + 4, number_text(rate), Anchor::end);
    }
    const int most = static_cast<int>(frame.most_transfers);
    for (int transfers = 1; transfers <= most; transfers += std::max(1, most / 8))
        text += label(frame.x_of(transfers), frame.y + frame.height + 16, std::to_string(transfers),
                      Anchor::middle);
    text += label(frame.x + frame.width / 2, frame.y + frame.height + 32, "transfers at once",
                  Anchor::middle);
    return text + upright_label(frame.x - 42, frame.y + frame.height / 2, "total GB/s");
}

// Rounds up to 1, 2, 4 or 10 times a power of ten.
double round_up(double value) {
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    for (const double step : {1.0, 2.0, 4.0})
        if (value <= step * power) return step * power;
    return 10 * power;
}

std::string curve_panel(const std::vector<const Curve *> &of_panel, double left, double top) {
    Frame frame{left + 55, top + 24, kCurveWidth - 185, kCurveHeight - 80, 1, 0};
    for (const Curve *const curve : of_panel)
        for (const bench::MapFigure *const point : curve->points) {
            frame.most_transfers = std::max<double>(frame.most_transfers, point->transfers);
            frame.most_rate = std::max(frame.most_rate, point->gb_per_s());
        }
    frame.most_rate = round_up(frame.most_rate);
    const Curve &first = *of_panel.front();
    std::string text =
        label(left + 55, top + 14, fmt::format("{}, {}", size_text(first.bytes), first.group),
              Anchor::start, 14) +
        axes(frame);
    double at = frame.y + 10;
    for (const Curve *const curve : of_panel) {
        text += curve_lines(*curve, frame);
        const double x = frame.x + frame.width + 10;
        text += line(x, at - 4, x + 18, at - 4,
                     fmt::format("stroke=\"{}\" stroke-width=\"2\"{}", way_colour(curve->way),
                                 curve->is_fresh ? " stroke-dasharray=\"5 4\"" : ""));
        text += label(x + 22, at, curve->way + (curve->is_fresh ? ", fresh" : ""));
        at += 16;
    }
    return text;
}

// Panels side by side; `draw` gets the corner of each.
template <class Panel, class Draw>
std::string rows_of(const std::vector<Panel> &panels, double width, double height, double *top,
                    Draw draw) {
    std::string text;
    const auto in_row = static_cast<std::size_t>((kWidth - 2 * kMargin) / width);
    for (std::size_t i = 0; i < panels.size(); ++i) {
        text += draw(panels[i], kMargin + width * static_cast<double>(i % in_row), *top);
        if (i % in_row == in_row - 1 || i + 1 == panels.size()) *top += height;
    }
    return text;
}

std::string head(const Figures &figures) {
    std::string text =
        label(kMargin, 24, fmt::format("{}, {}", figures.machine.host, figures.machine.model),
              Anchor::start, 16);
    double y = 44;
    for (const std::string &sentence : sentences(figures)) {
        text += label(kMargin, y, sentence);
        y += 16;
    }
    return text;
}

}  // namespace

std::string svg_of(const Figures &figures) {
    double top = kHead;
    std::string body = head(figures);
    body += rows_of(grids(figures), kHeatWidth, kHeatHeight, &top,
                    [&](const Grid &grid, double x, double y) {
                        return heat_panel(figures.machine, grid, x, y);
                    });
    const std::vector<Curve> all = curves(figures);
    std::vector<std::vector<const Curve *>> panels;
    for (const Curve &curve : all) {
        const Curve *const last = panels.empty() ? nullptr : panels.back().front();
        if (last == nullptr || last->group != curve.group || last->bytes != curve.bytes)
            panels.emplace_back();
        panels.back().push_back(&curve);
    }
    body += rows_of(panels, kCurveWidth, kCurveHeight, &top, curve_panel);
    top += 10;
    body += label(kMargin, top,
                  figures.command + (figures.end == "complete" ? "" : " (" + figures.end + ")"));
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
        "font-family=\"sans-serif\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"white\"/>\n{}</svg>\n",
        kWidth, top + kMargin, body);
}

}  // namespace sennit::cli::map
