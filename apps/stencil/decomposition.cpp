#include "decomposition.hpp"

#include "common/failure.hpp"
#include "kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace stencil {
namespace {

// These bounds keep products of sizes within 64 bits.
constexpr std::ptrdiff_t kSizeLimit = 1'000'000;

std::array<int, 2> squarest(int ranks) {
    int along_x = static_cast<int>(std::sqrt(static_cast<double>(ranks)));
    while (ranks % along_x != 0)
        --along_x;
    return {along_x, ranks / along_x};
}

}  // namespace

Span share_of(std::ptrdiff_t count, int shares, int index) {
    const std::ptrdiff_t each = count / shares, more = count % shares;
    const std::ptrdiff_t begin = index * each + std::min<std::ptrdiff_t>(index, more);
    return {begin, begin + each + (index < more ? 1 : 0)};
}

Decomposition::Decomposition(std::ptrdiff_t size, int radius, int ranks, std::array<int, 2> grid)
    : size_(size), radius_(radius), grid_(grid[0] == 0 ? squarest(ranks) : grid) {
    if (radius < 1 || radius > kStencilMaxRadius) {
        throw apps::Failure(
            fmt::format("a radius of {} is not one of 1 to {}", radius, +kStencilMaxRadius));
    }
    if (size < 2 * radius + 1 || size > kSizeLimit) {
        throw apps::Failure(
            fmt::format("with radius {} the size must be at least {} and at most {}, not {}",
                        radius, 2 * radius + 1, kSizeLimit, size));
    }
    if (grid_[0] < 1 || grid_[1] < 1 || grid_[0] > ranks || grid_[0] * grid_[1] != ranks) {
        throw apps::Failure(fmt::format("a grid of {} x {} ranks was asked for, but there are {}",
                                        grid_[0], grid_[1], ranks));
    }
    for (const int along : grid_) {
        if (size / along < radius) {
            throw apps::Failure(
                fmt::format("{} ranks along an axis leave fewer than {} of {} cells to some", along,
                            radius, size));
        }
    }
}

Shape Decomposition::shape(int rank) const {
    const int x = rank % grid_[0], y = rank / grid_[0];
    return {share_of(size_, grid_[0], x), share_of(size_, grid_[1], y), radius_};
}

int Decomposition::neighbour(int rank, Side side) const {
    const int x = rank % grid_[0], y = rank / grid_[0];
    switch (side) {
        case kWest:
            return x > 0 ? rank - 1 : -1;
        case kEast:
            return x + 1 < grid_[0] ? rank + 1 : -1;
        case kSouth:
            return y > 0 ? rank - grid_[0] : -1;
        default:
            return y + 1 < grid_[1] ? rank + grid_[0] : -1;
    }
}

}  // namespace stencil
