#include "layer.hpp"

#include <cstring>

namespace heat3d {

void copy_layer(const Layer &from, const LayerShape &shape, double *to) {
    if (is_packed(from, shape)) {
        std::memcpy(to, from.cells, shape.cells() * sizeof(double));
        return;
    }
    for (std::size_t r = 0; r < shape.rows; ++r) {
        const double *row = from.cells + static_cast<std::ptrdiff_t>(r) * from.row_stride;
        double *target = to + r * shape.row_cells;
        if (from.cell_stride == 1) {
            std::memcpy(target, row, shape.row_cells * sizeof(double));
            continue;
        }
        for (std::size_t c = 0; c < shape.row_cells; ++c) {
            target[c] = row[static_cast<std::ptrdiff_t>(c) * from.cell_stride];
        }
    }
}

}  // namespace heat3d
