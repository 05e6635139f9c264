// Checks of the processors that the ranks may use, and of their speed.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "finding.hpp"
#include "units.hpp"

namespace sennit::cli {
namespace {

constexpr const char *kProcessors = "/sys/devices/system/cpu";

std::string allowed_list(const System &system) {
    return value_of(read_text(system, "/proc/self/status").value_or(""), "Cpus_allowed_list");
}

struct Quota {
    double processors;
    ControlGroup group;
};

std::optional<double> quota_of(const System &system, const ControlGroup &group) {
    double quota = 0;
    double period = 0;
    if (group.second) {
        std::istringstream text(read_text(system, group.folder + "/cpu.max").value_or(""));
        if (!(text >> quota >> period)) return std::nullopt;  // "max 100000"
    } else {
        quota = static_cast<double>(
            read_number(system, group.folder + "/cpu.cfs_quota_us").value_or(0));
        period = static_cast<double>(
            read_number(system, group.folder + "/cpu.cfs_period_us").value_or(0));
    }
    if (quota <= 0 || period <= 0) return std::nullopt;
    return quota / period;
}

// The lowest quota of the control groups; nothing if none is limited.
std::optional<Quota> tightest_quota(const System &system) {
    std::optional<Quota> tightest;
    for (const ControlGroup &group : control_groups(system, "cpu")) {
        const std::optional<double> processors = quota_of(system, group);
        if (!processors || (tightest && *processors >= tightest->processors)) continue;
        tightest = Quota{*processors, group};
    }
    return tightest;
}

}  // namespace

Finding check_cpuset(const System &system) {
    Finding finding("cpuset");
    const std::string list = allowed_list(system);
    const std::size_t allowed = count_of_list(list);
    const std::string online_list = read_line(system, std::string(kProcessors) + "/online");
    const std::size_t online = count_of_list(online_list);
    if (allowed == 0) {
        finding.is = "the kernel does not report it";
        return finding;
    }
    finding.is = fmt::format("processors {}: {} of {}", list, allowed, std::max(online, allowed));
    finding.figures = {{"allowed", allowed}, {"online", online}};
    if (system.figures.handover_ns) {
        finding.figures["handover_ns"] = *system.figures.handover_ns;
        finding.measured = fmt::format("thread switch on one processor: {}",
                                       time_text(*system.figures.handover_ns));
    }
    if (system.ranks > static_cast<int>(allowed)) {
        finding.verdict = Verdict::bad;
        finding.costs = fmt::format(
            "{} ranks share {}: every wait takes at least a thread switch; between nodes each "
            "poll of a waiting rank does, too",
            system.ranks, counted(allowed, "processor"));
        finding.mend = allowed < online
                           ? fmt::format(
                                 "taskset -c {} sennit run -n {} ... (a container: docker "
                                 "run --cpuset-cpus)",
                                 online_list, std::min(system.ranks, static_cast<int>(online)))
                           : fmt::format("sennit run -n {} ...", allowed);
    } else if (allowed < online) {
        finding.verdict = Verdict::note;
        finding.costs = "this process may not use the others";
        finding.mend = fmt::format(
            "taskset -c {} sennit run ... (a container: docker run "
            "--cpuset-cpus)",
            online_list);
    }
    return finding;
}

Finding check_cpu_quota(const System &system) {
    Finding finding("cpu_quota");
    const std::optional<Quota> quota = tightest_quota(system);
    if (!quota) {
        finding.is = "no control group limits the processors' time";
        return finding;
    }
    const ControlGroup &group = quota->group;
    finding.is = fmt::format("a quota of {:.4g} processor{} in {}", quota->processors,
                             quota->processors == 1 ? "" : "s", group.folder);
    finding.figures = {{"processors", quota->processors}};
    const std::string stat = read_text(system, group.folder + "/cpu.stat").value_or("");
    std::istringstream words(stat);
    std::uint64_t throttled = 0;
    for (std::string key, value; words >> key >> value;)
        if (key == "nr_throttled") throttled = std::strtoull(value.c_str(), nullptr, 10);
    finding.figures["throttled"] = throttled;
    finding.measured = fmt::format("stopped {} so far", counted(throttled, "time"));
    const double wanted =
        system.ranks > 0 ? system.ranks : static_cast<double>(count_of_list(allowed_list(system)));
    if (wanted <= quota->processors) return finding;
    finding.verdict = system.ranks > 0 ? Verdict::bad : Verdict::note;
    finding.costs =
        "waiting ranks use it too: when it is used up, all ranks stop until the group's next "
        "period, up to tens of milliseconds";
    finding.mend = group.second
                       ? fmt::format("echo max | sudo tee {}/cpu.max", group.folder)
                       : fmt::format("echo -1 | sudo tee {}/cpu.cfs_quota_us", group.folder);
    finding.mend += " (a container: docker run --cpus)";
    return finding;
}

Finding check_governor(const System &system) {
    Finding finding("governor");
    const Figures &figures = system.figures;
    if (figures.first_work_ns && figures.later_work_ns) {
        finding.figures["work_after_sleep_ns"] = *figures.first_work_ns;
        finding.figures["work_when_busy_ns"] = *figures.later_work_ns;
        finding.measured =
            fmt::format("the same work takes {} after a sleep and {} when busy",
                        time_text(*figures.first_work_ns), time_text(*figures.later_work_ns));
    }
    std::map<std::string, int> counts;
    for (const std::string &name : numbered(system, kProcessors, "cpu")) {
        const std::string file =
            std::string(kProcessors) + "/" + name + "/cpufreq/scaling_governor";
        std::string governor;
        std::istringstream(read_text(system, file).value_or("")) >> governor;
        if (!governor.empty()) ++counts[governor];
    }
    if (counts.empty()) {
        finding.is =
            "the kernel does not set the frequency here (a virtual machine, or the firmware)";
        return finding;
    }
    for (const auto &[governor, count] : counts)
        finding.is += fmt::format("{}{} ({})", finding.is.empty() ? "" : ", ", governor, count);
    if (counts.size() == 1 && counts.begin()->first == "performance") return finding;
    finding.verdict = Verdict::note;
    finding.costs =
        "processors start slowly after a sleep, and measurements differ from run to run";
    finding.mend = "sudo cpupower frequency-set -g performance";
    return finding;
}

Finding check_autogroup(const System &system) {
    Finding finding("autogroup");
    const std::string group = read_text(system, "/proc/self/autogroup").value_or("");
    const bool is_on =
        read_number(system, "/proc/sys/kernel/sched_autogroup_enabled").value_or(0) == 1;
    if (group.empty() || !is_on) {
        finding.is = "sessions have no scheduling groups of their own";
        return finding;
    }
    finding.is = fmt::format("every session is a scheduling group; this one is {}",
                             group.substr(0, group.find_first_of(" \n")));
    const std::size_t allowed = count_of_list(allowed_list(system));
    if (allowed == 0 || system.ranks <= static_cast<int>(allowed)) return finding;
    finding.verdict = Verdict::note;
    finding.costs =
        "a launcher that gives each rank a session (hydra does, `sennit run` does not) keeps the "
        "ranks of a processor from yielding to each other: they sleep and wake instead";
    finding.mend = "sennit run, or sudo sysctl kernel.sched_autogroup_enabled=0";
    return finding;
}

}  // namespace sennit::cli
