// The owners of cells: a grid of cells cut into boxes, one per rank, by planes through the whole
// grid, and the sides of a box. Owns nothing. Every rank computes the same from the same numbers,
// so nothing is exchanged.
//
// Invariants: the boxes are disjoint and cover the grid; in each direction their lengths differ by
// one cell at most; two boxes that share a side agree in the two other directions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace apps {

// The six sides of a block, in pairs along x, y and z: first the lower, then the upper one.
enum Side : int { west = 0, east = 1, south = 2, north = 3, down = 4, up = 5 };
inline constexpr int kSides = 6;
inline constexpr std::array<Side, kSides> kAllSides{west, east, south, north, down, up};

inline constexpr int axis_of(Side side) {
    return side / 2;
}
inline constexpr bool is_upper(Side side) {
    return side % 2 == 1;
}
inline constexpr Side opposite(Side side) {
    return static_cast<Side>(side ^ 1);
}

// A block's cells lie without gaps: cell (i, j, k) is at i + nx * (j + ny * k).
struct Shape {
    std::size_t nx = 0, ny = 0, nz = 0;
    std::size_t plane() const { return nx * ny; }
    std::size_t cells() const { return nx * ny * nz; }
};

// Along x, y, z.
using Triple = std::array<std::int64_t, 3>;

// The cells from `begin` to before `begin + cells`, in each direction.
struct Box {
    Triple begin{};
    Triple cells{};
    std::int64_t count() const { return cells[0] * cells[1] * cells[2]; }
    Shape shape() const {
        return {static_cast<std::size_t>(cells[0]), static_cast<std::size_t>(cells[1]),
                static_cast<std::size_t>(cells[2])};
    }
};

// "a x b x c", for messages.
std::string text_of(const Triple &triple);

// The grid of `ranks` ranks with the fewest cells on inner sides. Among equals it chooses the grid
// with the most cuts in z, then in y, because layers across z are contiguous. Throws Failure if
// every grid of so many ranks leaves some rank without a cell.
Triple choose_ranks_grid(const Triple &cells, std::int64_t ranks);

class Decomposition {
  public:
    // Throws Failure if a number is not positive, if the grid does not have `ranks` ranks, or if a
    // direction has fewer cells than ranks.
    Decomposition(const Triple &cells, const Triple &ranks_grid, int ranks);

    const Triple &cells() const { return cells_; }
    const Triple &ranks_grid() const { return grid_; }
    int ranks() const { return static_cast<int>(grid_[0] * grid_[1] * grid_[2]); }

    // The box of rank 0 is the longest in every direction.
    Box box(int rank) const;
    // The rank beyond that side, -1 where the grid ends.
    int neighbour(int rank, Side side) const;

  private:
    Triple place(int rank) const;

    Triple cells_;
    Triple grid_;
};

}  // namespace apps
