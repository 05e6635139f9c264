// The topology section of `sennit info`: this node as hwloc describes it, and the part that this
// process may use.
#include <fmt/format.h>
#include <hwloc.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "info.hpp"
#include "units.hpp"

namespace sennit::cli {
namespace {

hwloc_topology_t load() {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) return nullptr;
    (void)hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    (void)hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    return hwloc_topology_load(topology) == 0 ? topology : nullptr;
}

std::string list_text(hwloc_const_bitmap_t set) {
    char *text = nullptr;
    if (hwloc_bitmap_list_asprintf(&text, set) < 0) return "";
    std::string result = text;
    std::free(text);
    return result;
}

int count(hwloc_topology_t topology, hwloc_obj_type_t type) {
    return std::max(hwloc_get_nbobjs_by_type(topology, type), 0);
}

Json caches(hwloc_topology_t topology) {
    Json list = Json::array();
    for (const hwloc_obj_type_t type :
         {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE}) {
        const hwloc_obj_t first = hwloc_get_next_obj_by_type(topology, type, nullptr);
        if (first == nullptr) continue;
        list.push_back({{"name", hwloc_obj_type_string(type)},
                        {"count", count(topology, type)},
                        {"bytes", first->attr->cache.size},
                        {"line_bytes", first->attr->cache.linesize},
                        {"cpus_sharing", hwloc_bitmap_weight(first->cpuset)}});
    }
    return list;
}

Json numa_nodes(hwloc_topology_t topology) {
    Json list = Json::array();
    for (hwloc_obj_t node = nullptr;
         (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
        list.push_back({{"index", node->os_index},
                        {"bytes", node->attr->numanode.local_memory},
                        {"cpus", list_text(node->cpuset)}});
    }
    return list;
}

Json network_cards(hwloc_topology_t topology) {
    Json list = Json::array();
    for (hwloc_obj_t device = nullptr;
         (device = hwloc_get_next_osdev(topology, device)) != nullptr;) {
        const auto type = device->attr->osdev.type;
        if (type != HWLOC_OBJ_OSDEV_NETWORK && type != HWLOC_OBJ_OSDEV_OPENFABRICS) continue;
        const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology, device);
        const char *address = hwloc_obj_get_info_by_name(device, "Address");
        list.push_back({{"name", device->name},
                        {"kind", type == HWLOC_OBJ_OSDEV_NETWORK ? "network" : "fabric"},
                        {"address", address != nullptr ? address : ""},
                        {"near_cpus", near != nullptr ? list_text(near->cpuset) : ""}});
    }
    return list;
}

}  // namespace

hwloc_topology_t node_topology() {
    static hwloc_topology_t topology = load();
    return topology;
}

std::string cpus_text(hwloc_obj_t object) {
    return list_text(object->cpuset);
}

int own_numa_node(hwloc_topology_t topology) {
    const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> cpus(hwloc_bitmap_alloc(),
                                                                             hwloc_bitmap_free);
    const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> nodes(hwloc_bitmap_alloc(),
                                                                              hwloc_bitmap_free);
    if (hwloc_get_cpubind(topology, cpus.get(), HWLOC_CPUBIND_PROCESS) != 0) return -1;
    hwloc_cpuset_to_nodeset(topology, cpus.get(), nodes.get());
    return hwloc_bitmap_weight(nodes.get()) == 1 ? hwloc_bitmap_first(nodes.get()) : -1;
}

int numa_distance(hwloc_topology_t topology, int from, int to) {
    unsigned count = 1;
    hwloc_distances_s *distances = nullptr;
    if (hwloc_distances_get_by_type(topology, HWLOC_OBJ_NUMANODE, &count, &distances,
                                    HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
        count == 0)
        return 0;
    const hwloc_obj_t ends[] = {
        hwloc_get_numanode_obj_by_os_index(topology, static_cast<unsigned>(from)),
        hwloc_get_numanode_obj_by_os_index(topology, static_cast<unsigned>(to))};
    hwloc_uint64_t there = 0;
    hwloc_uint64_t back = 0;
    const bool known =
        ends[0] != nullptr && ends[1] != nullptr &&
        hwloc_distances_obj_pair_values(distances, ends[0], ends[1], &there, &back) == 0;
    hwloc_distances_release(topology, distances);
    return known ? static_cast<int>(there) : 0;
}

Json topology_section() {
    const hwloc_topology_t topology = node_topology();
    if (topology == nullptr) return {{"error", "hwloc cannot read the topology of this node"}};
    char host[256] = "";
    (void)gethostname(host, sizeof host - 1);
    const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> bound(hwloc_bitmap_alloc(),
                                                                              hwloc_bitmap_free);
    if (hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_PROCESS) != 0) {
        hwloc_bitmap_copy(bound.get(), hwloc_topology_get_allowed_cpuset(topology));
    }
    const hwloc_obj_t package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, nullptr);
    const char *model =
        package != nullptr ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
    return {{"host", host},
            {"processor", model != nullptr ? model : ""},
            {"packages", count(topology, HWLOC_OBJ_PACKAGE)},
            {"cores", count(topology, HWLOC_OBJ_CORE)},
            {"cpus", count(topology, HWLOC_OBJ_PU)},
            {"allowed_cpus", list_text(hwloc_topology_get_allowed_cpuset(topology))},
            {"bound_to_cpus", list_text(bound.get())},
            {"numa_nodes", numa_nodes(topology)},
            {"caches", caches(topology)},
            {"network_cards", network_cards(topology)}};
}

std::string topology_text(const Json &section) {
    if (section.contains("error")) return "  " + section["error"].get<std::string>() + "\n";
    std::string text = fmt::format(
        "  {}, {}\n  {}, {}, {}; allowed: {}; this process: {}\n",
        section["host"].get<std::string>(), section["processor"].get<std::string>(),
        counted(section["packages"].get<int>(), "package"),
        counted(section["cores"].get<int>(), "core"), counted(section["cpus"].get<int>(), "CPU"),
        section["allowed_cpus"].get<std::string>(), section["bound_to_cpus"].get<std::string>());
    for (const Json &node : section["numa_nodes"]) {
        text +=
            fmt::format("  NUMA node {}: {}, CPUs {}\n", node["index"].get<int>(),
                        bytes_text(node["bytes"].get<double>()), node["cpus"].get<std::string>());
    }
    for (const Json &cache : section["caches"]) {
        text += fmt::format(
            "  {}: {} of {}, each for {}, lines of {} B\n", cache["name"].get<std::string>(),
            cache["count"].get<int>(), bytes_text(cache["bytes"].get<double>()),
            counted(cache["cpus_sharing"].get<int>(), "CPU"), cache["line_bytes"].get<int>());
    }
    for (const Json &card : section["network_cards"]) {
        text +=
            fmt::format("  network card {} ({}) near CPUs {}\n", card["name"].get<std::string>(),
                        card["kind"].get<std::string>(), card["near_cpus"].get<std::string>());
    }
    if (section["network_cards"].empty()) text += "  no network card on the PCI bus\n";
    return text;
}

}  // namespace sennit::cli
