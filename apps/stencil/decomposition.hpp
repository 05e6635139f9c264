// The shares of the grid that ranks own, and the layout of a rank's part in memory. Every rank
// computes the same, so a rank knows the places of its neighbours' cells.
//
// Ranks form a grid, numbered along x first, as in the suite. A part has `radius` cells around it
// that belong to neighbours (ghosts). The packed columns follow the cells: the cells that an east
// or west neighbour needs, contiguous, row by row.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace stencil {

enum Side { kWest, kEast, kSouth, kNorth };
inline constexpr std::array kAllSides{kWest, kEast, kSouth, kNorth};
inline Side opposite(Side side) {
    return static_cast<Side>(side ^ 1);
}

// The range [begin, end) of cells along an axis.
struct Span {
    std::ptrdiff_t begin = 0, end = 0;
    std::ptrdiff_t count() const { return end - begin; }
};

// Shares differ by at most one; the larger shares come first.
Span share_of(std::ptrdiff_t count, int shares, int index);

// A rank's part. Offsets are in cells from the beginning of its memory. i and j count from the
// part's first cell; ghosts have negative indices or indices beyond the end.
struct Shape {
    Span x, y;
    int radius = 0;

    std::ptrdiff_t pitch() const { return kLine + lines(x.count() + radius); }
    std::ptrdiff_t at(std::ptrdiff_t i, std::ptrdiff_t j) const {
        return (j + radius) * pitch() + kLine + i;
    }
    // The begin of the packed columns. Packed column k of row j is cell j * radius + k.
    std::ptrdiff_t columns_at(Side side) const {
        const std::ptrdiff_t field = (y.count() + 2 * radius) * pitch();
        return field + (side == kEast ? lines(columns()) : 0);
    }
    std::ptrdiff_t columns() const { return y.count() * radius; }
    std::size_t cells() const {
        return static_cast<std::size_t>(columns_at(kEast) + lines(columns()));
    }

    static constexpr std::ptrdiff_t kLine = 8;  // cells of a cache line
    static std::ptrdiff_t lines(std::ptrdiff_t cells) { return (cells + kLine - 1) & -kLine; }
};

class Decomposition {
  public:
    // With grid {0, 0} it chooses the grid: as square as possible, more ranks along y. Throws
    // apps::Failure.
    Decomposition(std::ptrdiff_t size, int radius, int ranks, std::array<int, 2> grid);

    std::ptrdiff_t size() const { return size_; }
    int radius() const { return radius_; }
    std::array<int, 2> grid() const { return grid_; }
    Shape shape(int rank) const;
    int neighbour(int rank, Side side) const;  // -1: none

  private:
    std::ptrdiff_t size_;
    int radius_;
    std::array<int, 2> grid_;
};

}  // namespace stencil
