// The grid of the pipeline: the columns of each rank, the initial values and the result.
#pragma once

#include "kernel.h"

#include <cstdint>
#include <memory>

namespace p2p {

// Columns of the grid, first .. first + columns - 1. Column 0 is given and belongs to nobody.
struct Share {
    std::int64_t first, columns;
};

// Shares differ by one column at most. Throws Failure if there are more ranks than columns to be
// computed.
Share share_of(std::int64_t columns, int ranks, int rank);

// A rank's strip, with its own memory for the cells; the left column lies where the ranks'
// communication wants it.
class Grid {
  public:
    struct Size {
        std::int64_t columns, lines;
    };
    Grid(Size size, std::int64_t group, Share share);

    // Sets the initial values: line 0, column 0, and to the left of the other strips line 0.
    void fill(double *left);
    const p2p_strip &strip() const { return strip_; }

    // Throws Failure unless the cells are those of `sweeps` sweeps, each of which has put minus the
    // top right cell in the bottom left corner.
    void verify(std::int64_t sweeps) const;
    // The top right cell then.
    double verification_value(std::int64_t sweeps) const;

  private:
    Size size_;
    Share share_;
    std::unique_ptr<double[]> cells_;
    p2p_strip strip_;
};

}  // namespace p2p
