// Checks for programs of single ranks: if one fails, the reason goes to stderr and the exit status
// is 1. For tests that start such programs under `sennit run` and read both.
#pragma once

#include <sennit/sennit.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace sennit::test {

[[noreturn]] inline void fail(const std::string &text) {
    const sennit_error *error = sennit_last_error();
    std::fprintf(stderr, "rank %d: %s (last error: %s from %s about %d: %s)\n", sennit_rank(),
                 text.c_str(), sennit_status_string(error->status), error->operation, error->peer,
                 error->text);
    std::exit(1);
}

inline void expect(sennit_status found, sennit_status wanted, const char *what) {
    if (found != wanted)
        fail(std::string(what) + " gave " + sennit_status_string(found) + " and not " +
             sennit_status_string(wanted));
}

inline void require(bool is_true, const std::string &text) {
    if (!is_true) fail(text);
}

inline void sleep_ms(int milliseconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

}  // namespace sennit::test
