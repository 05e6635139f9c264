// The input and the findings of `sennit doctor`. Every check is one function. It reads files below
// System::root, which tests set to their own folder, and the other fields of System. A check prints
// nothing and changes nothing.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "interfaces.hpp"

namespace sennit::cli {

using Json = nlohmann::ordered_json;

// good: nothing to do. note: has a cost in some programs. bad: has a cost in every program of this
// number of ranks, or makes calls fail.
enum class Verdict { good, note, bad };

struct Finding {
    explicit Finding(std::string what) : name(std::move(what)) {}

    std::string name;
    Verdict verdict = Verdict::good;
    std::string is;        // the value on this machine
    std::string costs;     // empty if none
    std::string measured;  // empty if not measured
    std::string mend;      // a command, or advice if no command helps; empty if good
    Json figures;          // values by name; a name ends with its unit, if any; null: none
};

// Measured on this machine. Empty: not measured, or the measurement failed.
struct Figures {
    // Between two processes that are not parent and child, as ranks are.
    std::optional<int> copy_error;  // errno of the kernel's refusal, 0 if it copies
    std::optional<double> copy_ns;  // 8 bytes
    bool copy_kills = false;        // a filter kills the process that copies; copy_error is EPERM
    // errno if this process cannot block stores to a page (userfaultfd), else 0; and whether
    // stores by system calls are blocked, too.
    std::optional<int> guard_error;
    bool guard_holds_system_calls = false;
    std::optional<double> system_call_ns;
    // First touch of one MiB of a memory file, in pages of the usual size, and with huge pages
    // requested.
    std::optional<double> touch_ns_per_mib;
    std::optional<double> touch_huge_ns_per_mib;
    std::optional<int> thread_error;  // errno of the start of a second thread; 0: it started
    // The switch from one thread to another on the same processor, by sched_yield.
    std::optional<double> handover_ns;
    // The time of the same work right after a sleep, and on a busy processor.
    std::optional<double> first_work_ns;
    std::optional<double> later_work_ns;
};

// The network to other nodes.
struct Network {
    std::string libfabric;        // its version, "1.17.0"; "" if not known
    std::string libfabric_error;  // why it cannot be used
    std::vector<Interface> interfaces;
    // By address: errno of a connection to a listening port of the interface; 0: connected.
    std::map<std::string, int> connections;
    std::string progress;  // SENNIT_PROGRESS
    std::string provider;  // the provider that ranks use, and the reason; "": none
    bool is_built_with_libfabric = true;
};

// The result of `sennit run` with two ranks that try to reach each other.
struct Start {
    int exit_code;
    std::string text;  // output of the command and its ranks
    double ns;
};

struct System {
    std::string root;  // prefix of every file name, such as "/proc/meminfo"
    int ranks = 0;     // ranks to start on this machine; 0: unknown
    Figures figures;
    Network network;
    std::optional<Start> start;  // empty: not tried
};

Figures measure();  // probes.cpp; takes about 0.1 s
// probes.cpp: tries each interface for at most a second.
std::map<std::string, int> try_connections(const std::vector<Interface> &interfaces);

// The checks, in the order in which they are shown.
using Check = Finding (*)(const System &system);
const std::vector<Check> &all_checks();

// kernel.cpp
Finding check_ptrace_scope(const System &system);
Finding check_seccomp(const System &system);
Finding check_security_module(const System &system);
Finding check_userfaultfd(const System &system);
Finding check_xpmem(const System &system);
// Whether system calls of this process are filtered.
bool has_filter(const System &system);
// limits.cpp
Finding check_start(const System &system);
Finding check_open_files(const System &system);
Finding check_file_size(const System &system);
Finding check_address_space(const System &system);
Finding check_stack(const System &system);
Finding check_processes(const System &system);
Finding check_threads(const System &system);
Finding check_memlock(const System &system);
// memory.cpp
Finding check_huge_pages(const System &system);
Finding check_shmem_enabled(const System &system);
Finding check_memory_limit(const System &system);
Finding check_numa_balancing(const System &system);
// Bytes that this process may still allocate, by the machine and its control groups. Used by
// `sennit map`.
std::uint64_t free_memory(const System &system);
// processors.cpp
Finding check_cpuset(const System &system);
Finding check_cpu_quota(const System &system);
Finding check_governor(const System &system);
Finding check_autogroup(const System &system);
// network.cpp
Finding check_libfabric(const System &system);
Finding check_interfaces(const System &system);
Finding check_ports(const System &system);
Finding check_congestion(const System &system);
Finding check_progress(const System &system);

// files.cpp: input of the checks.

// The whole text of a file; nothing if it cannot be read.
std::optional<std::string> read_text(const System &system, const std::string &name);
// The first line without blanks around; empty if it cannot be read.
std::string read_line(const System &system, const std::string &name);
// Whether the file exists. It need not be readable, and may be a device.
bool is_there(const System &system, const std::string &name);
// The number at the start of a file. Empty: no file or no number ("max").
std::optional<std::uint64_t> read_number(const System &system, const std::string &name);
// The rest of the line "key: ...", without blanks around; empty if there is no such line.
std::string value_of(const std::string &text, const std::string &key);
// The word in brackets, as in "always [madvise] never"; empty if there is none.
std::string chosen_word(const std::string &text);
// Names in a folder that begin with `prefix` and a digit, sorted.
std::vector<std::string> numbered(const System &system, const std::string &folder,
                                  const std::string &prefix);
// All names in a folder, sorted.
std::vector<std::string> names_in(const System &system, const std::string &folder);
// The number of processors that this process may use; 0: unknown.
std::size_t allowed_processors(const System &system);
// The number of elements of a list such as "0-3,8".
std::size_t count_of_list(const std::string &list);

// A control group: that of this process, or one above it.
struct ControlGroup {
    std::string folder;  // path without System::root
    bool second;         // of version 2
};
// The groups of a controller ("memory", "cpu"), the innermost first. Groups whose folder is not
// visible, as in a container, are left out.
std::vector<ControlGroup> control_groups(const System &system, const std::string &controller);

std::string time_text(double ns);

}  // namespace sennit::cli
