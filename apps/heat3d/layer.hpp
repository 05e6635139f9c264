// Layers: the one-cell-thick faces of a block of cells, at any place in memory. Used by the kernel,
// the boundary and both ways of communication; owns nothing.
#pragma once

#include "common/decomposition.hpp"

#include <cstddef>

namespace heat3d {

using apps::Shape;
using apps::Side;
using enum apps::Side;
using apps::axis_of;
using apps::is_upper;
using apps::kAllSides;
using apps::kSides;
using apps::opposite;

// The cells of a layer in rows: rows along x, or along y in a layer across x.
struct LayerShape {
    std::size_t row_cells = 0, rows = 0;
    std::size_t cells() const { return row_cells * rows; }
};

inline constexpr LayerShape layer_shape(const Shape &shape, Side side) {
    if (axis_of(side) == 0) return {shape.ny, shape.nz};
    return {shape.nx, axis_of(side) == 1 ? shape.nz : shape.ny};
}

// Cell c of row r is cells[c * cell_stride + r * row_stride]. A stride of 0 repeats a cell or a
// row. Across x the cell stride is arbitrary, otherwise it is 1.
struct Layer {
    const double *cells = nullptr;
    std::ptrdiff_t cell_stride = 1;
    std::ptrdiff_t row_stride = 0;
};

// The place within a block of the outermost cells at one of its sides, in cells.
struct Place {
    std::size_t offset = 0;
    std::ptrdiff_t cell_stride = 1;
    std::ptrdiff_t row_stride = 0;
};

inline Place inner_place(const Shape &shape, Side side) {
    const auto nx = static_cast<std::ptrdiff_t>(shape.nx);
    const auto plane = static_cast<std::ptrdiff_t>(shape.plane());
    if (axis_of(side) == 0) return {is_upper(side) ? shape.nx - 1 : 0, nx, plane};
    if (axis_of(side) == 1) return {is_upper(side) ? shape.plane() - shape.nx : 0, 1, plane};
    return {is_upper(side) ? shape.cells() - shape.plane() : 0, 1, nx};
}

inline Layer inner_layer(const double *cells, const Shape &shape, Side side) {
    const Place place = inner_place(shape, side);
    return {cells + place.offset, place.cell_stride, place.row_stride};
}

// A layer whose cells are contiguous in a buffer.
inline Layer packed_layer(const double *cells, const LayerShape &shape) {
    return {cells, 1, static_cast<std::ptrdiff_t>(shape.row_cells)};
}

inline bool is_packed(const Layer &layer, const LayerShape &shape) {
    return layer.cell_stride == 1 &&
           layer.row_stride == static_cast<std::ptrdiff_t>(shape.row_cells);
}

// Copies a layer into a buffer, packed.
void copy_layer(const Layer &from, const LayerShape &shape, double *to);

}  // namespace heat3d
