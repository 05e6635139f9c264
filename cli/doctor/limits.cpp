// Checks whether two ranks start, and the limits of this process and its children: open files,
// memory, processes, threads.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <limits>
#include <set>
#include <sstream>

#include "finding.hpp"
#include "launch/files.hpp"
#include "units.hpp"

namespace sennit::cli {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// Open files of a rank in a job of several nodes over TCP.
constexpr std::uint64_t kConnections = 4;  // for each peer and rail
constexpr std::uint64_t kOtherFiles = 128;
constexpr std::uint64_t kFewRanks = 1000;

// The needs of a rank without segments. docs/manual/containers.md has the same numbers.
constexpr std::uint64_t kFileBytes = 4'000'000;
constexpr std::uint64_t kAddressBytes = 115'400'000;  // for itself and for each rank of its node
constexpr std::uint64_t kLauncherProcesses = 2;
constexpr std::uint64_t kStackBytes = 65536;  // the conformance suite fails with 49152
constexpr std::uint64_t kThreadsOfRank = 2;   // between nodes

// A line of /proc/self/limits; "" if not known.
struct Limits {
    std::string soft;
    std::string hard;
};

Limits limits_of(const System &system, const std::string &what) {
    Limits limits;
    std::istringstream lines(read_text(system, "/proc/self/limits").value_or(""));
    for (std::string line; std::getline(lines, line);)
        if (line.compare(0, what.size(), what) == 0)
            std::istringstream(line.substr(what.size())) >> limits.soft >> limits.hard;
    return limits;
}

// The soft limit; kNoLimit if there is none or it is not known.
std::uint64_t soft_limit(const System &system, const std::string &what) {
    const std::string text = limits_of(system, what).soft;
    std::uint64_t limit = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
    return error == std::errc() ? limit : kNoLimit;
}

// The soft limit in bytes, kNoLimit if there is none. Sets `is` to `none` or to `some`, a format of
// the limit's text.
std::uint64_t bytes_limit(const System &system, const std::string &what, const char *none,
                          const char *some, Finding *finding) {
    const std::uint64_t bytes = soft_limit(system, what);
    if (bytes == kNoLimit) {
        finding->is = none;
        return bytes;
    }
    finding->is = fmt::format(fmt::runtime(some), bytes_text(static_cast<double>(bytes)));
    finding->figures = {{"limit_bytes", bytes}};
    return bytes;
}

// The number of ranks for which limits are checked: two without -n.
std::uint64_t ranks_of(const System &system) {
    return static_cast<std::uint64_t>(std::max(system.ranks, 2));
}

std::string open_files_mend(std::uint64_t ranks) {
    return fmt::format(
        "ulimit -n {}, as root (docker run --ulimit nofile=N; nofile in /etc/security/limits.conf)",
        std::max(ranks, kFewRanks) * kConnections + kOtherFiles);
}

// RLIMIT_NPROC does not apply to a process with CAP_SYS_ADMIN or CAP_SYS_RESOURCE.
bool is_exempt(const System &system) {
    const std::string text =
        value_of(read_text(system, "/proc/self/status").value_or(""), "CapEff");
    std::uint64_t capabilities = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), capabilities, 16);
    constexpr unsigned kSysAdmin = 21;
    constexpr unsigned kSysResource = 24;
    return (capabilities >> kSysAdmin & 1) != 0 || (capabilities >> kSysResource & 1) != 0;
}

// The threads of all processes of this process's user.
std::uint64_t threads_of_user(const System &system) {
    const auto first_word = [](const std::string &text) {
        return text.substr(0, text.find_first_of(" \t"));
    };
    const std::string user =
        first_word(value_of(read_text(system, "/proc/self/status").value_or(""), "Uid"));
    std::uint64_t threads = 0;
    for (const std::string &name : numbered(system, "/proc", "")) {
        const std::string status = read_text(system, "/proc/" + name + "/status").value_or("");
        if (first_word(value_of(status, "Uid")) == user)
            threads += std::strtoull(value_of(status, "Threads").c_str(), nullptr, 10);
    }
    return threads;
}

