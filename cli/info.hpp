// The sections of `sennit info`. Each is collected as JSON first; the text for people is made from
// that, so both say the same.
#pragma once

#include <hwloc.h>

#include <nlohmann/json.hpp>
#include <string>

namespace sennit::cli {

using Json = nlohmann::ordered_json;

// info_topology.cpp: this node as hwloc sees it.
Json topology_section();
std::string topology_text(const Json &section);

// The same for others. Null if hwloc can not read it. Freed at the end of the program only: with
// its last topology hwloc unloads its plugins, and what they have allocated would be lost.
hwloc_topology_t node_topology();
std::string cpus_text(hwloc_obj_t object);
// The one domain whose processors this process may use; -1 if there are several.
int own_numa_node(hwloc_topology_t topology);
// As the firmware tells it, 10 within a domain; 0 if it does not.
int numa_distance(hwloc_topology_t topology, int from, int to);

// info_network.cpp: where a card is, by its place on the PCI bus or, without that, by the name of
// its interface, and how far that is from this process. -1: not known.
struct CardPlace {
    int numa_node = -1;
    int numa_node_of_process = -1;
    int distance = -1;
};
CardPlace card_place(const std::string &bus, const std::string &name);
void add_place(const CardPlace &place, Json *out);
// As text; "" without such members.
std::string place_text(const Json &card);

// What leads to other nodes.
Json network_section();
std::string network_text(const Json &section);

// info_levels.cpp: the levels of locality, in the words of the interface.
const char *locality_name(int level);
// Which of them this machine has, by its other sections.
Json levels_section(const Json &network, const Json &topology);
std::string levels_text(const Json &section);
// How many peers each rank of a section of peers has at each level, as a member of the rank.
void count_levels(Json *peers);
std::string counts_text(const Json &peers);

// info_peers.cpp. Collective over all ranks of the job, between sennit_init and sennit_finalize;
// the result is whole on rank 0 and null on the others. Throws std::runtime_error with Sennit's own
// words when a call fails.
Json peers_section();
std::string peers_text(const Json &section);

}  // namespace sennit::cli
