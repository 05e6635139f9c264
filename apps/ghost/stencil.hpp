// The computing: every own cell becomes the mean of itself and its neighbours, of which the chosen
// stencil has 4 to 26. Compiled once; every program links the same object, so that the ways of
// communication differ in nothing else.
//
// Invariants: a cell's new value is one fixed expression of old ones, whatever the block's shape,
// so any decomposition gives the same field to the bit. Beyond the sides of the whole grid there
// are zeros; what a step gives to them is flux_out(), and sum + flux_out stays what it was.
#pragma once

#include "slab.hpp"

#include <array>

namespace ghost {

// Points 5 and 9 lie in the x-y plane, 7 and 27 around the cell.
enum class Stencil { points5 = 5, points7 = 7, points9 = 9, points27 = 27 };

// Whether edges and corners of a block are read, and whether neighbours along z are.
constexpr bool reads_edges(Stencil stencil) {
    return stencil == Stencil::points9 || stencil == Stencil::points27;
}
constexpr bool reads_along_z(Stencil stencil) {
    return stencil == Stencil::points7 || stencil == Stencil::points27;
}

// Where the new cells at the sides across x go as well, packed in the order of their slab; null
// where nobody asks. They lie in a line of the cache each, and the step has them at hand.
struct Ends {
    double *west = nullptr;
    double *east = nullptr;
};

// Rows of cells beyond a side, in the order of its slab. Null: they are in the ghost cells.
struct OuterRows {
    const double *first = nullptr;
    std::size_t stride = 0;  // cells from one row to the next
};

// What lies beyond the sides, where the ghost cells do not hold it: in a neighbour's memory, or in
// a buffer. Across x the cells follow each other.
struct Outer {
    const double *west = nullptr;
    const double *east = nullptr;
    OuterRows south, north, down, up;
};

// From one variable of a field to the same of the other. The ghost cells of `from` are filled, but
// for those that `outer` has: only a stencil that does not read edges can do with those. Across x
// they are put into their place row by row.
void step(Stencil stencil, const Extent &extent, double *from, double *to, const Ends &ends = {},
          const Outer &outer = {});

// Which sides of a block are sides of the whole grid.
using OuterSides = std::array<bool, apps::kSides>;

// The amount that the next step from this field gives to the zeros outside.
double flux_out(Stencil stencil, const Extent &extent, const OuterSides &outer, const double *from);

double sum(const Extent &extent, const double *cells);

}  // namespace ghost
