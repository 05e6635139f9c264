// The arithmetic of the stencil kernel, a row at a time; every program links this one object. C
// linkage, because the program in Fortran calls it too.
//
// The stencil is the star of the suite: 4 radius + 1 points, whose weights make it a discrete
// divergence. Applied to the field i + j it gives 2 everywhere.
#pragma once

#include <cstddef>

extern "C" {

enum { kStencilMaxRadius = 4 };

// out[i] += the star around cell i, for i in [begin, end). rows[radius] is the row of the cells
// themselves, rows[radius + k] the row k rows further. All are indexed by i, and rows[radius] is
// read from begin - radius to end + radius. radius is 1 to kStencilMaxRadius. `out` overlaps no
// row.
void stencil_add_star(int radius, double *out, const double *const *rows, std::ptrdiff_t begin,
                      std::ptrdiff_t end);

// row[i] += 1, for i in [begin, end): makes every rank need its neighbours' cells again.
void stencil_refresh(double *row, std::ptrdiff_t begin, std::ptrdiff_t end);

// A rank's answer over its active cells, for the check.
typedef struct stencil_sums {
    double norm;       // sum of |out|
    double deviation;  // largest |out - expected|
} stencil_sums;

// Adds the cells [begin, end) of a row to `sums`.
void stencil_measure(const double *out, std::ptrdiff_t begin, std::ptrdiff_t end, double expected,
                     stencil_sums *sums);
}
