// Checks of the kernel's permissions between processes.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "finding.hpp"
#include "units.hpp"

namespace sennit::cli {
namespace {

constexpr const char *kCopyCosts =
    "other processes cannot reach registered memory (sennit_register) that cannot be moved, such "
    "as a stack: these calls return SENNIT_ERR_UNSUPPORTED. Memory that Sennit allocates, or that "
    "can be moved (see userfaultfd), is not affected";

constexpr const char *kKillCosts =
    "ranks of several processes are killed when they start, unless SENNIT_PATHS leaves out cma";

constexpr const char *kGuardCosts =
    "in programs with several threads, registered buffers (sennit_register) that do not fill whole "
    "pages are not moved, unless the program passes SENNIT_REGISTER_SHARED_PAGES: other processes "
    "get no pointer to them, and each put and get is a system call";

constexpr const char *kYamaScope = "/proc/sys/kernel/yama/ptrace_scope";

constexpr const char *kGuardForAll = "sudo sysctl -w vm.unprivileged_userfaultfd=1";

// CAP_SYS_PTRACE among the effective capabilities.
bool may_trace(const System &system) {
    const std::string text =
        value_of(read_text(system, "/proc/self/status").value_or(""), "CapEff");
    std::uint64_t capabilities = 0;
    (void)std::from_chars(text.data(), text.data() + text.size(), capabilities, 16);
    constexpr unsigned kSysPtrace = 19;
    return (capabilities >> kSysPtrace & 1) != 0;
}

// The mode of the filter of system calls: 0 if there is none, empty if not known.
std::string filter_mode(const System &system) {
    return value_of(read_text(system, "/proc/self/status").value_or(""), "Seccomp");
}

// The value of ptrace_scope; 0 without Yama.
std::uint64_t yama_scope(const System &system) {
    return read_number(system, kYamaScope).value_or(0);
}

// The part of the kernel that refuses copies between ranks. Only the check of this part returns
// bad.
enum class Refuser { none, yama, filter, other };

Refuser refuser_of_copy(const System &system) {
    if (system.figures.copy_error.value_or(0) == 0) return Refuser::none;
    if (system.figures.copy_kills) return Refuser::filter;
    const std::uint64_t scope = yama_scope(system);
    if (scope > 2 || (scope > 0 && !may_trace(system))) return Refuser::yama;
    return has_filter(system) ? Refuser::filter : Refuser::other;
}

// Describes the guard of adoption, which blocks stores while a page moves into shared memory. The
// caller has checked that this process can block stores.
void describe_guard(const Figures &figures, Finding *finding) {
    finding->figures["guard_errno"] = 0;
    finding->figures["guard_holds_system_calls"] = figures.guard_holds_system_calls;
    finding->is = "stores of other threads can be blocked while a page is moved";
    if (figures.guard_holds_system_calls) return;
    finding->is += ", but not those of system calls";
    finding->verdict = Verdict::note;
    finding->costs =
        "while sennit_register moves the first or last page of a buffer, some microseconds, a "
        "system call of another thread that writes to other data there answers EFAULT";
    finding->mend = kGuardForAll;
}

// Adds whether the kernel copies between two processes, and the time of a copy.
void add_copy(const Figures &figures, Finding *finding) {
    if (!figures.copy_error) return;
    finding->figures["copy_errno"] = *figures.copy_error;
    if (figures.copy_kills) {
        finding->measured = "a process that copies from another is killed";
        return;
    }
    if (*figures.copy_error != 0) {
        finding->measured = fmt::format("copying between two processes is refused: {}",
                                        std::strerror(*figures.copy_error));
        return;
    }
    finding->measured = "copying between two processes works";
    if (!figures.copy_ns) return;
    finding->figures["copy_8_bytes_ns"] = *figures.copy_ns;
    finding->measured += fmt::format(": {} for 8 bytes", time_text(*figures.copy_ns));
}

}  // namespace

bool has_filter(const System &system) {
    const std::string mode = filter_mode(system);
    return !mode.empty() && mode != "0";
}

Finding check_ptrace_scope(const System &system) {
    Finding finding("ptrace_scope");
    add_copy(system.figures, &finding);
    const bool has_yama = read_number(system, kYamaScope).has_value();
    const std::uint64_t scope = yama_scope(system);
    if (scope == 0) {
        finding.is = has_yama ? "0: Yama lets processes of one user copy from each other"
                              : "Yama is not in this kernel: it refuses nothing";
        return finding;
    }
    const char *const meaning[] = {"a process may be read by its parents alone",
                                   "only CAP_SYS_PTRACE may read another process",
                                   "no process may read another until the next boot"};
    finding.is = fmt::format("{}: {}", scope, meaning[scope > 3 ? 2 : scope - 1]);
    if (scope < 3 && may_trace(system)) {
        finding.is += "; this user has CAP_SYS_PTRACE, so it may";
        finding.verdict = Verdict::note;
        finding.costs = "another user without that capability gets no path cma";
    } else {
        finding.verdict = Verdict::bad;
        finding.costs = kCopyCosts;
    }
    finding.mend = scope < 3 ? "sudo sysctl -w kernel.yama.ptrace_scope=0"
                             : "set kernel.yama.ptrace_scope=0 in /etc/sysctl.d and boot again";
    return finding;
}

Finding check_seccomp(const System &system) {
    Finding finding("seccomp");
    const Figures &figures = system.figures;
    const std::string mode = filter_mode(system);
    if (figures.system_call_ns) {
        finding.figures["system_call_ns"] = *figures.system_call_ns;
        finding.measured =
            fmt::format("a system call takes {}", time_text(*figures.system_call_ns));
    }
    if (!has_filter(system)) {
        finding.is = mode.empty() ? "the kernel does not report it" : "no filter of system calls";
        return finding;
    }
    finding.is = "a filter of system calls is active, as in containers";
    const bool tried = figures.copy_error.has_value();
    if (tried) finding.figures["copy_errno"] = *figures.copy_error;
    const Refuser refuser = refuser_of_copy(system);
    if (tried && refuser != Refuser::filter) {
        finding.is += refuser == Refuser::none ? "; it allows copies between processes"
                                               : "; Yama already refuses copies between processes";
        return finding;
    }
    finding.verdict = tried ? Verdict::bad : Verdict::note;
    finding.costs =
        fmt::format("{}{}", tried ? "" : "if it refuses process_vm_readv: ", kCopyCosts);
    finding.mend = "docker run --cap-add=SYS_PTRACE ... (or --security-opt seccomp=unconfined)";
    if (figures.copy_kills) {
        finding.is += "; it kills a process that copies from another (SIGSYS)";
        finding.costs = kKillCosts;
        finding.mend =
            "allow process_vm_readv and process_vm_writev in the filter (systemd: "
            "SystemCallFilter=), or let it refuse them (SystemCallErrorNumber=EPERM)";
    }
    return finding;
}

Finding check_security_module(const System &system) {
    Finding finding("security_module");
    const std::string modules = read_line(system, "/sys/kernel/security/lsm");
    const std::string profile = read_line(system, "/proc/self/attr/current");
    finding.is = modules.empty() ? "the kernel does not report its modules" : modules;
    if (!profile.empty()) finding.is += "; this process runs under " + profile;
    if (refuser_of_copy(system) != Refuser::other) return finding;
    finding.verdict = Verdict::bad;
    add_copy(system.figures, &finding);
    finding.is += "; neither Yama nor a filter of system calls refuses the copies";
    finding.costs = kCopyCosts;
    finding.mend =
        "a profile of AppArmor or a policy of SELinux that lets processes of the job trace each "
        "other (docker run --security-opt apparmor=unconfined, --security-opt label=disable)";
    return finding;
}

Finding check_userfaultfd(const System &system) {
    Finding finding("userfaultfd");
    const Figures &figures = system.figures;
    const bool tried = figures.guard_error.has_value();
    if (tried && *figures.guard_error == 0) {
        describe_guard(figures, &finding);
        return finding;
    }
    const int error = figures.guard_error.value_or(0);
    const bool filtered = has_filter(system);
    // The file exists from Linux 5.2 on. A kernel that cannot protect pages returns EINVAL.
    const bool lacks =
        !is_there(system, "/proc/sys/vm/unprivileged_userfaultfd") || error == EINVAL;
    if (!tried && !filtered && !lacks) {
        finding.is = "in this kernel; not tried";
        return finding;
    }
    finding.is = lacks      ? "missing in this kernel, or older than in Linux 5.7"
                 : filtered ? "behind a filter of system calls; most containers refuse it"
                            : "in this kernel, but not for this user";
    finding.costs = fmt::format("{}{}", tried || lacks ? "" : "if it is refused: ", kGuardCosts);
    finding.verdict = Verdict::note;
    if (tried) {
        finding.figures["guard_errno"] = error;
        finding.measured =
            fmt::format("blocking stores to a page is refused: {}", std::strerror(error));
        // The verdict stays "note", because another check already reports the refused copy as bad.
        if (figures.copy_error.value_or(0) != 0)
            finding.costs += ". Here that system call is refused too: SENNIT_ERR_UNSUPPORTED";
    }
    finding.mend = lacks ? "a kernel of 5.7 or later with CONFIG_USERFAULTFD"
                   : filtered
                       ? "docker run --security-opt seccomp=unconfined ... (or a profile of your "
                         "own that lets userfaultfd through)"
                       : kGuardForAll;
    return finding;
}

Finding check_xpmem(const System &system) {
    Finding finding("xpmem");
    add_copy(system.figures, &finding);
    const bool device = is_there(system, "/dev/xpmem");
    const auto modules = read_text(system, "/proc/modules").value_or("");
    const bool module =
        modules.rfind("xpmem ", 0) == 0 || modules.find("\nxpmem ") != std::string::npos;
    finding.is = device   ? "/dev/xpmem is there"
                 : module ? "the module is loaded, but /dev/xpmem is not there for this process"
                          : "not there";
    finding.is +=
        "; Sennit works without it: registered memory is moved into memory that other ranks map "
        "(adopt); the kernel copies memory that cannot be moved (cma)";
    return finding;
}

}  // namespace sennit::cli
