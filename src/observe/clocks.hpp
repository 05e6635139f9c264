// SPDX-License-Identifier: BSD-3-Clause
// Computes the offset between the clocks of two nodes from the times at which ranks entered and
// left exchanges.
#pragma once

#include <cstdint>

namespace sennit::runtime {

// One rank's times of one exchange, on its own clock. No rank leaves an exchange before all have
// entered it.
struct ClockSample {
    std::int64_t entered_ns;
    std::int64_t left_ns;
};

struct ClockOffset {
    std::int64_t offset_ns;  // add it to the other clock to get the first one
    std::int64_t error_ns;   // bound of the error
};

// `first` and `other` have `rounds` samples each: `first[i]` and `other[i]` are the times of the
// same exchange, of one rank on each clock.
ClockOffset clock_offset(const ClockSample *first, const ClockSample *other, int rounds);

}  // namespace sennit::runtime
