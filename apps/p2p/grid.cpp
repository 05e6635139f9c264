#include "grid.hpp"

#include "common/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace p2p {
namespace {

// A relative tolerance, the same as the suite's. Sums of whole numbers below 2^53 are exact.
constexpr double kTolerance = 1e-8;

bool differs(double found, double expected) {
    return !(std::abs(found - expected) <= kTolerance * std::max(1.0, std::abs(expected)));
}

}  // namespace

Share share_of(std::int64_t columns, int ranks, int rank) {
    const std::int64_t computed = columns - 1;
    if (computed < ranks) {
        throw apps::Failure(fmt::format(
            "{} ranks cannot share {} columns: the first is not computed", ranks, columns));
    }
    const std::int64_t least = computed / ranks, more = computed % ranks;
    return {1 + least * rank + std::min<std::int64_t>(rank, more), least + (rank < more ? 1 : 0)};
}

Grid::Grid(Size size, std::int64_t group, Share share)
    : size_(size),
      share_(share),
      cells_(std::make_unique_for_overwrite<double[]>(
          static_cast<std::size_t>(share.columns * size.lines))),
      strip_{share.columns, size.lines, std::min(group, size.lines - 1), cells_.get(), nullptr} {}

void Grid::fill(double *left) {
    strip_.left = left;
    std::fill_n(strip_.cells, strip_.columns * strip_.lines, 0.0);
    for (std::int64_t i = 0; i < strip_.columns; ++i)
        strip_.cells[i] = static_cast<double>(share_.first + i);
    const bool is_first = share_.first == 1;
    for (std::int64_t j = 0; j < strip_.lines; ++j)
        left[j] = is_first ? static_cast<double>(j) : 0.0;
    left[0] = static_cast<double>(share_.first - 1);
}

double Grid::verification_value(std::int64_t sweeps) const {
    return static_cast<double>(sweeps) * static_cast<double>(size_.columns + size_.lines - 2);
}

void Grid::verify(std::int64_t sweeps) const {
    const double corner = -verification_value(sweeps - 1);
    for (std::int64_t j = 1; j < strip_.lines; ++j) {
        for (std::int64_t i = 0; i < strip_.columns; ++i) {
            const double found = strip_.cells[j * strip_.columns + i];
            const double expected = static_cast<double>(share_.first + i + j) - corner;
            if (differs(found, expected)) {
                throw apps::Failure(fmt::format("wrong result: column {} of line {} is {}, not {}",
                                                share_.first + i, j, found, expected));
            }
        }
    }
}

}  // namespace p2p
