// The cores of a machine, as `sennit map` measures and draws them. The data come from hwloc, or
// from the output of an earlier `sennit map --json`. Owns nothing.
#pragma once

#include <hwloc.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sennit::cli::map {

using Json = nlohmann::ordered_json;

// The objects that contain a core, by hwloc's logical index: two cores share an object if the
// numbers are equal. -1: the machine has no such object.
struct Core {
    int processor = 0;  // the operating system's number; names the core
    int core = -1;
    int l2 = -1;
    int l3 = -1;
    int numa = -1;
    int package = -1;
};

struct Machine {
    std::string host;
    std::string model;
    std::vector<Core> cores;          // in hwloc's order: neighbours are adjacent
    std::uint64_t largest_cache = 0;  // bytes
};

// How near two cores are, nearest first.
enum class Distance { same, l2, l3, numa, package, apart };
inline constexpr std::array kDistances{Distance::same, Distance::l2,      Distance::l3,
                                       Distance::numa, Distance::package, Distance::apart};
Distance distance(const Core &one, const Core &other);
// "share an L3".
const char *distance_text(Distance distance);

// Transfers that can be under way at the same time (docs/design/map.md).
struct Group {
    std::string name;                           // "within NUMA node 0", "across packages 0 and 1"
    std::vector<std::array<int, 2>> transfers;  // processors: from, to
};
std::vector<Group> groups_of(const Machine &machine);

// The first pair of each distance, without pairs of a core with itself unless there is one core
// only.
std::vector<std::array<int, 2>> nearest_pairs(const Machine &machine);

// The first processor of each core among `allowed`.
std::vector<int> first_processors(hwloc_topology_t topology, hwloc_const_bitmap_t allowed);

// Throws std::runtime_error for a processor that the topology does not have.
Machine machine_of(hwloc_topology_t topology, const std::vector<int> &processors);

Json to_json(const Machine &machine);
// Throws nlohmann::json::exception.
Machine machine_from_json(const Json &line);

}  // namespace sennit::cli::map
