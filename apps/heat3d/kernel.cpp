// The kernel: a loop over rows, and one expression written once for a single cell and for a pack of
// neighbouring cells. Packs are the compiler's own vectors of 16 bytes, the width that every x86-64
// and AArch64 has. They are needed because the loop keeps a maximum, which compilers vectorise only
// with an option that ignores NaN. Built without contraction to fused multiply-add, so that packs
// and single cells round alike.
#include "kernel.hpp"

#include <cmath>
#include <cstring>

namespace heat3d {
namespace {

using Pack = double __attribute__((vector_size(16)));
constexpr std::size_t kPackCells = sizeof(Pack) / sizeof(double);

template <typename Value>
inline Value load(const double *at) {
    Value value;
    std::memcpy(&value, at, sizeof value);
    return value;
}

template <typename Value>
inline Value larger(Value a, Value b) {
    return a < b ? b : a;
}

inline double magnitude(double v) {
    return std::fabs(v);
}
inline Pack magnitude(Pack v) {
    return larger(v, -v);
}

// The rows around one row of cells, and the cells beyond its two ends.
struct Row {
    std::size_t nx;
    const double *middle, *south, *north, *down, *up;
    double west, east;
};

// The six neighbours of a cell, or of a pack of cells.
template <typename Value>
struct Around {
    Value west, east, south, north, down, up;
};

// The change of a cell's temperature in this step.
template <bool varying, typename Value>
inline Value change(Value t, const Around<Value> &around, const Stencil &s) {
    const double half_slope = 0.5 * s.slope;
    const auto q = [half_slope](Value v) {
        if constexpr (varying) {
            return v + half_slope * v * v;
        } else {
            (void)half_slope;  // clang warns of a capture without a use
            return v;
        }
    };
    const Value twice = 2.0 * q(t);
    return s.x * (q(around.west) + q(around.east) - twice) +
           s.y * (q(around.south) + q(around.north) - twice) +
           s.z * (q(around.down) + q(around.up) - twice);
}

// One time step; keeps the largest change.
template <bool measure, bool varying>
class Stepper {
  public:
    explicit Stepper(const Stencil &stencil) : stencil_(stencil) {}

    void row(const Row &row, double *__restrict to) {
        if (row.nx == 1) {
            end(row, to, 0, row.west, row.east);
            return;
        }
        const std::size_t last = row.nx - 1;
        end(row, to, 0, row.west, row.middle[1]);
        std::size_t i = 1;
        Pack largest = largest_of_packs_;
        for (; i + kPackCells <= last; i += kPackCells) {
            const Pack west_of = load<Pack>(row.middle + i - 1);
            const Pack changes = cells(row, to, i, west_of, load<Pack>(row.middle + i + 1));
            if constexpr (measure) largest = larger(largest, magnitude(changes));
        }
        largest_of_packs_ = largest;
        for (; i < last; ++i)
            end(row, to, i, row.middle[i - 1], row.middle[i + 1]);
        end(row, to, last, row.middle[last - 1], row.east);
    }

    double largest() const {
        double all = largest_;
        for (std::size_t i = 0; i < kPackCells; ++i)
            all = larger(all, largest_of_packs_[i]);
        return all;
    }

  private:
    template <typename Value>
    Value cells(const Row &row, double *__restrict to, std::size_t i, Value west_of,
                Value east_of) const {
        const Around<Value> around{west_of,
                                   east_of,
                                   load<Value>(row.south + i),
                                   load<Value>(row.north + i),
                                   load<Value>(row.down + i),
                                   load<Value>(row.up + i)};
        const Value t = load<Value>(row.middle + i);
        const Value changes = change<varying>(t, around, stencil_);
        const Value result = t + changes;
        std::memcpy(to + i, &result, sizeof result);
        return changes;
    }

    // Computes a cell whose neighbours in x may lie outside its row.
    void end(const Row &row, double *__restrict to, std::size_t i, double west_of, double east_of) {
        const double changes = cells(row, to, i, west_of, east_of);
        if constexpr (measure) largest_ = larger(largest_, magnitude(changes));
    }

    const Stencil stencil_;
    double largest_ = 0.0;
    Pack largest_of_packs_ = {};
};

const double *row_of(const Layer &layer, std::size_t index) {
    return layer.cells + static_cast<std::ptrdiff_t>(index) * layer.row_stride;
}

double end_of(const Layer &layer, std::size_t j, std::size_t k) {
    return row_of(layer, k)[static_cast<std::ptrdiff_t>(j) * layer.cell_stride];
}

template <bool measure, bool varying>
double step_block(const Block &from, const Target &to, const Stencil &stencil) {
    const std::size_t nx = from.shape.nx, ny = from.shape.ny, plane = from.shape.plane();
    Stepper<measure, varying> stepper(stencil);
    for (std::size_t k = 0; k < from.shape.nz; ++k) {
        for (std::size_t j = 0; j < ny; ++j) {
            const std::size_t at = k * plane + j * nx;
            Row row{};
            row.nx = nx;
            row.middle = from.cells + at;
            row.south = j > 0 ? row.middle - nx : row_of(from.around[south], k);
            row.north = j + 1 < ny ? row.middle + nx : row_of(from.around[north], k);
            row.down = k > 0 ? row.middle - plane : row_of(from.around[down], j);
            row.up = k + 1 < from.shape.nz ? row.middle + plane : row_of(from.around[up], j);
            row.west = end_of(from.around[west], j, k);
            row.east = end_of(from.around[east], j, k);
            double *target = to.cells + at;
            stepper.row(row, target);
            if (to.ends[west] != nullptr) to.ends[west][j + ny * k] = target[0];
            if (to.ends[east] != nullptr) to.ends[east][j + ny * k] = target[nx - 1];
        }
    }
    return stepper.largest();
}

}  // namespace

double step(const Block &from, const Target &to, const Stencil &stencil, bool measure) {
    const bool varying = stencil.slope != 0.0;
    if (measure) {
        return varying ? step_block<true, true>(from, to, stencil)
                       : step_block<true, false>(from, to, stencil);
    }
    return varying ? step_block<false, true>(from, to, stencil)
                   : step_block<false, false>(from, to, stencil);
}

}  // namespace heat3d
