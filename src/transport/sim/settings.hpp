// SPDX-License-Identifier: BSD-3-Clause
// The settings of the path sim: the text after "sim:" in SENNIT_PATHS or options.paths.
//
//   sim:seed=7+rails=2+order=0+depth=8+delay=20+events=64+max_piece=4096+lockstep=1+kill=2@900
//
// Settings are joined by '+', because ',' joins paths. All ranks must have the same settings. A
// step is one call of progress(), by any rank.
//
//   seed=N         seed of all random choices; default 1
//   rails=N        1 to 8; default 1
//   order=0|1      1: puts of one pair on one rail arrive in order; default 1
//   depth=N        most open operations of a rank per rail; then submit returns `again`; default 64
//   delay=N        scale of the random delays, in steps: a part of the data arrives within about
//                  4 N steps, unless it waits for earlier puts (order=1); default 8
//   events=N       bits of completion data, 0 to 128; default 64
//   eager=N        most bytes of data in an event's task, 0 to 488; default 488
//   max_piece=N    longest piece in bytes; default 65536
//   lockstep=0|1   1: the threads of the ranks run one at a time, chosen by the seed; default 0
//   patience=N     milliseconds that a rank waits for its turn; then lockstep ends; default 60000
//   shaky=N        about one operation in N is lost, except on the last rail: it ends with FABRIC
//                  if it is not complete before, and its rail works on; 0: none; default 0
//   fail_rail=R@S  rail R fails at step S, 1 or later; up to eight times
//   kill=R@S       rank R dies at step S, 1 or later; up to eight times
#pragma once

#include <sennit/error.h>

#include <cstdint>

#include "transport/transport.hpp"

namespace sennit::transport::sim {

inline constexpr unsigned kMostRails = 8;
inline constexpr unsigned kMostStrikes = 8;
inline constexpr std::uint64_t kMostEager = kMostTaskBytes - kEventBytes;

// A failure of a rail or a rank at a step.
struct Strike {
    int victim = -1;
    std::uint64_t step = 0;
};

struct SimSettings {
    std::uint64_t seed = 1;
    std::uint64_t rails = 1;
    std::uint64_t order = 1;
    std::uint64_t depth = 64;
    std::uint64_t delay = 8;
    std::uint64_t events = 64;
    std::uint64_t eager = kMostEager;
    std::uint64_t max_piece = 65536;
    std::uint64_t lockstep = 0;
    std::uint64_t patience = 60000;
    std::uint64_t shaky = 0;
    Strike rail_failures[kMostStrikes];
    Strike kills[kMostStrikes];
};

// Errors: ARG, naming the setting.
sennit_status settings_parse(const char *text, SimSettings *out);

// Does not depend on the order of the settings, except that of several fail_rail or several kill.
std::uint64_t settings_hash(const SimSettings &settings);

// One step of a mixing function: for hashes, and for the random numbers of World.
constexpr std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

}  // namespace sennit::transport::sim
