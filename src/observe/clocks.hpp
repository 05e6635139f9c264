// SPDX-License-Identifier: BSD-3-Clause
// How far apart the clocks of two nodes are, from times taken around exchanges of all ranks.
#pragma once

#include <cstdint>

namespace sennit::runtime {

// One rank's times of one exchange, on its own clock. An exchange ends nowhere before it has begun
// everywhere.
struct ClockSample {
    std::int64_t entered_ns;
    std::int64_t left_ns;
};

struct ClockOffset {
    std::int64_t offset_ns;  // to be added to the other clock to get the first one
    std::int64_t error_ns;   // at most so wrong
};

// From `rounds` samples of a rank on each clock.
ClockOffset clock_offset(const ClockSample *first, const ClockSample *other, int rounds);

}  // namespace sennit::runtime
