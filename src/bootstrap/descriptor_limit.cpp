// SPDX-License-Identifier: BSD-3-Clause
// A lack of descriptors is found here, before the exchange. During the exchange the kernel would
// drop descriptors on their way to a rank, and that rank could only say that something is missing.
#include "bootstrap/descriptor_limit.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fail.hpp"

namespace sennit::runtime {
namespace {

// More descriptors than a program usually has open. If the limit is above the need by this number,
// the free descriptors are not counted.
constexpr rlim_t kRoom = 256;

rlim_t count_free(rlim_t limit) {
    rlim_t free = 0;
    for (rlim_t fd = 0; fd < limit; ++fd)
        if (fcntl(static_cast<int>(fd), F_GETFD) < 0) ++free;
    return free;
}

// False: the limit cannot be read.
bool raise_limit(rlim_t wanted, rlimit *limit) {
    if (getrlimit(RLIMIT_NOFILE, limit) != 0) return false;
    if (limit->rlim_cur >= wanted + kRoom || limit->rlim_cur >= limit->rlim_max) return true;
    rlimit raised = *limit;
    raised.rlim_cur = raised.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) *limit = raised;
    return true;
}

}  // namespace

void raise_descriptor_limit(std::uint64_t needed) {
    rlimit limit{};
    (void)raise_limit(needed, &limit);
}

bool lacks_descriptors(std::uint64_t *limit) {
    constexpr rlim_t kSpare = 32;
    rlimit most{};
    if (getrlimit(RLIMIT_NOFILE, &most) != 0) return false;
    *limit = most.rlim_cur;
    const int lowest = eventfd(0, EFD_CLOEXEC);
    if (lowest < 0) return errno == EMFILE;
    (void)close(lowest);
    return static_cast<rlim_t>(lowest) + std::min(kSpare, most.rlim_cur / 8) >= most.rlim_cur;
}

sennit_status reserve_descriptors(int needed, int ranks) {
    rlimit limit{};
    const auto wanted = static_cast<rlim_t>(needed);
    // If the limit cannot be read, the exchange finds the lack.
    if (!raise_limit(wanted, &limit)) return SENNIT_OK;
    if (limit.rlim_cur >= wanted + kRoom) return SENNIT_OK;
    const rlim_t free = count_free(limit.rlim_cur);
    if (free >= wanted) return SENNIT_OK;
    const rlim_t enough = limit.rlim_cur - free + wanted;
    return fail_os(SENNIT_ERR_OS, EMFILE,
                   "%d ranks on one node need %lu open files in this process; its limit "
                   "(ulimit -n) is %lu",
                   ranks, static_cast<unsigned long>(enough),
                   static_cast<unsigned long>(limit.rlim_cur));
}

}  // namespace sennit::runtime
