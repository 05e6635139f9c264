#include "map/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace sennit::cli::map {

namespace {

int index_above(hwloc_topology_t topology, hwloc_obj_t processor, hwloc_obj_type_t type) {
    const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(topology, type, processor);
    return found == nullptr ? -1 : static_cast<int>(found->logical_index);
}

// The first NUMA node that the processor is local to.
int numa_node_of(hwloc_topology_t topology, hwloc_obj_t processor) {
    for (hwloc_obj_t node = nullptr;
         (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;)
        if (hwloc_bitmap_isincluded(processor->cpuset, node->cpuset) != 0)
            return static_cast<int>(node->logical_index);
    return -1;
}

std::uint64_t largest_cache(hwloc_topology_t topology) {
    std::uint64_t largest = 0;
    for (const hwloc_obj_type_t type : {HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE}) {
        const hwloc_obj_t first = hwloc_get_next_obj_by_type(topology, type, nullptr);
        if (first != nullptr) largest = std::max(largest, first->attr->cache.size);
    }
    return largest;
}

bool share(int one, int other) {
    return one >= 0 && one == other;
}

using Transfers = std::vector<std::array<int, 2>>;

// Adds the transfers in the opposite direction.
Transfers both_ways(Transfers transfers) {
    const std::size_t count = transfers.size();
    for (std::size_t i = 0; i < count; ++i)
        transfers.push_back({transfers[i][1], transfers[i][0]});
    return transfers;
}

Transfers within(const std::vector<int> &cores) {
    if (cores.size() == 1) return {{cores[0], cores[0]}};
    Transfers transfers;
    for (std::size_t i = 0; i + 1 < cores.size(); i += 2)
        transfers.push_back({cores[i], cores[i + 1]});
    return both_ways(std::move(transfers));
}

Transfers across(const std::vector<int> &near, const std::vector<int> &far) {
    Transfers transfers;
    for (std::size_t i = 0; i < std::min(near.size(), far.size()); ++i)
        transfers.push_back({near[i], far[i]});
    return both_ways(std::move(transfers));
}

struct Domain {
    int index;
    std::vector<int> cores;
};

std::vector<Domain> domains(const Machine &machine, int Core::*member) {
    std::vector<Domain> all;
    for (const Core &core : machine.cores) {
        const int index = core.*member;
        if (index < 0) continue;
        const auto found = std::find_if(all.begin(), all.end(),
                                        [&](const Domain &one) { return one.index == index; });
        if (found == all.end())
            all.push_back({index, {core.processor}});
        else
            found->cores.push_back(core.processor);
    }
    return all;
}

}  // namespace

Distance distance(const Core &one, const Core &other) {
    if (one.processor == other.processor || share(one.core, other.core)) return Distance::same;
    if (share(one.l2, other.l2)) return Distance::l2;
    if (share(one.l3, other.l3)) return Distance::l3;
    if (share(one.numa, other.numa)) return Distance::numa;
    return share(one.package, other.package) ? Distance::package : Distance::apart;
}

const char *distance_text(Distance distance) {
    constexpr std::array kTexts{"are the same",       "share an L2",
                                "share an L3",        "are in one NUMA node",
                                "are in one package", "are in different packages"};
    return kTexts[static_cast<std::size_t>(distance)];
}

std::vector<Group> groups_of(const Machine &machine) {
    std::vector<Group> groups;
    const auto add = [&](Group group) {
        const bool is_there = std::any_of(groups.begin(), groups.end(), [&](const Group &one) {
            return one.transfers == group.transfers;
        });
        if (!is_there) groups.push_back(std::move(group));
    };
    const std::pair<const char *, int Core::*> levels[] = {{"NUMA node", &Core::numa},
                                                           {"package", &Core::package}};
    for (const auto &[name, member] : levels) {
        const std::vector<Domain> all = domains(machine, member);
        if (all.empty()) continue;
        add({fmt::format("within {} {}", name, all.front().index), within(all.front().cores)});
        if (all.size() > 1)
            add({fmt::format("across {}s {} and {}", name, all.front().index, all.back().index),
                 across(all.front().cores, all.back().cores)});
    }
    return groups;
}

std::vector<std::array<int, 2>> nearest_pairs(const Machine &machine) {
    std::vector<std::array<int, 2>> pairs;
    std::set<Distance> seen;
    const Core &first = machine.cores.front();
    for (const Core &core : machine.cores)
        if (core.processor != first.processor && seen.insert(distance(first, core)).second)
            pairs.push_back({first.processor, core.processor});
    if (pairs.empty()) pairs.push_back({first.processor, first.processor});
    return pairs;
}

std::vector<int> first_processors(hwloc_topology_t topology, hwloc_const_bitmap_t allowed) {
    std::vector<int> processors;
    std::set<unsigned> cores;
    for (hwloc_obj_t processor = nullptr;
         (processor = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, processor)) != nullptr;) {
        if (hwloc_bitmap_isset(allowed, processor->os_index) == 0) continue;
        const hwloc_obj_t core =
            hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, processor);
        if (core == nullptr || cores.insert(core->logical_index).second)
            processors.push_back(static_cast<int>(processor->os_index));
    }
    return processors;
}

Machine machine_of(hwloc_topology_t topology, const std::vector<int> &processors) {
    Machine machine;
    const hwloc_obj_t package = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PACKAGE, nullptr);
    const char *const model =
        package != nullptr ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
    machine.model = model != nullptr ? model : "";
    machine.largest_cache = largest_cache(topology);
    std::vector<hwloc_obj_t> found;
    for (const int number : processors) {
        found.push_back(hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(number)));
        if (found.back() == nullptr)
            throw std::runtime_error(fmt::format("there is no processor {}", number));
    }
    std::sort(found.begin(), found.end(),
              [](hwloc_obj_t a, hwloc_obj_t b) { return a->logical_index < b->logical_index; });
    for (const hwloc_obj_t processor : found) {
        Core core;
        core.processor = static_cast<int>(processor->os_index);
        core.core = index_above(topology, processor, HWLOC_OBJ_CORE);
        core.l2 = index_above(topology, processor, HWLOC_OBJ_L2CACHE);
        core.l3 = index_above(topology, processor, HWLOC_OBJ_L3CACHE);
        core.numa = numa_node_of(topology, processor);
        core.package = index_above(topology, processor, HWLOC_OBJ_PACKAGE);
        machine.cores.push_back(core);
    }
    return machine;
}

Json to_json(const Machine &machine) {
    Json line{{"map", "machine"},
              {"host", machine.host},
              {"model", machine.model},
              {"largest_cache", machine.largest_cache}};
    for (const Core &core : machine.cores)
        line["cores"].push_back({{"processor", core.processor},
                                 {"core", core.core},
                                 {"l2", core.l2},
                                 {"l3", core.l3},
                                 {"numa", core.numa},
                                 {"package", core.package}});
    return line;
}

Machine machine_from_json(const Json &line) {
    Machine machine;
    machine.host = line.at("host").get<std::string>();
    machine.model = line.at("model").get<std::string>();
    machine.largest_cache = line.at("largest_cache").get<std::uint64_t>();
    for (const Json &core : line.at("cores"))
        machine.cores.push_back({core.at("processor").get<int>(), core.at("core").get<int>(),
                                 core.at("l2").get<int>(), core.at("l3").get<int>(),
                                 core.at("numa").get<int>(), core.at("package").get<int>()});
    return machine;
}

}  // namespace sennit::cli::map
