// Rows of cells, written so that the compiler vectorizes over cells. The stencils with diagonals
// first add up the rows around each cell, then three neighbouring sums.
#include "stencil.hpp"

#include <vector>

namespace ghost {
namespace {

// A row of own cells in the old field, and the rows around it.
struct Around {
    const double *row, *south, *north, *down, *up;
};

void row_of_5(std::size_t nx, const Around &around, double *__restrict to) {
    const double *c = around.row, *s = around.south, *n = around.north;
    for (std::size_t i = 0; i < nx; ++i)
        to[i] = (c[i] + c[i - 1] + c[i + 1] + s[i] + n[i]) * (1.0 / 5.0);
}

void row_of_7(std::size_t nx, const Around &around, double *__restrict to) {
    const double *c = around.row, *s = around.south, *n = around.north;
    const double *d = around.down, *u = around.up;
    for (std::size_t i = 0; i < nx; ++i)
        to[i] = (c[i] + c[i - 1] + c[i + 1] + s[i] + n[i] + d[i] + u[i]) * (1.0 / 7.0);
}

struct Rows {
    std::size_t nx, row, plane;
};

// columns[i + 1] is the sum over the rows at i, from -1 to nx.
void mean_of_columns(std::size_t nx, double part, const double *__restrict columns,
                     double *__restrict to) {
    for (std::size_t i = 0; i < nx; ++i)
        to[i] = (columns[i] + columns[i + 1] + columns[i + 2]) * part;
}

void columns_of_3(const Rows &rows, const double *__restrict c, double *__restrict columns) {
    const double *s = c - rows.row, *n = c + rows.row;
    for (std::size_t i = 0; i < rows.nx + 2; ++i)
        columns[i] = s[i] + c[i] + n[i];
}

void columns_of_9(const Rows &rows, const double *__restrict c, double *__restrict columns) {
    const double *d = c - rows.plane, *u = c + rows.plane;
    const std::size_t row = rows.row;
    const double *ds = d - row, *dn = d + row, *s = c - row, *n = c + row, *us = u - row,
                 *un = u + row;
    for (std::size_t i = 0; i < rows.nx + 2; ++i) {
        columns[i] = (ds[i] + d[i] + dn[i]) + (s[i] + c[i] + n[i]) + (us[i] + u[i] + un[i]);
    }
}

struct Sides {
    Ends ends;
    Outer outer;
};

const double *row_beyond(const OuterRows &rows, std::size_t index, const double *ghost) {
    return rows.first != nullptr ? rows.first + index * rows.stride : ghost;
}

// Calls compute(the rows around a row in the old field, the row's own cells in the new field) for
// every row. It fills the row's ghost cells before, and stores the row's new ends in `ends` after.
template <typename Compute>
void for_each_row(const Extent &extent, double *from, double *to, Sides sides,
                  const Compute &compute) {
    Ends &ends = sides.ends;
    Outer &outer = sides.outer;
    const std::size_t row = extent.row(), plane = extent.plane();
    for (std::size_t k = 1; k <= extent.nz; ++k) {
        for (std::size_t j = 1; j <= extent.ny; ++j) {
            const std::size_t at = extent.at(1, j, k);
            if (outer.west != nullptr) from[at - 1] = *outer.west++;
            if (outer.east != nullptr) from[at + extent.nx] = *outer.east++;
            const double *c = from + at;
            Around around{c, c - row, c + row, c - plane, c + plane};
            if (j == 1) around.south = row_beyond(outer.south, k - 1, around.south);
            if (j == extent.ny) around.north = row_beyond(outer.north, k - 1, around.north);
            if (k == 1) around.down = row_beyond(outer.down, j - 1, around.down);
            if (k == extent.nz) around.up = row_beyond(outer.up, j - 1, around.up);
            compute(around, to + at);
            if (ends.west != nullptr) *ends.west++ = to[at];
            if (ends.east != nullptr) *ends.east++ = to[at + extent.nx - 1];
        }
    }
}

// The number of points around a cell that lie in the grid; x, y and z are how many of the three
// points along that axis lie in it.
double points_inside(Stencil stencil, int x, int y, int z) {
    switch (stencil) {
        case Stencil::points5:
            return x + y - 1;
        case Stencil::points7:
            return x + y + z - 2;
        case Stencil::points9:
            return x * y;
        case Stencil::points27:
            break;
    }
    return x * y * z;
}

// Eight sums at once: a single sum would wait for each addition.
double sum_of_row(const double *cells, std::size_t count) {
    constexpr std::size_t width = 8;
    std::array<double, width> sums{};
    std::size_t i = 0;
    for (; i + width <= count; i += width) {
        for (std::size_t lane = 0; lane < width; ++lane)
            sums[lane] += cells[i + lane];
    }
    double rest = 0;
    for (; i < count; ++i)
        rest += cells[i];
    for (const double lane : sums)
        rest += lane;
    return rest;
}

int inside_along(std::size_t at, std::size_t length, bool lower_is_outer, bool upper_is_outer) {
    return 3 - (lower_is_outer && at == 1 ? 1 : 0) - (upper_is_outer && at == length ? 1 : 0);
}

// The amount that the cells of a row lose to the outside, times the number of points.
double flux_of_row(Stencil stencil, const double *row, std::size_t nx, const OuterSides &outer,
                   int y, int z) {
    const auto lost = [=](int x) {
        return static_cast<double>(stencil) - points_inside(stencil, x, y, z);
    };
    const double first = row[0] * lost(inside_along(1, nx, outer[apps::west], outer[apps::east]));
    if (nx == 1) return first;
    const double last =
        row[nx - 1] * lost(inside_along(nx, nx, outer[apps::west], outer[apps::east]));
    const double middle = lost(3);
    return first + last + (middle > 0 ? middle * sum_of_row(row + 1, nx - 2) : 0);
}

}  // namespace

void step(Stencil stencil, const Extent &extent, double *from, double *to, const Ends &ends,
          const Outer &outer) {
    const Sides sides{ends, outer};
    const std::size_t nx = extent.nx;
    switch (stencil) {
        case Stencil::points5:
            return for_each_row(extent, from, to, sides,
                                [nx](const Around &around, double *t) { row_of_5(nx, around, t); });
        case Stencil::points7:
            return for_each_row(extent, from, to, sides,
                                [nx](const Around &around, double *t) { row_of_7(nx, around, t); });
        case Stencil::points9:
        case Stencil::points27:
            break;
    }
    const Rows rows{nx, extent.row(), extent.plane()};
    std::vector<double> columns(extent.row());
    const bool flat = stencil == Stencil::points9;
    for_each_row(extent, from, to, sides, [&](const Around &around, double *t) {
        if (flat) {
            columns_of_3(rows, around.row - 1, columns.data());
        } else {
            columns_of_9(rows, around.row - 1, columns.data());
        }
        mean_of_columns(nx, flat ? 1.0 / 9.0 : 1.0 / 27.0, columns.data(), t);
    });
}

double flux_out(Stencil stencil, const Extent &extent, const OuterSides &outer,
                const double *from) {
    double flux = 0;
    for (std::size_t k = 1; k <= extent.nz; ++k) {
        const int z = inside_along(k, extent.nz, outer[apps::down], outer[apps::up]);
        for (std::size_t j = 1; j <= extent.ny; ++j) {
            const int y = inside_along(j, extent.ny, outer[apps::south], outer[apps::north]);
            flux += flux_of_row(stencil, from + extent.at(1, j, k), extent.nx, outer, y, z);
        }
    }
    return flux / static_cast<double>(stencil);
}

double sum(const Extent &extent, const double *cells) {
    double total = 0;
    for (std::size_t k = 1; k <= extent.nz; ++k) {
        double plane = 0;
        for (std::size_t j = 1; j <= extent.ny; ++j)
            plane += sum_of_row(cells + extent.at(1, j, k), extent.nx);
        total += plane;
    }
    return total;
}

}  // namespace ghost
