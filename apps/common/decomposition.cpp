#include "decomposition.hpp"

#include "failure.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace apps {
namespace {

constexpr const char *kAxisNames = "xyz";

bool fits(const Triple &cells, const Triple &grid) {
    return grid[0] <= cells[0] && grid[1] <= cells[1] && grid[2] <= cells[2];
}

// The number of cells on one side of all inner boundaries.
std::int64_t inner_sides(const Triple &cells, const Triple &grid) {
    return (grid[0] - 1) * cells[1] * cells[2] + (grid[1] - 1) * cells[0] * cells[2] +
           (grid[2] - 1) * cells[0] * cells[1];
}

bool better(const Triple &cells, const Triple &a, const Triple &b) {
    const std::int64_t sides_a = inner_sides(cells, a), sides_b = inner_sides(cells, b);
    if (sides_a != sides_b) return sides_a < sides_b;
    if (a[2] != b[2]) return a[2] > b[2];
    return a[1] > b[1];
}

}  // namespace

std::string text_of(const Triple &triple) {
    return fmt::format("{} x {} x {}", triple[0], triple[1], triple[2]);
}

Triple choose_ranks_grid(const Triple &cells, std::int64_t ranks) {
    Triple best{};
    for (std::int64_t x = 1; x <= ranks; ++x) {
        if (ranks % x != 0) continue;
        for (std::int64_t y = 1; y <= ranks / x; ++y) {
            if (ranks / x % y != 0) continue;
            const Triple grid{x, y, ranks / x / y};
            if (!fits(cells, grid)) continue;
            if (best[0] == 0 || better(cells, grid, best)) best = grid;
        }
    }
    if (best[0] == 0) {
        throw Failure(
            fmt::format("{} ranks cannot share {} cells: every way to arrange them has more ranks "
                        "than cells in some direction",
                        ranks, text_of(cells)));
    }
    return best;
}

Decomposition::Decomposition(const Triple &cells, const Triple &ranks_grid, int ranks)
    : cells_(cells), grid_(ranks_grid) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (cells[axis] < 1) {
            throw Failure(fmt::format("the size must be positive in every direction, not {}",
                                      text_of(cells)));
        }
        if (grid_[axis] < 1) {
            throw Failure(
                fmt::format("the grid of ranks must be positive in every direction, not "
                            "{}",
                            text_of(grid_)));
        }
        if (grid_[axis] > cells[axis]) {
            throw Failure(fmt::format("{} ranks along {} cannot share {} cells", grid_[axis],
                                      kAxisNames[axis], cells[axis]));
        }
    }
    // A factor above `ranks` is refused before the product is computed, which could overflow.
    if (grid_[0] > ranks || grid_[1] > ranks || grid_[2] > ranks ||
        grid_[0] * grid_[1] * grid_[2] != ranks) {
        throw Failure(fmt::format("a grid of {} ranks was asked for, but there are {} ranks",
                                  text_of(grid_), ranks));
    }
}

Triple Decomposition::place(int rank) const {
    return {rank % grid_[0], rank / grid_[0] % grid_[1], rank / (grid_[0] * grid_[1])};
}

Box Decomposition::box(int rank) const {
    const Triple at = place(rank);
    Box box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::int64_t share = cells_[axis] / grid_[axis], extra = cells_[axis] % grid_[axis];
        box.begin[axis] = at[axis] * share + std::min(at[axis], extra);
        box.cells[axis] = share + (at[axis] < extra ? 1 : 0);
    }
    return box;
}

int Decomposition::neighbour(int rank, Side side) const {
    const auto axis = static_cast<std::size_t>(axis_of(side));
    const bool upper = is_upper(side);
    const std::int64_t at = place(rank)[axis];
    if (upper ? at + 1 == grid_[axis] : at == 0) return -1;
    const std::array<std::int64_t, 3> distance{1, grid_[0], grid_[0] * grid_[1]};
    return static_cast<int>(upper ? rank + distance[axis] : rank - distance[axis]);
}

}  // namespace apps
