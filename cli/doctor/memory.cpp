// Checks of memory: pages, limits, and moves between NUMA domains by the kernel.
#include <fmt/format.h>

#include <algorithm>

#include "finding.hpp"
#include "units.hpp"

namespace sennit::cli {
namespace {

constexpr const char *kPages = "/sys/kernel/mm/transparent_hugepage/";

void add_touch(const Figures &figures, Finding *finding) {
    if (!figures.touch_ns_per_mib || !figures.touch_huge_ns_per_mib) return;
    finding->figures["touch_ns_per_mib"] = *figures.touch_ns_per_mib;
    finding->figures["touch_huge_ns_per_mib"] = *figures.touch_huge_ns_per_mib;
    finding->measured = fmt::format("first touch of 1 MiB: {}, {} where huge pages are asked for",
                                    time_text(*figures.touch_ns_per_mib),
                                    time_text(*figures.touch_huge_ns_per_mib));
}

// The lowest limit of the control groups; nothing if there is none.
struct Limit {
    std::uint64_t bytes;
    std::uint64_t used;
    ControlGroup group;
};

std::optional<Limit> tightest_limit(const System &system) {
    std::optional<Limit> tightest;
    for (const ControlGroup &group : control_groups(system, "memory")) {
        const auto *limit_file = group.second ? "/memory.max" : "/memory.limit_in_bytes";
        const auto *usage_file = group.second ? "/memory.current" : "/memory.usage_in_bytes";
        const auto bytes = read_number(system, group.folder + limit_file);
        if (!bytes || (tightest && *bytes >= tightest->bytes)) continue;
        const auto used = read_number(system, group.folder + usage_file).value_or(0);
        tightest = Limit{*bytes, used, group};
    }
    return tightest;
}

std::uint64_t memory_of_node(const System &system) {
    const std::string text = value_of(read_text(system, "/proc/meminfo").value_or(""), "MemTotal");
    return text.empty() ? UINT64_MAX : std::strtoull(text.c_str(), nullptr, 10) * 1024;
}

}  // namespace

std::uint64_t free_memory(const System &system) {
    const std::string text =
        value_of(read_text(system, "/proc/meminfo").value_or(""), "MemAvailable");
    const std::uint64_t of_node =
        text.empty() ? UINT64_MAX : std::strtoull(text.c_str(), nullptr, 10) * 1024;
    const std::optional<Limit> limit = tightest_limit(system);
    if (!limit) return of_node;
    return std::min(of_node, limit->bytes - std::min(limit->used, limit->bytes));
}

Finding check_huge_pages(const System &system) {
    Finding finding("huge_pages");
    const std::string chosen =
        chosen_word(read_text(system, std::string(kPages) + "enabled").value_or(""));
    const std::string meminfo = read_text(system, "/proc/meminfo").value_or("");
    const std::string pool = value_of(meminfo, "HugePages_Total");
    finding.is =
        fmt::format("transparent ones for private memory: {}; in the pool: {}",
                    chosen.empty() ? "not in this kernel" : chosen, pool.empty() ? "none" : pool);
    if (chosen == "never") {
        finding.verdict = Verdict::note;
        finding.costs =
            "private memory of programs stays in small pages; Sennit itself uses neither";
        finding.mend = fmt::format("echo madvise | sudo tee {}enabled", kPages);
    }
    return finding;
}

Finding check_shmem_enabled(const System &system) {
    Finding finding("shmem_enabled");
    add_touch(system.figures, &finding);
    const std::string chosen =
        chosen_word(read_text(system, std::string(kPages) + "shmem_enabled").value_or(""));
    if (chosen.empty()) {
        finding.is = "not in this kernel, or /sys is not mounted: shared memory has small pages";
        finding.verdict = Verdict::note;
        finding.costs = "SENNIT_ALLOC_HUGE has no effect";
        finding.mend = "mount /sys, or a kernel with CONFIG_TRANSPARENT_HUGEPAGE";
        return finding;
    }
    finding.is = fmt::format("huge pages for shared memory: {}", chosen);
    if (chosen != "never" && chosen != "deny") return finding;
    finding.verdict = Verdict::note;
    finding.costs = "SENNIT_ALLOC_HUGE has no effect: segments have small pages";
    finding.mend = fmt::format("echo advise | sudo tee {}shmem_enabled", kPages);
    return finding;
}

Finding check_memory_limit(const System &system) {
    Finding finding("memory_limit");
    const std::optional<Limit> limit = tightest_limit(system);
    if (!limit || limit->bytes >= memory_of_node(system)) {
        finding.is = "no control group limits the memory of this process";
        return finding;
    }
    const std::uint64_t left = limit->used < limit->bytes ? limit->bytes - limit->used : 0;
    const auto ranks = static_cast<std::uint64_t>(std::max(system.ranks, 1));
    finding.is =
        fmt::format("{} in {}, {} of it used", bytes_text(static_cast<double>(limit->bytes)),
                    limit->group.folder, bytes_text(static_cast<double>(limit->used)));
    finding.figures = {{"limit_bytes", limit->bytes}, {"used_bytes", limit->used}};
    constexpr std::uint64_t kScarceBytes = std::uint64_t{64} << 20;  // for one rank
    finding.verdict = left / ranks < kScarceBytes ? Verdict::bad : Verdict::note;
    finding.costs = fmt::format(
        "{} left for each rank; more is SENNIT_ERR_NOMEM at allocation with SENNIT_ALLOC_RESERVE, "
        "else the kernel kills the rank at the first touch",
        bytes_text(static_cast<double>(left / ranks)));
    finding.mend =
        limit->group.second
            ? fmt::format("echo max | sudo tee {}/memory.max", limit->group.folder)
            : fmt::format("echo -1 | sudo tee {}/memory.limit_in_bytes", limit->group.folder);
    finding.mend += " (a container: docker run --memory)";
    return finding;
}

Finding check_numa_balancing(const System &system) {
    Finding finding("numa_balancing");
    const auto mode = read_number(system, "/proc/sys/kernel/numa_balancing");
    const std::size_t nodes = numbered(system, "/sys/devices/system/node", "node").size();
    if (!mode || *mode == 0) {
        finding.is = mode ? "off" : "not in this kernel";
        return finding;
    }
    finding.is = fmt::format("on ({}), with {}", *mode, counted(nodes, "NUMA domain"));
    if (nodes <= 1) return finding;
    finding.verdict = Verdict::bad;
    finding.costs =
        "the kernel unmaps pages for a moment to find their users, and moves them: puts and gets "
        "then fault. Bound ranks have their memory near already";
    finding.mend = "sudo sysctl -w kernel.numa_balancing=0";
    return finding;
}

}  // namespace sennit::cli
