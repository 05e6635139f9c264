// SPDX-License-Identifier: BSD-3-Clause
#include "group/grid.hpp"

#include <climits>
#include <cstdint>

namespace sennit::group {
namespace {

// Whether base^exponent is at least `value`.
bool power_reaches(int base, int exponent, int value) {
    std::int64_t power = 1;
    for (int i = 0; i < exponent && power < value; ++i)
        power *= base;
    return power >= value;
}

// Finds `count` factors of `value`. No factor is larger than the one before it, or than `most`.
// Takes the sequence with the smallest first factor, then the smallest second one, and so on.
// False: there is none.
bool factor(int value, int count, int most, int factors[]) {
    if (count == 1) {
        factors[0] = value;
        return value <= most;
    }
    // The others are at most as large, so the first factor to the power of `count` reaches `value`.
    int first = 1;
    while (!power_reaches(first, count, value))
        ++first;
    for (; first <= most && first <= value; ++first) {
        if (value % first != 0) continue;
        factors[0] = first;
        if (factor(value / first, count - 1, first, factors + 1)) return true;
    }
    return false;
}

}  // namespace

sennit_status grid_balance(int ranks, int dimensions, int sizes[]) {
    int free = 0;
    int rest = ranks;
    for (int i = 0; i < dimensions; ++i) {
        if (sizes[i] < 0)
            return fail(SENNIT_ERR_ARG, "dimension %d has the negative size %d", i, sizes[i]);
        if (sizes[i] == 0) {
            ++free;
        } else if (rest % sizes[i] == 0) {
            rest /= sizes[i];
        } else {
            return fail(SENNIT_ERR_ARG, "%d rank%s cannot be laid out with a dimension of size %d",
                        ranks, plural(static_cast<std::uint64_t>(ranks)), sizes[i]);
        }
    }
    int factors[kMostDimensions];
    if (free == 0 && rest != 1)
        return fail(SENNIT_ERR_ARG, "the sizes given do not make up %d ranks", ranks);
    if (free > 0) (void)factor(rest, free, INT_MAX, factors);
    for (int i = 0, next = 0; i < dimensions; ++i)
        if (sizes[i] == 0) sizes[i] = factors[next++];
    return SENNIT_OK;
}

void grid_coords(const Grid &grid, int rank, int coords[]) {
    for (int i = grid.dimensions - 1; i >= 0; --i) {
        coords[i] = rank % grid.sizes[i];
        rank /= grid.sizes[i];
    }
}

bool grid_rank(const Grid &grid, const int coords[], int *rank) {
    int found = 0;
    for (int i = 0; i < grid.dimensions; ++i) {
        int at = coords[i];
        if (grid.periodic[i]) {
            at %= grid.sizes[i];
            if (at < 0) at += grid.sizes[i];
        }
        if (at < 0 || at >= grid.sizes[i]) return false;
        found = found * grid.sizes[i] + at;
    }
    *rank = found;
    return true;
}

}  // namespace sennit::group
