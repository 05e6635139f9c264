// The computation: every own cell becomes the mean of itself and its 4 to 26 neighbours in the
// chosen stencil. Compiled once; every program links the same object, so only the communication
// differs.
//
// Invariants: a cell's new value is one fixed expression of old ones, whatever the block's shape,
// so any decomposition gives the same field, bit by bit. Values beyond the sides of the whole grid
// are zeros. A step loses flux_out() to them, and sum + flux_out is constant.
#pragma once

#include "slab.hpp"

#include <array>

namespace ghost {

// Points 5 and 9 are in the x-y plane, 7 and 27 around the cell.
enum class Stencil { points5 = 5, points7 = 7, points9 = 9, points27 = 27 };

// Whether the stencil reads edges and corners of a block, and whether it reads neighbours along z.
constexpr bool reads_edges(Stencil stencil) {
    return stencil == Stencil::points9 || stencil == Stencil::points27;
}
constexpr bool reads_along_z(Stencil stencil) {
    return stencil == Stencil::points7 || stencil == Stencil::points27;
}

// Buffers for the new cells at the sides across x, packed in the order of their slab; null: not
// wanted. In the field each of these cells is in its own cache line, which the step has just
// computed.
struct Ends {
    double *west = nullptr;
    double *east = nullptr;
};

// Rows of cells beyond a side, in the order of its slab. Null: the ghost cells hold them.
struct OuterRows {
    const double *first = nullptr;
    std::size_t stride = 0;  // cells from one row to the next
};

// Cells beyond the sides that are not in the ghost cells: in a neighbour's memory, or in a buffer.
// Across x they are contiguous.
struct Outer {
    const double *west = nullptr;
    const double *east = nullptr;
    OuterRows south, north, down, up;
};

// Computes one variable of a field from the same variable of the other field. The ghost cells of
// `from` must be filled, except those in `outer`, which requires a stencil that does not read
// edges. Across x the step copies the cells of `outer` into the ghost cells row by row.
void step(Stencil stencil, const Extent &extent, double *from, double *to, const Ends &ends = {},
          const Outer &outer = {});

// For each side of a block, whether it is a side of the whole grid.
using OuterSides = std::array<bool, apps::kSides>;

// The amount that the next step from this field loses to the zeros outside.
double flux_out(Stencil stencil, const Extent &extent, const OuterSides &outer, const double *from);

double sum(const Extent &extent, const double *cells);

}  // namespace ghost
