// Too few descriptors are found here, before the exchange: there they would be dropped on their way
// to a rank, and all ranks would be told of it by one that only knows that something is missing.
#include "bootstrap/descriptor_limit.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <cerrno>

#include "base/fail.hpp"

namespace sennit::runtime {
namespace {

// More than a program has open as a rule. With so much room nobody counts.
constexpr rlim_t kRoom = 256;

rlim_t count_free(rlim_t limit) {
    rlim_t free = 0;
    for (rlim_t fd = 0; fd < limit; ++fd)
        if (fcntl(static_cast<int>(fd), F_GETFD) < 0) ++free;
    return free;
}

}  // namespace

sennit_status reserve_descriptors(int needed, int ranks) {
    rlimit limit{};
    // Where the limit can not be read, the exchange finds out.
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return SENNIT_OK;
    const auto wanted = static_cast<rlim_t>(needed);
    if (limit.rlim_cur < wanted + kRoom && limit.rlim_cur < limit.rlim_max) {
        rlimit raised = limit;
        raised.rlim_cur = raised.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
    }
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
