// How the grid is shared among the ranks, and how a rank's part lies in memory. The same at every
// rank, so that a rank knows where its neighbours have their cells.
//
// Ranks stand in a grid of their own, numbered along x first, as in the suite. A part has `radius`
// cells around it that belong to neighbours (ghosts). Behind the cells lie the packed columns: what
// an east or west neighbour needs, in one run, row by row.
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

// [begin, end) of all cells along an axis.
struct Span {
    std::ptrdiff_t begin = 0, end = 0;
    std::ptrdiff_t count() const { return end - begin; }
};

// Shares differ by one at most; the first ones are the larger.
Span share_of(std::ptrdiff_t count, int shares, int index);

// A rank's part. Offsets are in cells from the beginning of its memory; i and j count from the
// part's first cell, ghosts have negative ones and those beyond the end.
struct Shape {
    Span x, y;
    int radius = 0;

    std::ptrdiff_t pitch() const { return kLine + lines(x.count() + radius); }
    std::ptrdiff_t at(std::ptrdiff_t i, std::ptrdiff_t j) const {
        return (j + radius) * pitch() + kLine + i;
    }
    // Packed column k of row j is cell j * radius + k of it.
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
    // grid {0, 0} chooses it: as square as can be, more ranks along y. Throws apps::Failure.
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
