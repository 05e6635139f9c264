// Between harness.cpp and main.cpp: how worlds are made and tests are bracketed.
#pragma once

#include "harness.hpp"

namespace conformance {

// main.cpp: sennit_init of this rank with the bootstrap and paths of the run.
sennit_status start_world(const Ranks &ranks);

// Ends the process with code 3 when a test takes longer.
void start_watchdog(std::int64_t limit_ns);
void begin_test(const Test &test, std::uint64_t seed, const std::string &paths);
void end_test();

bool has_failed();
void forget_failure();
void fail_outside_ranks(const std::string &text);

// What the process holds that a world must give back.
struct Held {
    std::vector<std::string> descriptors;  // what each leads to, sorted
    std::vector<std::string> mappings;     // of memory files
};
Held what_is_held();
// "" if as much is held, else what has come and gone.
std::string changes_of(const Held &before, const Held &after);

}  // namespace conformance
