#include "worker/map.hpp"

#include <fmt/format.h>
#include <sennit/sennit.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "worker/check.hpp"

namespace sennit::bench {

namespace {

constexpr std::size_t kLeastRounds = 3;
// The part of the budget for timed transfers; the rest is for warm-up transfers and barriers.
constexpr double kTimed = 0.4;

std::vector<MapTransfer> transfers_in(const nlohmann::json &list) {
    std::vector<MapTransfer> transfers;
    for (const nlohmann::json &one : list)
        transfers.push_back({one.at(0).get<int>(), one.at(1).get<int>()});
    return transfers;
}

void print_line(const Job &job, const nlohmann::ordered_json &line) {
    if (job.rank() != 0) return;
    fmt::print("{}\n", line.dump());
    std::fflush(stdout);
}

}  // namespace

MapOptions map_options_in(const std::string &text) {
    const nlohmann::json arguments = nlohmann::json::parse(text);
    MapOptions options;
    options.are_threads = arguments.at("threads").get<bool>();
    options.cores = arguments.at("cores").get<std::vector<int>>();
    options.ways = arguments.at("ways").get<std::vector<std::string>>();
    options.pairs = arguments.at("pairs").get<std::size_t>();
    options.setup_pairs = transfers_in(arguments.at("setup_pairs"));
    options.has_flag = arguments.at("flag").get<bool>();
    for (const nlohmann::json &group : arguments.at("groups"))
        options.groups.push_back(
            {group.at("name").get<std::string>(), transfers_in(group.at("transfers"))});
    options.pool_bytes = arguments.at("pool_bytes").get<std::uint64_t>();
    options.seconds = arguments.at("seconds").get<double>();
    return options;
}

std::string registered_by(const MapOptions &options) {
    for (const std::string &way : options.ways) {
        if (way == "adopted") return "adopt";
        if (way == "xpmem") return "xpmem";
    }
    return "";
}

Budget::Budget(double seconds, std::size_t cases)
    : m_end_ns(now_ns() + seconds * 1e9), m_left_s(seconds), m_cases_left(cases) {}

void Budget::look() {
    m_left_s = (m_end_ns - now_ns()) / 1e9;
    check(sennit_broadcast(SENNIT_TEAM_WORLD, 0, &m_left_s, sizeof m_left_s, SENNIT_FOREVER),
          "sennit_broadcast");
}

Limits Budget::next(std::size_t rounds) {
    look();
    const double share = m_left_s / static_cast<double>(std::max<std::size_t>(m_cases_left, 1));
    m_cases_left -= m_cases_left > 0 ? 1 : 0;
    Limits limits;
    limits.rounds = rounds;
    limits.min_rounds = kLeastRounds;
    limits.seconds = std::max(share, 0.0) * kTimed;
    limits.batch_ns = 0.0;  // one transfer
    limits.shared_batch_ns = 0.0;
    return limits;
}

void print_figure(const Job &job, const MapFigure &figure) {
    print_line(job, to_json(figure));
}

void print_left_out(const Job &job, const std::string &what, const std::string &reason) {
    print_line(job, {{"map", "left-out"}, {"what", what}, {"reason", reason}});
}

}  // namespace sennit::bench
