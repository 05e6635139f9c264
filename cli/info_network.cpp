// The network section of `sennit info`: the providers of libfabric and the one that is used, and
// the interfaces of this node that may be rails, with their speed and their distance from the
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

// The object to which the card is attached; null: unknown to hwloc.
hwloc_obj_t near_card(const std::string &bus, const std::string &name) {
    const hwloc_topology_t topology = node_topology();
    if (topology == nullptr) return nullptr;
    hwloc_obj_t pci =
        bus.empty() ? nullptr : hwloc_get_pcidev_by_busidstring(topology, bus.c_str());
    if (pci == nullptr) {
        do {
            pci = hwloc_get_next_osdev(topology, pci);
        } while (pci != nullptr && pci->name != name);
        while (pci != nullptr && pci->type != HWLOC_OBJ_PCI_DEVICE)
            pci = pci->parent;
    }
    return pci != nullptr ? hwloc_get_non_io_ancestor_obj(topology, pci) : nullptr;
}

Json providers_section(Json *section) {
    Json list = Json::array();
    sennit_provider provider{};
    sennit_status status = SENNIT_OK;
    for (int i = 0; (status = sennit_provider_get(i, &provider)) == SENNIT_OK; ++i) {
        (*section)["libfabric"] = provider.version;
        list.push_back({{"name", provider.name},
                        {"taken", provider.is_taken != 0},
                        {"reason", provider.reason},
                        {"put_local_bits", provider.put_local_bits},
                        {"put_remote_bits", provider.put_remote_bits},
                        {"get_local_bits", provider.get_local_bits},
                        {"get_remote_bits", provider.get_remote_bits},
                        {"level", provider.level}});
    }
    if (status != SENNIT_ERR_RANGE) (*section)["error"] = sennit_last_error()->text;
    return list;
}

// The bits of completion data of each operation, for providers that have puts.
std::string bits_text(const Json &providers) {
    std::string text;
    for (const Json &provider : providers) {
        if (provider["put_local_bits"] == 0) continue;
        if (text.empty())
            text = fmt::format(
                "  bits of completion data that programs may set, level of support\n  {:<21} {:>9} "
                "{:>10} {:>9} {:>10} {:>5}\n",
                "", "local put", "remote put", "local get", "remote get", "level");
        text += fmt::format(
            "  {:<21} {:>9} {:>10} {:>9} {:>10} {:>5}\n", provider["name"].get<std::string>(),
            provider["put_local_bits"].get<int>(), provider["put_remote_bits"].get<int>(),
            provider["get_local_bits"].get<int>(), provider["get_remote_bits"].get<int>(),
            provider["level"].get<int>());
    }
    return text;
}

}  // namespace

// The place of a card that is attached to one NUMA domain; unknown if it is attached to several.
CardPlace card_place(const std::string &bus, const std::string &name) {
    const hwloc_obj_t near = near_card(bus, name);
    CardPlace place;
    if (near == nullptr || hwloc_bitmap_weight(near->nodeset) != 1) return place;
    place.numa_node = hwloc_bitmap_first(near->nodeset);
    place.numa_node_of_process = own_numa_node(node_topology());
    if (place.numa_node_of_process < 0) return place;
    const int distance =
        numa_distance(node_topology(), place.numa_node_of_process, place.numa_node);
    if (distance > 0) place.distance = distance;
    return place;
}

void add_place(const CardPlace &place, Json *out) {
    if (place.numa_node < 0) return;
    (*out)["numa_node"] = place.numa_node;
    if (place.numa_node_of_process >= 0)
        (*out)["numa_node_of_process"] = place.numa_node_of_process;
    if (place.distance >= 0) (*out)["numa_distance"] = place.distance;
}

std::string place_text(const Json &card) {
    if (!card.contains("numa_node")) return "";
    std::string text = fmt::format("on NUMA node {}", card["numa_node"].get<int>());
    if (!card.contains("numa_node_of_process")) return text;
    text += fmt::format(", this process on {}", card["numa_node_of_process"].get<int>());
    if (card.contains("numa_distance"))
        text += fmt::format(", distance {}", card["numa_distance"].get<int>());
    return text;
}

Json network_section() {
    Json section;
    const Json providers = providers_section(&section);
    section["providers"] = providers;
    section["interfaces"] = Json::array();
    for (const Interface &one : interfaces()) {
        Json json = {{"name", one.name},
                     {"address", one.address},
                     {"prefix", one.prefix},
                     {"up", one.is_up},
                     {"speed_mbit", one.speed_mbit},
                     {"mtu", one.mtu},
                     {"text", interface_text(one)}};
        const hwloc_obj_t near = near_card("", one.name);
        if (near != nullptr) json["near_cpus"] = cpus_text(near);
        add_place(card_place("", one.name), &json);
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
    text += bits_text(section["providers"]);
    text += "  interfaces; ranks take one that all of them have\n";
    for (const Json &interface : section["interfaces"]) {
        std::string place = place_text(interface);
        if (place.empty() && interface.contains("near_cpus"))
            place = fmt::format("near CPUs {}", interface["near_cpus"].get<std::string>());
        text += fmt::format("  {}; {}\n", interface["text"].get<std::string>(),
                            place.empty() ? "no PCI device behind it" : place);
    }
    return text;
}

}  // namespace sennit::cli
