// Lets the kernel refuse system calls from now on, like an old kernel or the filter of a
// container: for ranks of tests.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace sennit::test {

// The calls with these numbers (__NR_*) fail with `error`, an errno, in this process and in all
// programs that it starts or executes. Ends the process as skipped where filters are not
// available.
inline void refuse_system_calls(std::initializer_list<std::uint32_t> calls, std::uint32_t error) {
    constexpr int kSkipped = 77;
    std::vector<sock_filter> program{{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)}};
    // Each comparison that matches jumps over the later ones to the refusal; if the last one does
    // not match, it jumps over the refusal.
    auto behind = static_cast<std::uint8_t>(calls.size());
    for (const std::uint32_t call : calls) {
        --behind;
        const std::uint8_t otherwise = behind == 0 ? 1 : 0;
        program.push_back({BPF_JMP | BPF_JEQ | BPF_K, behind, otherwise, call});
    }
    program.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | error});
    program.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW});
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        std::perror("left out: no seccomp filter here");
        std::exit(kSkipped);
    }
}

}  // namespace sennit::test
