// SPDX-License-Identifier: BSD-3-Clause
// The shape of a team that is a grid: local arithmetic on coordinates. Ranks go through the grid
// with the last coordinate fastest.
#pragma once

#include "base/fail.hpp"

namespace sennit::group {

inline constexpr int kMostDimensions = 64;

struct Grid {
    int dimensions;
    int sizes[kMostDimensions];
    bool periodic[kMostDimensions];
};

// Fills the entries of `sizes` that are 0 so that the product is `ranks`: the filled ones do not
// rise, their largest is as small as it can be, then the next, and so on. Errors: ARG (a negative
// entry, or no such product).
sennit_status grid_balance(int ranks, int dimensions, int sizes[]);

// The rank's coordinates; `rank` is inside.
void grid_coords(const Grid &grid, int rank, int coords[]);

// The rank at the coordinates; those of periodic dimensions are wrapped. False outside.
bool grid_rank(const Grid &grid, const int coords[], int *rank);

}  // namespace sennit::group
