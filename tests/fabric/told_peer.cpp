// See told_peer.hpp.
#include "told_peer.hpp"

#include <sys/syscall.h>
#include <unistd.h>

// The clocks of everything here: they stand, but for a little with each look at them, so that waits
// end.
extern "C" int clock_gettime(clockid_t clock, timespec *out) {
    if (clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME)
        return static_cast<int>(syscall(SYS_clock_gettime, clock, out));
    const std::int64_t now = told::time_ns += 4000;
    out->tv_sec = now / 1'000'000'000;
    out->tv_nsec = now % 1'000'000'000;
    return 0;
}
