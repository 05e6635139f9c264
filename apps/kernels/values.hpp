// Input numbers of the kernels: the same for the same place on all ranks.
#pragma once

#include "options.hpp"

#include "common/field_hash.hpp"

#include <cstddef>
#include <cstdint>

namespace kernels {

// Uniform in [0, 1).
inline double fraction_at(std::uint64_t seed, std::uint64_t place) {
    return static_cast<double>(apps::mixed(apps::mixed(place + 1) + seed) >> 11) * 0x1p-53;
}

// Uniform in [-1, 1).
inline double value_at(std::uint64_t seed, std::uint64_t place) {
    return 2 * fraction_at(seed, place) - 1;
}

inline std::size_t divided_up(std::size_t count, std::size_t by) {
    return (count + by - 1) / by;
}

// The elements of each rank: the value of --size, or its part of --total, or the paper's number.
inline std::size_t part_of(const Options &options, std::int64_t paper, int ranks) {
    if (options.total > 0)
        return divided_up(static_cast<std::size_t>(options.total), static_cast<std::size_t>(ranks));
    return static_cast<std::size_t>(options.size > 0 ? options.size : paper);
}

}  // namespace kernels
