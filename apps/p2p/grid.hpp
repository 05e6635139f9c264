// The grid of the pipeline: the columns of each rank, the initial values and the result.
#pragma once

#include "kernel.h"

#include <cstdint>
#include <memory>

namespace p2p {

// Columns first .. first + columns - 1 of the grid. Column 0 is given and has no owner.
struct Share {
    std::int64_t first, columns;
};

// Shares differ by at most one column. Throws Failure if there are more ranks than columns to
// compute.
Share share_of(std::int64_t columns, int ranks, int rank);

// A rank's strip, which owns the memory of its cells; the communication decides where the left
// column lies.
class Grid {
  public:
    struct Size {
        std::int64_t columns, lines;
    };
    Grid(Size size, std::int64_t group, Share share);

    // Sets the initial values: line 0 with its left cell, and column 0 if it is the left column.
    void fill(double *left);
    const p2p_strip &strip() const { return strip_; }

    // Throws Failure unless the cells are the result of `sweeps` sweeps, each of which has stored
    // minus the top right cell in the bottom left corner.
    void verify(std::int64_t sweeps) const;
    // The top right cell after these sweeps.
    double verification_value(std::int64_t sweeps) const;

  private:
    Size size_;
    Share share_;
    std::unique_ptr<double[]> cells_;
    p2p_strip strip_;
};

}  // namespace p2p
