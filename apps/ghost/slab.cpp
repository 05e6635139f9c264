#include "slab.hpp"

#include <cstring>

namespace ghost {
namespace {

constexpr std::size_t kLineCells = 16, kPageCells = 512;

Slab slab_at(const Extent &extent, apps::Side side, Width width, std::size_t where) {
    const bool wide = width == Width::wide;
    const std::size_t low = wide ? 0 : 1, more = wide ? 2 : 0;
    switch (apps::axis_of(side)) {
        case 0:
            return {extent.at(where, 1, 1), extent.ny, extent.nz, extent.row(), extent.plane()};
        case 1:
            return {extent.at(low, where, 1), extent.nx + more, extent.nz, 1, extent.plane()};
        default:
            return {extent.at(low, low, where), extent.nx + more, extent.ny + more, 1,
                    extent.row()};
    }
}

std::size_t length_of(const Extent &extent, apps::Side side) {
    const std::array<std::size_t, 3> lengths{extent.nx, extent.ny, extent.nz};
    return lengths[static_cast<std::size_t>(apps::axis_of(side))];
}

// The stride of a packed slab is a compile-time constant, so the compiler copies with wide stores.
template <bool from_packed, bool to_packed>
void copy_cells(const Slab &source, const double *from, const Slab &target, double *to) {
    const std::size_t from_stride = from_packed ? 1 : source.cell_stride;
    const std::size_t to_stride = to_packed ? 1 : target.cell_stride;
    for (std::size_t r = 0; r < source.rows; ++r) {
        const double *__restrict in = from + source.first + r * source.row_stride;
        double *__restrict out = to + target.first + r * target.row_stride;
        for (std::size_t c = 0; c < source.row_cells; ++c)
            out[c * to_stride] = in[c * from_stride];
    }
}

Slab packed(const Slab &slab) {
    return {0, slab.row_cells, slab.rows, 1, slab.row_cells};
}

}  // namespace

Extent extent_of(const apps::Box &box) {
    return {static_cast<std::size_t>(box.cells[0]), static_cast<std::size_t>(box.cells[1]),
            static_cast<std::size_t>(box.cells[2])};
}

Layout layout_of(const Extent &extent, std::size_t variables) {
    std::size_t distance = (extent.cells() + kLineCells - 1) / kLineCells * kLineCells;
    if (distance % kPageCells < 10 * kLineCells) distance += 10 * kLineCells;
    return {extent, variables, distance};
}

Slab inner_slab(const Extent &extent, apps::Side side, Width width) {
    return slab_at(extent, side, width, apps::is_upper(side) ? length_of(extent, side) : 1);
}

Slab outer_slab(const Extent &extent, apps::Side side, Width width) {
    return slab_at(extent, side, width, apps::is_upper(side) ? length_of(extent, side) + 1 : 0);
}

void copy(const Slab &source, const double *from, const Slab &target, double *to) {
    if (source.is_one_run() && target.is_one_run()) {
        std::memcpy(to + target.first, from + source.first, source.cells() * sizeof(double));
        return;
    }
    if (source.cell_stride == 1 && target.cell_stride == 1) {
        for (std::size_t r = 0; r < source.rows; ++r) {
            std::memcpy(to + target.first + r * target.row_stride,
                        from + source.first + r * source.row_stride,
                        source.row_cells * sizeof(double));
        }
    } else if (source.cell_stride == 1) {
        copy_cells<true, false>(source, from, target, to);
    } else if (target.cell_stride == 1) {
        copy_cells<false, true>(source, from, target, to);
    } else {
        copy_cells<false, false>(source, from, target, to);
    }
}

void pack(const Slab &slab, const double *from, double *to) {
    copy(slab, from, packed(slab), to);
}

void unpack(const Slab &slab, const double *from, double *to) {
    copy(packed(slab), from, slab, to);
}

}  // namespace ghost
