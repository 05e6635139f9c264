// The sentences of reason.hpp.
#include "base/reason.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/system_file.hpp"

namespace sennit {
const char *cause_of_refusal(int error, const RefusalPlaces &places) {
    if (error == ENOSYS) return " (a filter of system calls, or a kernel built without them)";
    if (error != EPERM && error != EACCES) return "";
    // A filter that lets these calls through, as that of a container may, hides nothing else.
    const bool filtered = number_in_file(places.status, "\nSeccomp:", 0) > 0;
    const bool scoped = number_in_file(places.ptrace_scope, "", 0) > 0;
    if (filtered && scoped)
        return " (kernel.yama.ptrace_scope is not 0, and this process has a seccomp filter)";
    if (filtered) return " (this process has a seccomp filter)";
    if (scoped) return " (kernel.yama.ptrace_scope is not 0)";
    return " (other credentials or user namespace, or a process that may not be traced)";
}

void reason_text(const Reason &reason, sennit_path candidate, char *text, std::size_t bytes) {
    const char *name = sennit_path_name(candidate);
    char system[96];
    switch (reason.code) {
        case Reason::Code::not_tried:
            (void)std::snprintf(text, bytes, "not tried: a better path was taken");
            return;
        case Reason::Code::taken:
            (void)std::snprintf(text, bytes, "taken: the first path that worked both ways");
            return;
        case Reason::Code::not_built:
            (void)std::snprintf(text, bytes, "this build does not have the path %s", name);
            return;
        case Reason::Code::not_allowed:
            (void)std::snprintf(text, bytes, "%s",
                                candidate == SENNIT_PATH_SIM
                                    ? "for tests: only if SENNIT_PATHS names it"
                                    : "left out by SENNIT_PATHS or the options of init");
            return;
        case Reason::Code::is_self:
            (void)std::snprintf(text, bytes, "the peer is the caller itself");
            return;
        case Reason::Code::not_self:
            (void)std::snprintf(text, bytes, "the peer is another rank");
            return;
        case Reason::Code::other_process:
            (void)std::snprintf(text, bytes, "the peer is in another process");
            return;
        case Reason::Code::same_process:
            (void)std::snprintf(text, bytes, "the peer is in the same process");
            return;
        case Reason::Code::other_node:
            (void)std::snprintf(text, bytes,
                                "other node: boot id, network namespace or SENNIT_NODE differ");
            return;
        case Reason::Code::no_memory_file:
            (void)std::snprintf(text, bytes, "the peer's memory file was not received: %s",
                                strerror_r(reason.detail, system, sizeof system));
            return;
        case Reason::Code::map_failed:
            (void)std::snprintf(text, bytes, "mapping the peer's memory failed: %s",
                                strerror_r(reason.detail, system, sizeof system));
            return;
        case Reason::Code::wrong_content:
            (void)std::snprintf(text, bytes, "the mapped memory is not the peer's control block");
            return;
        case Reason::Code::peer_refused:
            (void)std::snprintf(text, bytes, "the peer could not reach this rank by it");
            return;
        case Reason::Code::transport_failed:
            (void)std::snprintf(text, bytes, "the transport refused with code %d",
                                static_cast<int>(reason.detail));
            return;
        case Reason::Code::not_allowed_there:
            (void)std::snprintf(text, bytes, "the peer leaves it out");
            return;
        case Reason::Code::kernel_refused:
            (void)std::snprintf(
                text, bytes, "the kernel refused to copy from process to process: %s%s",
                strerror_r(reason.detail, system, sizeof system), cause_of_refusal(reason.detail));
            return;
        case Reason::Code::same_node:
            (void)std::snprintf(text, bytes,
                                "it leads to other nodes, and the peer is on this one");
            return;
        case Reason::Code::private_memory:
            (void)std::snprintf(text, bytes,
                                "kept for private memory that the peer registers; there it works");
            return;
    }
    (void)std::snprintf(text, bytes, "unknown");
}

}  // namespace sennit

extern "C" const char *sennit_path_name(sennit_path path) {
    static const char *const kNames[] = {"none", "self",   "inproc", "mapped",
                                         "cma",  "fabric", "mpi",    "sim"};
    static_assert(sizeof kNames / sizeof kNames[0] == SENNIT_PATH_END);
    const auto index = static_cast<unsigned>(path);
    return index < SENNIT_PATH_END ? kNames[index] : "unknown";
}
