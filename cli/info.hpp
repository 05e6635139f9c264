// The sections of `sennit info`. Each is collected as JSON first; the text for people is made from
// that, so both say the same.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sennit::cli {

using Json = nlohmann::ordered_json;

// info_topology.cpp: this node as hwloc sees it.
Json topology_section();
std::string topology_text(const Json &section);

// info_peers.cpp. Collective over all ranks of the job, between sennit_init and sennit_finalize;
// the result is whole on rank 0 and null on the others. Throws std::runtime_error with Sennit's own
// words when a call fails.
Json peers_section();
std::string peers_text(const Json &section);

}  // namespace sennit::cli
