// The interface between harness.cpp and main.cpp: worlds, and the start and end of tests.
#pragma once

#include "harness.hpp"

namespace conformance {

// In main.cpp: sennit_init of this rank with the bootstrap and paths of the run.
sennit_status start_world(const Ranks &ranks);

// Ends the process with exit code 3 when a test takes longer.
void start_watchdog(std::int64_t limit_ns);
void begin_test(const Test &test, std::uint64_t seed, const std::string &paths);
void end_test();

bool has_failed();
void forget_failure();
void fail_outside_ranks(const std::string &text);

// Resources of the process that the end of a world must release.
struct Held {
    std::vector<std::string> descriptors;  // their targets, sorted
    std::vector<std::string> mappings;     // of memory files
};
Held what_is_held();
// "" if the numbers are equal, otherwise the differences.
std::string changes_of(const Held &before, const Held &after);

}  // namespace conformance
