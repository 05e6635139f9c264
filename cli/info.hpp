// The sections of `sennit info`. Each is collected as JSON first. The text is made from the JSON,
// so both have the same content.
#pragma once

#include <hwloc.h>

#include <nlohmann/json.hpp>
#include <string>

namespace sennit::cli {

using Json = nlohmann::ordered_json;

// info_topology.cpp: this node as hwloc sees it.
Json topology_section();
std::string topology_text(const Json &section);

// The topology for other callers. Null if hwloc cannot read it. It is freed only at the end of the
// program: hwloc unloads its plugins with the last topology, and would lose memory that they have
// allocated.
hwloc_topology_t node_topology();
std::string cpus_text(hwloc_obj_t object);
// The NUMA domain of this process; -1 if it may use processors of several domains.
int own_numa_node(hwloc_topology_t topology);
// The distance that the firmware reports, 10 within a domain; 0 if it reports none.
int numa_distance(hwloc_topology_t topology, int from, int to);

// info_network.cpp: the NUMA domain of a card, found by its PCI address or else by the name of its
// interface, and its distance from this process. -1: not known.
struct CardPlace {
    int numa_node = -1;
    int numa_node_of_process = -1;
    int distance = -1;
};
CardPlace card_place(const std::string &bus, const std::string &name);
void add_place(const CardPlace &place, Json *out);
// The place of a card as text; "" if it is unknown.
std::string place_text(const Json &card);

// Providers and interfaces to other nodes.
Json network_section();
std::string network_text(const Json &section);

// info_levels.cpp: the names of the levels of locality, as in the interface.
const char *locality_name(int level);
// The levels that this machine has, from its other sections.
Json levels_section(const Json &network, const Json &topology);
std::string levels_text(const Json &section);
// Adds to each rank of a peers section the number of its peers at each level.
void count_levels(Json *peers);
std::string counts_text(const Json &peers);

// info_peers.cpp. Collective over all ranks of the job, between sennit_init and sennit_finalize.
// Rank 0 gets the result, the others null. Throws std::runtime_error with Sennit's error text if a
// call fails.
Json peers_section();
std::string peers_text(const Json &section);

}  // namespace sennit::cli
