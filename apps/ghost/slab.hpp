// A rank's block of cells with a layer of ghost cells around it, and the slabs, one cell thick,
// that neighbours exchange. Owns nothing; every rank computes the same for any rank.
#pragma once

#include "common/decomposition.hpp"

#include <array>
#include <cstddef>

namespace ghost {

// One variable in one field of a rank: own cells 1 to n in each direction, ghost cells at 0 and
// n + 1. Cell (i, j, k) is at i + row() * j + plane() * k.
struct Extent {
    std::size_t nx = 0, ny = 0, nz = 0;
    std::size_t row() const { return nx + 2; }
    std::size_t plane() const { return row() * (ny + 2); }
    std::size_t cells() const { return plane() * (nz + 2); }
    std::size_t own_cells() const { return nx * ny * nz; }
    std::size_t at(std::size_t i, std::size_t j, std::size_t k) const {
        return i + row() * j + plane() * k;
    }
};

Extent extent_of(const apps::Box &box);

// All cells of a rank: two fields of several variables in one run of memory. The distance between
// two variables is a whole number of cache lines and not near a multiple of a page; otherwise the
// same cell of two variables, or of the two fields of one variable, would compete for a cache set.
struct Layout {
    Extent extent;
    std::size_t variables = 0;
    std::size_t distance = 0;  // cells from one variable to the next
    std::size_t cells() const { return 2 * variables * distance; }
    std::size_t at(int field, std::size_t variable) const {
        return (static_cast<std::size_t>(field) * variables + variable) * distance;
    }
};

Layout layout_of(const Extent &extent, std::size_t variables);

// Cell c of row r is at first + c * cell_stride + r * row_stride.
struct Slab {
    std::size_t first = 0;
    std::size_t row_cells = 0, rows = 0;
    std::size_t cell_stride = 1, row_stride = 0;
    std::size_t cells() const { return row_cells * rows; }
    // The cells are contiguous.
    bool is_one_run() const { return cell_stride == 1 && (rows == 1 || row_stride == row_cells); }
};

// Narrow: own cells only. Wide: with the ghost cells of the directions before: x has none, y those
// of x, z those of x and y. Wide slabs, exchanged in the order x, y, z, fill edges and corners too.
enum class Width { narrow, wide };

// The outermost own cells at a side, and the ghost cells beyond it.
Slab inner_slab(const Extent &extent, apps::Side side, Width width);
Slab outer_slab(const Extent &extent, apps::Side side, Width width);

// Copies between a block and a buffer, and between two blocks. `from` and `to` point to cell 0 of
// the block or buffer. Both slabs have the same rows.
void pack(const Slab &slab, const double *from, double *to);
void unpack(const Slab &slab, const double *from, double *to);
void copy(const Slab &source, const double *from, const Slab &target, double *to);

}  // namespace ghost
