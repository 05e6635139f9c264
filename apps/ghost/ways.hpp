// The way of a slab with Sennit, or in a shared window: read in place (with notified puts: put into
// the peer's ghost cells), or packed by its owner first. The table comes from measurements with
// channels (docs/results/zcom/ghost, the file ways.jsonl). It has the way with the shorter whole
// step, or with the shorter exchange if the steps are alike. A test compares the table with the
// measurements.
#pragma once

#include "halo.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace ghost {

enum class Way { direct, packed };

// A slab across x, y or z is packed if its cells per variable are at least the first number and
// fewer than the second.
struct Packed {
    std::size_t from, below;
};
inline constexpr std::size_t kAny = static_cast<std::size_t>(-1);
inline constexpr std::array<Packed, 3> kPacked{{{1, 16384}, {0, 0}, {1, 17}}};

constexpr Way better_way(std::size_t axis, std::size_t cells) {
    return cells >= kPacked[axis].from && cells < kPacked[axis].below ? Way::packed : Way::direct;
}

// The way that `mode`, a value of --faces, gives to such a slab.
inline Way way_of(const std::string &mode, std::size_t axis, std::size_t cells) {
    if (mode == "chosen") return better_way(axis, cells);
    return mode == "packed" ? Way::packed : Way::direct;
}

constexpr const char *name_of(Way way) {
    return way == Way::packed ? "packed" : "direct";
}

// A slab across x is packed by the step that computes it, so its buffer holds both fields and all
// variables. Any other slab is packed in the exchange, and its buffer holds one message.
constexpr bool is_packed_by_step(Way way, const Link &link) {
    return way == Way::packed && apps::axis_of(link.side) == 0;
}
// If edges are not needed, the neighbour's step reads a slab by rows in place, in the field or in
// the buffer. A direct slab across x has single cells, not rows: it is copied into the ghost cells.
inline bool is_read_by_step(Way way, const Link &link, const Domain &domain) {
    return !domain.is_wide() && (way == Way::packed || apps::axis_of(link.side) != 0);
}
inline std::size_t buffer_cells(Way way, const Link &link, const Domain &domain) {
    const std::size_t variables =
        is_packed_by_step(way, link) ? 2 * domain.layout.variables : domain.together;
    return variables * link.inner.cells();
}
// The offset of a message in the buffer.
inline std::size_t message_at(Way way, const Link &link, const Domain &domain, int field,
                              std::size_t first) {
    if (!is_packed_by_step(way, link)) return 0;
    const std::size_t before = static_cast<std::size_t>(field) * domain.layout.variables + first;
    return before * link.inner.cells();
}

// The place of a variable's rows for a step. `theirs` is the peer's cells, or its buffer.
struct Source {
    const double *theirs;
    int field;
    std::size_t variable;
};
inline OuterRows rows_of(Way way, const Link &link, const Domain &domain, const Source &source) {
    const auto &[theirs, field, variable] = source;
    if (way == Way::direct) {
        return {theirs + link.theirs.at(field, variable) + link.their_inner.first,
                link.their_inner.row_stride};
    }
    const std::size_t index = variable % domain.together;
    const std::size_t message = message_at(way, link, domain, field, variable - index);
    return {theirs + message + index * link.outer.cells(), link.outer.row_cells};
}

}  // namespace ghost
