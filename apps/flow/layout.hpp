// The owners of cells, and the memory layout of arrays with halos. Owns nothing; every rank
// computes the same from the same numbers, so nothing is exchanged.
//
// Ranks form a grid, y fastest. An x-pencil has all of x and a rank's shares of y and z; a y-pencil
// all of y, the same share of z, and the share of x of the rank's place in y.
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

// Shares differ by one cell at most; the first ones are the longer ones.
inline Share share_of(Count cells, Count parts, Count part) {
    const Count each = cells / parts, longer = cells % parts;
    return {part * each + std::min(part, longer), each + (part < longer ? 1 : 0)};
}

// Whole rows of own cells: those of some y in some planes.
struct Box {
    Share rows, planes;
    bool is_empty() const { return rows.count <= 0 || planes.count <= 0; }
};

// The rest of the box without a part of it.
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
    // Of cell (i, j, k); negative indices are in the lower halo.
    Count at(Count i, Count j, Count k) const {
        return (i + margins.x_low) + row() * (j + margins.y_low) + plane() * (k + margins.z_low);
    }
};

// Where a neighbour is in the grid of ranks: -1, 0 or 1 in y and in z.
struct Direction {
    int y = 0, z = 0;
    Direction opposite() const { return {-y, -z}; }
    int number() const { return (y + 1) * 3 + z + 1; }
};

struct Neighbour {
    Direction to;
    int rank = 0;
};

// A run of whole rows in an array: `planes` times `rows` rows.
struct Region {
    Count begin = 0;  // of the first row, in numbers
    Count rows = 0, planes = 0;
};

class Layout {
  public:
    // `order` of the differences in x and y is 2 or 4. Throws Failure if the grid of ranks has
    // another number of ranks, or leaves a rank fewer cells than its neighbours' halos need.
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

    // Of the rank at a place in y or z; without a place: of this rank.
    Share x_share(Count place) const { return share_of(cells_[0], grid_[0], place); }
    Share y_share(Count place) const { return share_of(cells_[1], grid_[0], place); }
    Share z_share(Count place) const { return share_of(cells_[2], grid_[1], place); }
    Share x_share() const { return x_share(place_[0]); }
    Share y_share() const { return y_share(place_[0]); }
    Share z_share() const { return z_share(place_[1]); }

    const Extent &velocity() const { return velocity_; }
    const Extent &pressure() const { return pressure_; }

    // The own cells, and those of them from which no difference reaches a halo that others fill,
    // and which no velocity halo of others has.
    Box own() const { return {{0, velocity_.ny}, {0, velocity_.nz}}; }
    Box inner() const;

    // Ranks to exchange halos with. Where one rank has all of y, it fills that halo itself.
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
