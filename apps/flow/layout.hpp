// The owners of cells, and the memory layout of arrays with halos. Owns nothing; every rank
// computes the same from the same numbers, so nothing is exchanged.
//
// Ranks form a grid, y fastest. An x-pencil has all of x and a rank's shares of y and z. A y-pencil
// has all of y, the same share of z, and a share of x by the rank's place in y.
#pragma once

#include "common/decomposition.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace flow {

using apps::Triple;
using Count = std::ptrdiff_t;

// A run of cells in one direction.
struct Share {
    Count begin = 0, count = 0;
    Count end() const { return begin + count; }
};

// Shares differ by at most one cell; the longer shares come first.
inline Share share_of(Count cells, Count parts, Count part) {
    const Count each = cells / parts, longer = cells % parts;
    return {part * each + std::min(part, longer), each + (part < longer ? 1 : 0)};
}

// Whole rows of own cells: a range of rows in a range of planes.
struct Box {
    Share rows, planes;
    bool is_empty() const { return rows.count <= 0 || planes.count <= 0; }
};

// The box without a part of it, as a list of boxes.
std::vector<Box> beside(const Box &box, const Box &part);

// How far an array reaches beyond the rank's own cells.
struct Margins {
    Count x_low = 0, x_high = 0, y_low = 0, y_high = 0, z_low = 0, z_high = 0;
};

// An array of the rank's cells with halos, x fastest.
struct Extent {
    Count nx = 0, ny = 0, nz = 0;  // own cells
    Margins margins;

    Count row() const { return nx + margins.x_low + margins.x_high; }
    Count rows() const { return ny + margins.y_low + margins.y_high; }
    Count plane() const { return row() * rows(); }
    Count size() const { return plane() * (nz + margins.z_low + margins.z_high); }
    // The index of cell (i, j, k); negative indices are in the lower halo.
    Count at(Count i, Count j, Count k) const {
        return (i + margins.x_low) + row() * (j + margins.y_low) + plane() * (k + margins.z_low);
    }
};

// The direction to a neighbour in the grid of ranks: -1, 0 or 1 in y and in z.
struct Direction {
    int y = 0, z = 0;
    Direction opposite() const { return {-y, -z}; }
    int number() const { return (y + 1) * 3 + z + 1; }
};

struct Neighbour {
    Direction to;
    int rank = 0;
};

// Whole rows of an array: `rows` rows in each of `planes` planes.
struct Region {
    Count begin = 0;  // place of the first row, counted in numbers
    Count rows = 0, planes = 0;
};

class Layout {
  public:
    // `order` of the differences in x and y is 2 or 4. Throws Failure if the grid does not have
    // `ranks` ranks, or leaves a rank fewer cells than its neighbours' halos need.
    Layout(const Triple &cells, const std::array<std::int64_t, 2> &ranks_grid, int ranks, int rank,
           int order);

    const Triple &cells() const { return cells_; }
    int order() const { return order_; }
    Count ranks_y() const { return grid_[0]; }
    Count ranks_z() const { return grid_[1]; }
    Count place_y() const { return place_[0]; }
    Count place_z() const { return place_[1]; }
    int rank_at(Count y, Count z) const { return static_cast<int>(y + grid_[0] * z); }
    bool at_floor() const { return place_[1] == 0; }
    bool at_ceiling() const { return place_[1] + 1 == grid_[1]; }

    // The share of the rank at a place in y or z; without a place the share of this rank.
    Share x_share(Count place) const { return share_of(cells_[0], grid_[0], place); }
    Share y_share(Count place) const { return share_of(cells_[1], grid_[0], place); }
    Share z_share(Count place) const { return share_of(cells_[2], grid_[1], place); }
    Share x_share() const { return x_share(place_[0]); }
    Share y_share() const { return y_share(place_[0]); }
    Share z_share() const { return z_share(place_[1]); }

    const Extent &velocity() const { return velocity_; }
    const Extent &pressure() const { return pressure_; }

    // own(): this rank's cells. inner(): its cells that read no halo filled by another rank and are
    // in no other rank's velocity halo.
    Box own() const { return {{0, velocity_.ny}, {0, velocity_.nz}}; }
    Box inner() const;

    // Ranks to exchange halos with. If one rank has all of y, it fills the halo in y itself.
    const std::vector<Neighbour> &neighbours() const { return neighbours_; }
    // The region that is sent to a neighbour, and the region that is received from it.
    Region sent(const Extent &extent, Direction to) const;
    Region received(const Extent &extent, Direction from) const;

  private:
    Triple cells_;
    std::array<Count, 2> grid_{}, place_{};
    int order_;
    Extent velocity_, pressure_;
    std::vector<Neighbour> neighbours_;
};

}  // namespace flow
