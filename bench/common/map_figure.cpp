#include "common/map_figure.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace sennit::bench {

nlohmann::ordered_json to_json(const MapFigure &figure) {
    nlohmann::ordered_json line;
    line["map"] = figure.part;
    line["way"] = figure.way;
    line["from"] = figure.from;
    line["to"] = figure.to;
    line["bytes"] = figure.bytes;
    if (figure.part == "at-once") {
        line["transfers"] = figure.transfers;
        line["group"] = figure.group;
        line["fresh"] = figure.is_fresh;
    }
    line["mean_ns"] = figure.time_ns.mean;
    line["median_ns"] = figure.time_ns.median;
    line["p5_ns"] = figure.time_ns.p5;
    line["p95_ns"] = figure.time_ns.p95;
    line["rounds"] = figure.time_ns.rounds;
    if (figure.part == "pair" || figure.part == "at-once") line["gb_per_s"] = figure.gb_per_s();
    return line;
}

MapFigure map_figure_from_json(const nlohmann::ordered_json &line) {
    MapFigure figure;
    figure.part = line.at("map").get<std::string>();
    figure.way = line.at("way").get<std::string>();
    figure.from = line.at("from").get<int>();
    figure.to = line.at("to").get<int>();
    figure.bytes = line.at("bytes").get<std::uint64_t>();
    if (figure.part == "at-once") {
        figure.transfers = line.at("transfers").get<int>();
        figure.group = line.at("group").get<std::string>();
        figure.is_fresh = line.at("fresh").get<bool>();
    }
    Summary &time = figure.time_ns;
    time.mean = line.at("mean_ns").get<double>();
    time.median = line.at("median_ns").get<double>();
    time.p5 = line.at("p5_ns").get<double>();
    time.p95 = line.at("p95_ns").get<double>();
    time.rounds = line.at("rounds").get<std::size_t>();
    const bool in_order = time.p5 > 0.0 && time.p5 <= time.median && time.median <= time.p95;
    if (!in_order || !(time.mean > 0.0) || !std::isfinite(time.p95) || figure.transfers < 1)
        throw std::invalid_argument("a figure of the map is invalid: " + line.dump());
    return figure;
}

}  // namespace sennit::bench
