// The network section of `sennit info`: the providers of libfabric and which one is taken, and the
// interfaces of this node that may serve as rails, with their speed and their distance from the
// processors of this process.
#include <fmt/format.h>
#include <hwloc.h>
#include <sennit/info.h>

#include <algorithm>
#include <cstdint>

#include "info.hpp"
#include "interfaces.hpp"

namespace sennit::cli {
namespace {

// Where the card is and how far that is from here, of interfaces with a PCI device behind them.
void add_place(hwloc_topology_t topology, const std::string &name, Json *out) {
    hwloc_obj_t device = nullptr;
    do {
        device = hwloc_get_next_osdev(topology, device);
    } while (device != nullptr && device->name != name);
    const hwloc_obj_t near =
        device != nullptr ? hwloc_get_non_io_ancestor_obj(topology, device) : nullptr;
    hwloc_obj_t pci = device;
    while (pci != nullptr && pci->type != HWLOC_OBJ_PCI_DEVICE)
        pci = pci->parent;
    if (near == nullptr || pci == nullptr) return;
    const int there = hwloc_bitmap_first(near->nodeset);
    // Near to several domains: to all of them, as far as the firmware tells.
    (*out)["near_cpus"] = cpus_text(near);
    if (hwloc_bitmap_weight(near->nodeset) != 1) return;
    (*out)["numa_node"] = there;
    const int here = own_numa_node(topology);
    if (here < 0) return;
    (*out)["numa_node_of_process"] = here;
    const int distance = numa_distance(topology, here, there);
    if (distance > 0) (*out)["numa_distance"] = distance;
}

Json providers_section(Json *section) {
    Json list = Json::array();
    sennit_provider provider{};
    sennit_status status = SENNIT_OK;
    for (int i = 0; (status = sennit_provider_get(i, &provider)) == SENNIT_OK; ++i) {
        (*section)["libfabric"] = provider.version;
        list.push_back({{"name", provider.name},
                        {"taken", provider.is_taken != 0},
                        {"reason", provider.reason}});
    }
    if (status != SENNIT_ERR_RANGE) (*section)["error"] = sennit_last_error()->text;
    return list;
}

std::string place_text(const Json &interface) {
    if (!interface.contains("near_cpus")) return "no PCI device behind it";
    if (!interface.contains("numa_node"))
        return fmt::format("near CPUs {}", interface["near_cpus"].get<std::string>());
    std::string text = fmt::format("on NUMA node {}", interface["numa_node"].get<int>());
    if (!interface.contains("numa_node_of_process")) return text;
    text += fmt::format(", this process on {}", interface["numa_node_of_process"].get<int>());
    if (interface.contains("numa_distance"))
        text += fmt::format(", distance {}", interface["numa_distance"].get<int>());
    return text;
}

}  // namespace

Json network_section() {
    Json section;
    const Json providers = providers_section(&section);
    section["providers"] = providers;
    section["interfaces"] = Json::array();
    const hwloc_topology_t topology = node_topology();
    for (const Interface &one : interfaces()) {
        Json json = {{"name", one.name},
                     {"address", one.address},
                     {"prefix", one.prefix},
                     {"up", one.is_up},
                     {"speed_mbit", one.speed_mbit},
                     {"mtu", one.mtu},
                     {"text", interface_text(one)}};
        if (topology != nullptr) add_place(topology, one.name, &json);
        section["interfaces"].push_back(json);
    }
    return section;
}

std::string network_text(const Json &section) {
    std::string text;
    if (section.contains("error"))
        text = fmt::format("  ranks of other nodes are out of reach: {}\n",
                           section["error"].get<std::string>());
    else
        text =
            fmt::format("  libfabric {}; its providers\n", section["libfabric"].get<std::string>());
    for (const Json &provider : section["providers"])
        text += fmt::format("  {:<13} {}taken: {}\n", provider["name"].get<std::string>(),
                            provider["taken"].get<bool>() ? "" : "not ",
                            provider["reason"].get<std::string>());
    text += "  interfaces, of which ranks take one that all of them have\n";
    for (const Json &interface : section["interfaces"])
        text +=
            fmt::format("  {}; {}\n", interface["text"].get<std::string>(), place_text(interface));
    return text;
}

}  // namespace sennit::cli