// A limit of processes and threads.
struct Room {
    std::uint64_t allowed = kNoLimit;
    std::uint64_t left = kNoLimit;
    std::string name;
    std::string mend;
};

Room room_of_user(const System &system) {
    Room room;
    room.allowed = is_exempt(system) ? kNoLimit : soft_limit(system, "Max processes");
    if (room.allowed == kNoLimit) return room;
    const std::uint64_t used = threads_of_user(system);
    room.left = room.allowed - std::min(used, room.allowed);
    room.name = "this user (ulimit -u)";
    room.mend = "ulimit -u unlimited, as root (nproc in /etc/security/limits.conf)";
    return room;
}

// The lowest limit of the user and the control groups.
Room tightest_room(const System &system) {
    Room room = room_of_user(system);
    for (const ControlGroup &group : control_groups(system, "pids")) {
        const auto allowed = read_number(system, group.folder + "/pids.max");
        const auto used = read_number(system, group.folder + "/pids.current").value_or(0);
        if (!allowed || *allowed - std::min(used, *allowed) >= room.left) continue;
        room = {*allowed, *allowed - std::min(used, *allowed), group.folder,
                fmt::format("echo max | sudo tee {}/pids.max (a container: docker run "
                            "--pids-limit)",
                            group.folder)};
    }
    return room;
}

// The lines of the output, each once. Lines about the end of a rank are left out if there are other
// lines, because these have the reason.
std::string reasons_in(const std::string &text) {
    std::set<std::string> seen;
    std::string reasons;
    std::string ends;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || !seen.insert(line).second) continue;
        std::string &to = line.find("sennit run: rank ") == 0 ? ends : reasons;
        to += (to.empty() ? "" : "; ") + line;
    }
    return reasons.empty() ? ends : reasons;
}

// The reason why rank 0 does not reach rank 1, from the output of `sennit info --peers --json`; ""
// if it does.
std::string why_apart(const std::string &text) {
    const Json report = Json::parse(text, nullptr, false);
    if (!report.is_object() || !report.contains("peers")) return "";
    for (const Json &pair : report["peers"]["pairs"])
        if (pair["from"] == 0 && pair["to"] == 1 && pair["path"] == "none")
            return pair["reasons"]["mapped"].get<std::string>();
    return "";
}

// The name of another check that explains why no job starts; "" if there is none.
std::string cause_of(const System &system) {
    for (const Check check :
         {check_open_files, check_file_size, check_address_space, check_stack, check_processes}) {
        const Finding finding = check(system);
        if (finding.verdict == Verdict::bad) return finding.name;
    }
    constexpr int kKilledByFilter = 128 + SIGSYS;  // exit code of sennit run
    const bool is_killed = system.start && system.start->exit_code == kKilledByFilter;
    return system.figures.copy_kills && is_killed ? "seccomp" : "";
}

}  // namespace

Finding check_start(const System &system) {
    Finding finding("start");
    if (!system.start) {
        finding.is = "not tried";
        return finding;
    }
    const Start &start = *system.start;
    finding.figures = {{"exit_code", start.exit_code}, {"start_ns", start.ns}};
    const std::string apart = start.exit_code == 0 ? why_apart(start.text) : "";
    if (start.exit_code == 0) {
        finding.is = "two ranks start and reach each other";
        finding.measured = fmt::format("from sennit run to its end: {}", time_text(start.ns));
        if (apart.empty()) return finding;
        finding.is = "two ranks start, but do not reach each other: " + apart;
        finding.costs = "calls on another rank's memory return SENNIT_ERR_OTHER_NODE";
    } else {
        finding.is = fmt::format("two ranks do not start (exit code {}): {}", start.exit_code,
                                 reasons_in(start.text));
        finding.costs = "no job runs here";
    }
    const std::string cause = cause_of(system);
    finding.verdict = cause.empty() ? Verdict::bad : Verdict::note;
    if (!cause.empty())
        finding.mend = "see " + cause;
    else if (has_filter(system))
        finding.mend =
            "docker run --security-opt seccomp=unconfined ... (or a profile that allows the "
            "call that failed)";
    else
        finding.mend = "remove the named cause; sennit run -n 2 sennit info --peers tries it again";
    return finding;
}

