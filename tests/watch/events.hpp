// The output of the ranks of these tests for the script that started them: one line for each
// event, with the rank, a number, and the time in seconds of the monotonic clock.
#pragma once

#include <sennit/sennit.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

inline double now_s() {
    timespec t{};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

inline void say(int rank, const char *what, long value) {
    std::printf("rank %d %s %ld at %.6f\n", rank, what, value, now_s());
    std::fflush(stdout);
}

// Ends the rank after an error.
inline void must(sennit_status status, const char *call) {
    if (status == SENNIT_OK) return;
    std::printf("rank %d: %s: %s\n", sennit_rank(), call, sennit_last_error()->text);
    std::fflush(stdout);
    std::_Exit(1);
}
