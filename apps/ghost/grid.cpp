#include "grid.hpp"

#include "common/field_hash.hpp"

#include <algorithm>

namespace ghost {
namespace {

// A value between 0 and 1, the same on all ranks.
double noise(std::uint64_t place, std::uint64_t variable) {
    const std::uint64_t bits = apps::mixed(apps::mixed(place + 1) ^ (variable << 48));
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

std::uint64_t place_of(const apps::Triple &cells, std::int64_t i, std::int64_t j, std::int64_t k) {
    return static_cast<std::uint64_t>(i + cells[0] * (j + cells[1] * k));
}

std::vector<std::vector<Link>> phases_of(const Options &options, int rank,
                                         const apps::Decomposition &decomposition) {
    const bool edges = reads_edges(options.stencil);
    const Width width = edges ? Width::wide : Width::narrow;
    const Extent mine = extent_of(decomposition.box(rank));
    std::vector<std::vector<Link>> phases(edges ? 3 : 1);
    for (const apps::Side side : apps::kAllSides) {
        const int axis = apps::axis_of(side);
        const int peer = decomposition.neighbour(rank, side);
        if (peer < 0 || (axis == 2 && !reads_along_z(options.stencil))) continue;
        const Extent theirs = extent_of(decomposition.box(peer));
        phases[edges ? static_cast<std::size_t>(axis) : 0].push_back(
            {side, peer, layout_of(theirs, static_cast<std::size_t>(options.variables)),
             inner_slab(mine, side, width), outer_slab(mine, side, width),
             inner_slab(theirs, apps::opposite(side), width)});
    }
    return phases;
}

}  // namespace

Grid::Grid(const Options &options, int rank, int ranks)
    : decomposition_(grid_cells(options, choose_grid(options, ranks)), choose_grid(options, ranks),
                     ranks),
      box_(decomposition_.box(rank)),
      stencil_(options.stencil),
      lost_(static_cast<std::size_t>(options.variables)) {
    for (const apps::Side side : apps::kAllSides)
        outer_[side] = decomposition_.neighbour(rank, side) < 0;
    domain_.layout = layout_of(extent_of(box_), lost_.size());
    domain_.together = options.method == Method::bspma ? lost_.size() : 1;
    domain_.phases = phases_of(options, rank, decomposition_);
}

void Grid::use(double *cells) {
    domain_.cells = cells;
    std::fill_n(cells, domain_.layout.cells(), 0.0);
    fill(0);
}

void Grid::fill(int field) {
    const Extent &extent = domain_.layout.extent;
    for (std::size_t variable = 0; variable < variables(); ++variable) {
        double *cells = domain_.variable(field, variable);
        for (std::int64_t k = 0; k < box_.cells[2]; ++k) {
            for (std::int64_t j = 0; j < box_.cells[1]; ++j) {
                double *row = cells + extent.at(1, static_cast<std::size_t>(j) + 1,
                                                static_cast<std::size_t>(k) + 1);
                const std::uint64_t place = place_of(decomposition_.cells(), box_.begin[0],
                                                     box_.begin[1] + j, box_.begin[2] + k);
                for (std::size_t i = 0; i < extent.nx; ++i)
                    row[i] = noise(place + i, variable);
            }
        }
    }
}

double Grid::add_source(int field, std::int64_t number) {
    const apps::Triple &all = decomposition_.cells();
    // As much as one hundredth of the cells hold together at the start, on average.
    const double heat = 0.005 * static_cast<double>(all[0]) * static_cast<double>(all[1]) *
                        static_cast<double>(all[2]);
    for (std::size_t variable = 0; variable < variables(); ++variable) {
        std::array<std::size_t, 3> at{};
        bool mine = true;
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const auto seed = static_cast<std::uint64_t>(number) * 3 + axis;
            const auto cells = static_cast<std::uint64_t>(all[axis]);
            const auto global =
                static_cast<std::int64_t>(apps::mixed(seed ^ (variable << 40)) % cells);
            const std::int64_t local = global - box_.begin[axis];
            mine = mine && local >= 0 && local < box_.cells[axis];
            at[axis] = static_cast<std::size_t>(local + 1);
        }
        if (mine)
            domain_.variable(field, variable)[domain_.layout.extent.at(at[0], at[1], at[2])] +=
                heat;
    }
    return heat;
}

void Grid::put_ends(int field, std::size_t variable, const Ends &ends) const {
    const Extent &extent = domain_.layout.extent;
    const double *cells = domain_.variable(field, variable);
    if (ends.west != nullptr) pack(inner_slab(extent, apps::west, Width::narrow), cells, ends.west);
    if (ends.east != nullptr) pack(inner_slab(extent, apps::east, Width::narrow), cells, ends.east);
}

void Grid::step(int field, std::size_t variable, const Ends &ends, const Outer &outer) {
    double *from = domain_.variable(field, variable);
    lost_[variable] += flux_out(stencil_, domain_.layout.extent, outer_, from);
    ghost::step(stencil_, domain_.layout.extent, from, domain_.variable(1 - field, variable), ends,
                outer);
}

std::vector<double> Grid::sums(int field) const {
    std::vector<double> all(lost_);
    for (std::size_t variable = 0; variable < all.size(); ++variable)
        all[variable] += sum(domain_.layout.extent, domain_.variable(field, variable));
    return all;
}

void Grid::spoil(int field) {
    domain_.variable(field, 0)[domain_.layout.extent.at(1, 1, 1)] +=
        static_cast<double>(decomposition_.cells()[0]);
}

std::uint64_t Grid::hash(int field) const {
    const Extent &extent = domain_.layout.extent;
    const apps::Triple &all = decomposition_.cells();
    std::uint64_t total = 0;
    for (std::size_t variable = 0; variable < variables(); ++variable) {
        const double *cells = domain_.variable(field, variable);
        std::uint64_t of_variable = 0;
        for (std::size_t k = 0; k < extent.nz; ++k) {
            for (std::size_t j = 0; j < extent.ny; ++j) {
                const std::uint64_t place =
                    place_of(all, box_.begin[0], box_.begin[1] + static_cast<std::int64_t>(j),
                             box_.begin[2] + static_cast<std::int64_t>(k));
                of_variable +=
                    apps::hash_of_row(place, cells + extent.at(1, j + 1, k + 1), extent.nx);
            }
        }
        // The factors are odd and differ, so the hash sees variables that changed places.
        total += (2 * variable + 1) * of_variable;
    }
    return total;
}

}  // namespace ghost