Finding check_memlock(const System &system) {
    Finding finding("memlock");
    const std::string soft = limits_of(system, "Max locked memory").soft;
    double bytes = 0;
    const auto [rest, error] = std::from_chars(soft.data(), soft.data() + soft.size(), bytes);
    if (soft == "unlimited" || error != std::errc()) {
        finding.is =
            soft == "unlimited" ? "no limit on locked memory" : "the kernel does not report it";
        return finding;
    }
    finding.verdict = Verdict::note;
    finding.is = fmt::format("{} of memory may be locked", bytes_text(bytes));
    // RDMA cards, such as those of verbs and Omni-Path.
    const bool has_card = !names_in(system, "/sys/class/infiniband").empty();
    if (has_card) finding.verdict = Verdict::bad;
    finding.costs = has_card ? "the network card here locks what Sennit registers, and registering "
                               "fails beyond the limit"
                             : "nothing on one node, and nothing by TCP: Sennit locks no memory. "
                               "Drivers of network cards lock what they register, and fail beyond "
                               "the limit";
    finding.mend =
        "ulimit -l unlimited (docker run --ulimit memlock=-1; memlock in "
        "/etc/security/limits.conf)";
    return finding;
}

Finding check_open_files(const System &system) {
    Finding finding("open_files");
    const Limits limits = limits_of(system, "Max open files");
    std::uint64_t hard = 0;
    const auto [rest, error] =
        std::from_chars(limits.hard.data(), limits.hard.data() + limits.hard.size(), hard);
    if (limits.hard == "unlimited" || error != std::errc()) {
        finding.is = limits.hard == "unlimited" ? "a process may have any number of open files"
                                                : "the kernel does not report it";
        return finding;
    }
    const std::uint64_t ranks = hard > kOtherFiles ? (hard - kOtherFiles) / kConnections : 0;
    finding.is = fmt::format(
        "a process may have {} open files; ranks raise this to {}, which is enough for connections "
        "to {} ranks on other nodes by TCP",
        limits.soft, limits.hard, ranks);
    finding.figures = {{"hard", hard}, {"ranks", ranks}};
    const auto wanted = static_cast<std::uint64_t>(system.ranks);
    const std::uint64_t of_launcher = files_of_keeper(ranks_of(system));
    if (hard < of_launcher) {
        finding.verdict = Verdict::bad;
        finding.is = fmt::format("a process may have {} open files", limits.hard);
        finding.costs = fmt::format("no job starts: sennit run needs {} for {}", of_launcher,
                                    counted(ranks_of(system), "rank"));
        finding.mend = open_files_mend(wanted);
        return finding;
    }
    if (wanted > ranks)
        finding.verdict = Verdict::bad;
    else if (wanted == 0 && ranks < kFewRanks)
        finding.verdict = Verdict::note;
    if (finding.verdict == Verdict::good) return finding;
    finding.costs =
        "two ranks take 4 connections in each process for each rail; beyond that calls towards "
        "further ranks of other nodes return SENNIT_ERR_FABRIC";
    finding.mend = open_files_mend(wanted);
    return finding;
}

Finding check_file_size(const System &system) {
    Finding finding("file_size");
    const std::uint64_t bytes = bytes_limit(
        system, "Max file size", "no limit on the size of files (a rank's memory is a file)",
        "a file may have {}", &finding);
    if (bytes == kNoLimit) return finding;
    const bool too_small = bytes < kFileBytes;
    finding.verdict = too_small ? Verdict::bad : Verdict::note;
    finding.costs = too_small ? "no rank starts: its memory is a file of at least 4 MB"
                              : "a rank's memory is a file: segments beyond that return "
                                "SENNIT_ERR_NOMEM";
    finding.mend = "ulimit -f unlimited (fsize in /etc/security/limits.conf)";
    return finding;
}

