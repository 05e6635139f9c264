#include "layout.hpp"

#include "common/failure.hpp"

#include <fmt/format.h>

namespace flow {
namespace {

// The cells of one direction at the side of a neighbour: this rank's cells that the neighbour needs
// in its halo, or the halo that the neighbour fills.
Share own_side(int towards, Count cells, Count low, Count high) {
    if (towards < 0) return {0, high};
    if (towards > 0) return {cells - low, low};
    return {0, cells};
}

Share halo_side(int towards, Count cells, Count low, Count high) {
    if (towards < 0) return {-low, low};
    if (towards > 0) return {cells, high};
    return {0, cells};
}

Region region_of(const Extent &extent, Share rows, Share planes) {
    return {extent.at(-extent.margins.x_low, rows.begin, planes.begin), rows.count, planes.count};
}

}  // namespace

std::vector<Box> beside(const Box &box, const Box &part) {
    if (part.is_empty()) return {box};
    const Share &rows = box.rows, &planes = box.planes;
    std::vector<Box> boxes{{rows, {planes.begin, part.planes.begin - planes.begin}},
                           {rows, {part.planes.end(), planes.end() - part.planes.end()}},
                           {{rows.begin, part.rows.begin - rows.begin}, part.planes},
                           {{part.rows.end(), rows.end() - part.rows.end()}, part.planes}};
    std::erase_if(boxes, [](const Box &piece) { return piece.is_empty(); });
    return boxes;
}

Layout::Layout(const Triple &cells, const std::array<std::int64_t, 2> &ranks_grid, int ranks,
               int rank, int order)
    : cells_(cells),
      grid_{ranks_grid[0], ranks_grid[1]},
      place_{rank % ranks_grid[0], rank / ranks_grid[0]},
      order_(order) {
    if (ranks_grid[0] * ranks_grid[1] != ranks) {
        throw apps::Failure(
            fmt::format("a grid of {} x {} ranks is not one of {}", grid_[0], grid_[1], ranks));
    }
    // Differences of fourth order reach three cells for the velocity and two for the pressure.
    const Count wide = order == 4 ? 3 : 1, reach = order / 2;
    const Count y_needed = wide + reach, z_needed = 2;
    if (cells[0] < y_needed || cells[0] < grid_[0] || cells[1] / grid_[0] < y_needed ||
        cells[2] / grid_[1] < z_needed) {
        throw apps::Failure(fmt::format(
            "{} cells are too few for {} x {} ranks: each needs {} in y and {} in z, and all {} "
            "in x",
            apps::text_of(cells), grid_[0], grid_[1], y_needed, z_needed,
            std::max(y_needed, grid_[0])));
    }
    const Count ny = y_share().count, nz = z_share().count;
    velocity_ = {cells[0], ny, nz, {wide, wide, wide, wide, 1, 1}};
    pressure_ = {cells[0], ny, nz, {reach - 1, reach, wide + reach - 1, wide + reach, 1, 2}};
    for (int z = -1; z <= 1; ++z) {
        for (int y = -1; y <= 1; ++y) {
            const Count to_z = place_[1] + z;
            if ((y == 0 && z == 0) || (y != 0 && grid_[0] == 1)) continue;
            if (to_z < 0 || to_z >= grid_[1]) continue;
            neighbours_.push_back({{y, z}, rank_at((place_[0] + y + grid_[0]) % grid_[0], to_z)});
        }
    }
}

Box Layout::inner() const {
    const Count rows = grid_[0] == 1 ? 0 : velocity_.margins.y_low;
    const Count low = at_floor() ? 0 : 1, high = at_ceiling() ? 0 : 1;
    return {{rows, velocity_.ny - 2 * rows}, {low, velocity_.nz - low - high}};
}

// A rank that has all of y fills the halo in y itself, so that halo is also sent to the ranks below
// and above.
Region Layout::sent(const Extent &extent, Direction to) const {
    const Margins &m = extent.margins;
    const Share rows = grid_[0] == 1 ? Share{-m.y_low, extent.rows()}
                                     : own_side(to.y, extent.ny, m.y_low, m.y_high);
    return region_of(extent, rows, own_side(to.z, extent.nz, m.z_low, m.z_high));
}

Region Layout::received(const Extent &extent, Direction from) const {
    const Margins &m = extent.margins;
    const Share rows = grid_[0] == 1 ? Share{-m.y_low, extent.rows()}
                                     : halo_side(from.y, extent.ny, m.y_low, m.y_high);
    return region_of(extent, rows, halo_side(from.z, extent.nz, m.z_low, m.z_high));
}

}  // namespace flow
