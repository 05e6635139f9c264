// Chooses the CPUs to which each rank is bound, among those that this process may use. "share", the
// default: each rank gets an equal share of consecutive CPUs in the order of the cores, so that a
// rank has CPUs for its threads and neighbours are near each other. With more ranks than CPUs no
// rank is bound. "core": each rank gets one core with all its hardware threads. If there are more
// ranks than cores, ranks share cores in turn.
#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "launch/job.hpp"

namespace sennit::cli {
namespace {

std::vector<int> allowed_cpus() {
    for (int most = 1024; most <= 1 << 20; most *= 4) {
        cpu_set_t *set = CPU_ALLOC(most);
        const std::size_t bytes = CPU_ALLOC_SIZE(most);
        std::vector<int> cpus;
        const bool known = sched_getaffinity(0, bytes, set) == 0;
        const bool too_small = !known && errno == EINVAL;
        for (int cpu = 0; known && cpu < most; ++cpu) {
            if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(cpu);
        }
        CPU_FREE(set);
        if (!too_small) return cpus;
    }
    return {};
}

// Keeps hwloc from loading its plugins for graphics cards and other devices, which takes long.
hwloc_topology_t init_topology() {
    constexpr const char *kVariable = "HWLOC_PLUGINS_PATH";
    const bool set_here = setenv(kVariable, "", 0) == 0 && *std::getenv(kVariable) == '\0';
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) topology = nullptr;
    if (set_here) (void)unsetenv(kVariable);
    return topology;
}

// Returns the allowed CPUs, grouped by core. The cores are in the order of the machine (package,
// NUMA node, cache). This takes milliseconds, because it loads the topology.
std::vector<std::vector<int>> cores_of(const std::vector<int> &allowed) {
    hwloc_topology_t topology = init_topology();
    std::vector<std::vector<int>> cores;
    if (topology == nullptr) return cores;
    (void)hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
    (void)hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    (void)hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    // hwloc's component x86 would run on each CPU in turn, and wait for other programs there.
    (void)hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    if (hwloc_topology_load(topology) == 0) {
        for (hwloc_obj_t core = nullptr;
             (core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != nullptr;) {
            std::vector<int> mine;
            for (const int cpu : allowed) {
                if (hwloc_bitmap_isset(core->cpuset, static_cast<unsigned>(cpu)) != 0) {
                    mine.push_back(cpu);
                }
            }
            if (!mine.empty()) cores.push_back(mine);
        }
    }
    hwloc_topology_destroy(topology);
    return cores;
}

}  // namespace

std::vector<std::vector<int>> plan_binding(Binding binding, int ranks) {
    if (binding == Binding::kNone) return {};
    const std::vector<int> allowed = allowed_cpus();
    const auto count = static_cast<std::size_t>(ranks);
    if (binding == Binding::kShare && (count == 1 || count > allowed.size())) return {};
    std::vector<std::vector<int>> cores = cores_of(allowed);
    if (cores.empty()) {
        for (const int cpu : allowed)
            cores.push_back({cpu});
    }
    std::vector<std::vector<int>> plan(count);
    if (binding == Binding::kCore || count == cores.size()) {
        for (std::size_t rank = 0; rank < count; ++rank)
            plan[rank] = cores[rank % cores.size()];
        return plan;
    }
    if (count < cores.size()) {
        for (std::size_t i = 0; i < cores.size(); ++i) {
            std::vector<int> &mine = plan[i * count / cores.size()];
            mine.insert(mine.end(), cores[i].begin(), cores[i].end());
        }
        return plan;
    }
    // More ranks than cores, at most one rank per hardware thread.
    std::vector<int> threads;
    for (const std::vector<int> &core : cores) {
        threads.insert(threads.end(), core.begin(), core.end());
    }
    for (std::size_t i = 0; i < threads.size(); ++i) {
        plan[i * count / threads.size()].push_back(threads[i]);
    }
    return plan;
}

}  // namespace sennit::cli
