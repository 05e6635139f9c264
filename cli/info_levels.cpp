// The levels of locality in `sennit info`: the levels of this machine, and in a job the number of
// peers of each rank at each level. The names are those of sennit_locality_level.
#include <fmt/format.h>
#include <sennit/runtime.h>

#include <map>
#include <vector>

#include "info.hpp"

namespace sennit::cli {
namespace {

Json level_json(sennit_locality_level level, bool is_here, const std::string &text) {
    return {{"name", locality_name(level)}, {"here", is_here}, {"text", text}};
}

Json network_level(const Json &network) {
    if (network.contains("error"))
        return level_json(SENNIT_LOCALITY_NETWORK, false, network["error"].get<std::string>());
    for (const Json &provider : network["providers"])
        if (provider["taken"].get<bool>())
            return level_json(
                SENNIT_LOCALITY_NETWORK, true,
                fmt::format("ranks of other nodes, by {}", provider["name"].get<std::string>()));
    return level_json(SENNIT_LOCALITY_NETWORK, false, "no provider of libfabric is taken");
}

}  // namespace

const char *locality_name(int level) {
    constexpr const char *kNames[] = {"self", "process", "numa", "node", "network"};
    return level >= 0 && level < 5 ? kNames[level] : "unknown";
}

Json levels_section(const Json &network, const Json &topology) {
    const std::size_t domains = topology.contains("numa_nodes") ? topology["numa_nodes"].size() : 0;
    return {level_json(SENNIT_LOCALITY_PROCESS, true, "ranks that are threads of one process"),
            level_json(SENNIT_LOCALITY_NUMA, domains != 0,
                       domains == 0 ? "hwloc cannot read the NUMA domains of this node"
                       : domains == 1
                           ? "all ranks of this node, which is one NUMA domain"
                           : fmt::format("ranks of this node that started on the same of its "
                                         "{} NUMA domains",
                                         domains)),
            level_json(SENNIT_LOCALITY_NODE, domains != 1,
                       domains == 1 ? "no rank of this node is on another NUMA domain"
                                    : "ranks of this node that are on other NUMA domains"),
            network_level(network)};
}

std::string levels_text(const Json &section) {
    std::string text;
    for (const Json &one : section)
        text += fmt::format(
            "  {:<9} {}{}\n", one["name"].get<std::string>(),
            one["here"].get<bool>() ? "" : "not here: ", one["text"].get<std::string>());
    return text;
}

void count_levels(Json *peers) {
    for (Json &rank : (*peers)["ranks"])
        for (int level = SENNIT_LOCALITY_PROCESS; level <= SENNIT_LOCALITY_NETWORK; ++level)
            rank["peers_at"][locality_name(level)] = 0;
    for (const Json &pair : (*peers)["pairs"]) {
        if (pair["from"] == pair["to"]) continue;
        Json &count = (*peers)["ranks"][pair["from"].get<std::size_t>()]["peers_at"]
                              [pair["locality"].get<std::string>()];
        count = count.is_null() ? 1 : count.get<int>() + 1;
    }
}

// One line for all ranks with the same counts.
std::string counts_text(const Json &peers) {
    if (peers["ranks"].size() < 2) return "";
    std::map<std::string, std::vector<int>> all;
    for (const Json &rank : peers["ranks"]) {
        std::string counts;
        for (const auto &[name, count] : rank["peers_at"].items())
            if (count != 0)
                counts +=
                    fmt::format("{}{} {}", counts.empty() ? "" : ", ", count.get<int>(), name);
        all[counts].push_back(rank["rank"].get<int>());
    }
    std::string text = "  peers at each level of locality\n";
    for (const auto &[counts, ranks] : all)
        text += fmt::format("    of rank{} {}: {}\n", ranks.size() == 1 ? "" : "s",
                            fmt::join(ranks, ", "), counts);
    return text;
}

}  // namespace sennit::cli
