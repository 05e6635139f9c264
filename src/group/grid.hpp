// SPDX-License-Identifier: BSD-3-Clause
// The shape of a team that is a grid: arithmetic on coordinates, without communication. The last
// coordinate of consecutive ranks changes fastest.
#pragma once

#include "base/fail.hpp"

namespace sennit::group {

inline constexpr int kMostDimensions = 64;

struct Grid {
    int dimensions;
    int sizes[kMostDimensions];
    bool periodic[kMostDimensions];
};

// Fills the zero entries of `sizes` so that the product of all entries is `ranks`. No filled entry
// is larger than the one before it. The first one is as small as possible, then the second one, and
// so on. Errors: ARG (a negative entry, or no such product).
sennit_status grid_balance(int ranks, int dimensions, int sizes[]);

// The coordinates of a rank of the grid.
void grid_coords(const Grid &grid, int rank, int coords[]);

// The rank at the coordinates; periodic dimensions wrap. False if outside.
bool grid_rank(const Grid &grid, const int coords[], int *rank);

}  // namespace sennit::group
