// Which way a slab takes with Sennit, or in a shared window: read where it lies, or packed by its
// owner first. The table comes from measurements (docs/results/zcom/ghost, the file ways.jsonl); a
// test compares the two.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace ghost {

enum class Way { direct, packed };

// A slab across x, y, z with at least so many cells of a variable is packed.
inline constexpr std::size_t kNever = static_cast<std::size_t>(-1);
inline constexpr std::array<std::size_t, 3> kPackedFromCells{16, kNever, kNever};

constexpr Way better_way(std::size_t axis, std::size_t cells) {
    return cells >= kPackedFromCells[axis] ? Way::packed : Way::direct;
}

// What `mode`, a value of --faces, says of such a slab.
inline Way way_of(const std::string &mode, std::size_t axis, std::size_t cells) {
    if (mode == "chosen") return better_way(axis, cells);
    return mode == "packed" ? Way::packed : Way::direct;
}

constexpr const char *name_of(Way way) {
    return way == Way::packed ? "packed" : "direct";
}

}  // namespace ghost
