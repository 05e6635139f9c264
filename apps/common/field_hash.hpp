// A hash of a field of numbers that does not depend on which rank owns which cells: the sum, over
// all cells, of a hash of place and value. It compares two fields bit by bit without gathering
// them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace apps {

inline std::uint64_t mixed(std::uint64_t v) {
    v = (v ^ (v >> 31)) * 0x9e3779b97f4a7c15u;
    return v ^ (v >> 29);
}

// The hash of `count` consecutive cells; `first` is the number of the first in the whole grid.
inline std::uint64_t hash_of_row(std::uint64_t first, const double *cells, std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i)
        sum += mixed(std::bit_cast<std::uint64_t>(cells[i]) ^ mixed(first + i + 1));
    return sum;
}

}  // namespace apps