Finding check_address_space(const System &system) {
    Finding finding("address_space");
    const std::uint64_t bytes =
        bytes_limit(system, "Max address space", "no limit on the address space of a process",
                    "a process may have {} of addresses", &finding);
    if (bytes == kNoLimit) return finding;
    const std::uint64_t needed = kAddressBytes * ranks_of(system);
    finding.figures["needed_bytes"] = needed;
    finding.verdict = bytes < needed ? Verdict::bad : Verdict::note;
    finding.costs =
        bytes < needed
            ? fmt::format(
                  "{} cannot start or do not reach each other: each maps the memory of "
                  "all ranks of its node, at least {}",
                  counted(ranks_of(system), "rank"), bytes_text(static_cast<double>(needed)))
            : "a rank maps the segments of all ranks of its node: beyond that calls return "
              "SENNIT_ERR_NOMEM";
    finding.mend = "ulimit -v unlimited (as in /etc/security/limits.conf)";
    return finding;
}

Finding check_stack(const System &system) {
    Finding finding("stack");
    const std::uint64_t bytes =
        bytes_limit(system, "Max stack size", "no limit on the size of a stack",
                    "a stack may have {}", &finding);
    if (bytes >= kStackBytes) return finding;
    finding.verdict = Verdict::bad;
    finding.costs = fmt::format("ranks may end by SIGSEGV: Sennit needs up to {}",
                                bytes_text(static_cast<double>(kStackBytes)));
    finding.mend = "ulimit -s 8192 (stack in /etc/security/limits.conf)";
    return finding;
}

Finding check_processes(const System &system) {
    Finding finding("processes");
    const Room room = tightest_room(system);
    if (room.allowed == kNoLimit) {
        finding.is = "no limit on processes and threads";
        return finding;
    }
    finding.is = fmt::format("{} of {} processes and threads are left for {}", room.left,
                             room.allowed, room.name);
    finding.figures = {{"allowed", room.allowed}, {"left", room.left}};
    const std::uint64_t ranks = ranks_of(system);
    const std::uint64_t needed = ranks + kLauncherProcesses;
    if (room.left >= needed + ranks * kThreadsOfRank) return finding;
    finding.verdict = room.left < needed ? Verdict::bad : Verdict::note;
    finding.costs = room.left < needed
                        ? fmt::format("{} cannot start: {} processes with sennit run",
                                      counted(ranks, "rank"), needed)
                        : fmt::format(
                              "{} can start, but no threads: two of each rank between nodes, "
                              "and those of the program",
                              counted(ranks, "rank"));
    finding.mend = room.mend;
    return finding;
}

Finding check_threads(const System &system) {
    Finding finding("threads");
    if (!system.figures.thread_error) {
        finding.is = "not tried";
        return finding;
    }
    const int error = *system.figures.thread_error;
    finding.figures = {{"thread_errno", error}};
    if (error == 0) {
        finding.is = "a process may have threads";
        return finding;
    }
    finding.is = fmt::format("a process gets no second thread: {}", std::strerror(error));
    finding.costs =
        "nothing on one node. Between nodes a rank needs one or two threads; many programs need "
        "threads too";
    const bool is_known = check_processes(system).verdict == Verdict::bad;
    finding.verdict = is_known ? Verdict::note : Verdict::bad;
    if (is_known)
        finding.mend = "see processes";
    else if (has_filter(system))
        finding.mend =
            "Docker 20.10.10 or later: the filter of an older one refuses clone3 (or docker run "
            "--security-opt seccomp=unconfined)";
    else
        finding.mend = "a higher limit of processes (ulimit -u; docker run --pids-limit)";
    return finding;
}

}  // namespace sennit::cli
