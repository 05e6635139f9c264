// SPDX-License-Identifier: BSD-3-Clause
// Why a path to a peer was taken or not: a code and a detail for each peer and path. reason_text()
// makes a sentence of them.
#pragma once

#include <sennit/info.h>

#include <cstddef>
#include <cstdint>

namespace sennit {

struct Reason {
    enum class Code : std::uint8_t {
#define SENNIT_REASON(name, sentence) name,
#include "base/reasons.def"
#undef SENNIT_REASON
    };
    Code code = Code::not_tried;
    std::uint8_t detail = 0;  // often an errno: see reasons.def

    static Reason of(Code code, int error) {
        return {code, static_cast<std::uint8_t>(error <= UINT8_MAX ? error : 0)};
    }
};
static_assert(sizeof(Reason) == 2, "each rank has one for each path to each other rank");

// The files in which the kernel shows why a process may not copy from another one. Tests use their
// own folders.
struct RefusalPlaces {
    const char *status = "/proc/self/status";
    const char *ptrace_scope = "/proc/sys/kernel/yama/ptrace_scope";
};

// The probable cause of a refusal with this errno, in parentheses, or "". It is the end of the
// sentence for kernel_refused.
const char *cause_of_refusal(int error, const RefusalPlaces &places = {});

// Writes one sentence, cut to `bytes` and always terminated.
void reason_text(const Reason &reason, sennit_path candidate, char *text, std::size_t bytes);

}  // namespace sennit
