// SPDX-License-Identifier: BSD-3-Clause
#include "observe/clocks.hpp"

#include <algorithm>

namespace sennit::runtime {

// In each round each of the two ranks entered before the other left. That gives two bounds of the
// offset: entered_other + offset <= left_first, and entered_first <= left_other + offset.
ClockOffset clock_offset(const ClockSample *first, const ClockSample *other, int rounds) {
    std::int64_t least = INT64_MIN;
    std::int64_t most = INT64_MAX;
    for (int i = 0; i < rounds; ++i) {
        most = std::min(most, first[i].left_ns - other[i].entered_ns);
        least = std::max(least, first[i].entered_ns - other[i].left_ns);
    }
    if (most < least) std::swap(most, least);  // a clock was changed meanwhile
    return {least + (most - least) / 2, (most - least + 1) / 2};
}

}  // namespace sennit::runtime
