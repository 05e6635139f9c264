// SPDX-License-Identifier: BSD-3-Clause
#include "base/reason.hpp"

#include <sys/resource.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/system_file.hpp"

namespace sennit {
namespace {

const char *sentence_of(Reason::Code code) {
    switch (code) {
#define SENNIT_REASON(name, sentence) \
    case Reason::Code::name:          \
        return sentence;
#include "base/reasons.def"
#undef SENNIT_REASON
    }
    return "unknown";
}

}  // namespace

const char *cause_of_refusal(int error, const RefusalPlaces &places) {
    if (error == ENOSYS) return " (a filter of system calls, or a kernel built without them)";
    if (error != EPERM && error != EACCES) return "";
    // A seccomp filter, such as that of a container, may permit these calls. So the other cause is
    // checked too.
    const bool filtered = number_in_file(places.status, "\nSeccomp:", 0) > 0;
    const bool scoped = number_in_file(places.ptrace_scope, "", 0) > 0;
    if (filtered && scoped)
        return " (kernel.yama.ptrace_scope is not 0, and this process has a seccomp filter)";
    if (filtered) return " (this process has a seccomp filter)";
    if (scoped) return " (kernel.yama.ptrace_scope is not 0)";
    return " (other credentials or user namespace, or a process that may not be traced)";
}

void reason_text(const Reason &reason, sennit_path candidate, char *text, std::size_t bytes) {
    using Code = Reason::Code;
    char system[96];
    char detail[160] = "";  // after the sentence
    if (reason.code == Code::no_memory_file || reason.code == Code::map_failed ||
        reason.code == Code::kernel_refused ||
        (reason.code == Code::no_answer && reason.detail != 0))
        (void)std::snprintf(
            detail, sizeof detail, ": %s%s", strerror_r(reason.detail, system, sizeof system),
            reason.code == Code::kernel_refused ? cause_of_refusal(reason.detail) : "");
    rlimit limit{};
    if (reason.code == Code::map_failed && reason.detail == ENOMEM &&
        getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        (void)std::snprintf(detail, sizeof detail, ": %s; RLIMIT_AS (ulimit -v) allows %llu bytes",
                            strerror_r(ENOMEM, system, sizeof system),
                            static_cast<unsigned long long>(limit.rlim_cur));
    if (reason.code == Code::not_built)
        (void)std::snprintf(detail, sizeof detail, " %s", sennit_path_name(candidate));
    if (reason.code == Code::transport_failed)
        (void)std::snprintf(detail, sizeof detail, " %d", static_cast<int>(reason.detail));
    const char *sentence = sentence_of(reason.code);
    if (reason.code == Code::not_allowed && reason.detail != 0)
        sentence = candidate == SENNIT_PATH_SIM
                       ? "for tests: only if SENNIT_PATHS names it"
                       : "only if SENNIT_PATHS or the options of init name it";
    (void)std::snprintf(text, bytes, "%s%s", sentence, detail);
}

}  // namespace sennit

extern "C" const char *sennit_path_name(sennit_path path) {
    static const char *const kNames[] = {"none", "self",   "inproc", "mapped",
                                         "cma",  "fabric", "mpi",    "sim"};
    static_assert(sizeof kNames / sizeof kNames[0] == SENNIT_PATH_END);
    const auto index = static_cast<unsigned>(path);
    return index < SENNIT_PATH_END ? kNames[index] : "unknown";
}
