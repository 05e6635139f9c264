// SPDX-License-Identifier: BSD-3-Clause
// Teams that are grids. group/grid.cpp has the arithmetic.
#include "group/grid.hpp"

#include <sennit/team.h>

#include <cstdlib>
#include <cstring>

#include "api/call.hpp"
#include "api/ranks.hpp"
#include "base/fail_rank.hpp"

namespace sennit::api {
namespace {

sennit_status check_dimensions(int dimensions, const int dims[]) {
    if (dimensions < 1 || dimensions > group::kMostDimensions)
        return fail(SENNIT_ERR_RANGE, "%d dimensions: allowed are 1 to %d", dimensions,
                    group::kMostDimensions);
    return dims != nullptr ? SENNIT_OK : null_argument("dims");
}

// The number of places if it is at most `limit`, else any number above `limit`.
std::int64_t places_of(const group::Grid &grid, std::int64_t limit) {
    std::int64_t places = 1;
    for (int i = 0; i < grid.dimensions && places <= limit; ++i)
        places *= grid.sizes[i];
    return places;
}

// Sets the grid, the digest and this rank's color in *args.
sennit_status grid_args(const team::Team &parent, int dimensions, const int dims[],
                        const int periodic[], team::CreationArgs *args) {
    sennit_status status = check_dimensions(dimensions, dims);
    if (status != SENNIT_OK) return status;
    args->grid = static_cast<group::Grid *>(std::calloc(1, sizeof(group::Grid)));
    if (args->grid == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for a grid");
    group::Grid &grid = *args->grid;
    grid.dimensions = dimensions;
    bool open = false;
    Digest digest(kGrid);
    digest.add(dimensions);
    for (int i = 0; i < dimensions; ++i) {
        grid.sizes[i] = dims[i];
        grid.periodic[i] = periodic != nullptr && periodic[i] != 0;
        open |= dims[i] == 0;
        digest.add(dims[i]);
        digest.add(grid.periodic[i] ? 1 : 0);
        if (dims[i] < 0)
            return fail(SENNIT_ERR_ARG, "dimension %d has the negative size %d", i, dims[i]);
    }
    args->digest = digest.sum();
    const auto size = static_cast<int>(parent.size);
    if (open) status = group::grid_balance(size, dimensions, grid.sizes);
    if (status != SENNIT_OK) return status;
    const std::int64_t places = places_of(grid, size);
    if (places > size)
        return fail(SENNIT_ERR_RANGE, "the grid has more places than the %d rank%s of the parent",
                    size, plural(static_cast<std::uint64_t>(size)));
    if (parent.rank < places) args->color = 0;
    return SENNIT_OK;
}

// A call on a team that is a grid.
template <class Body>
sennit_status grid_call(const char *name, sennit_team team, Body body) {
    return team_call(name, team, [&](Rank &, const team::Team &found) {
        return found.grid != nullptr ? body(found)
                                     : fail(SENNIT_ERR_ARG, "team %u is no grid", team.handle);
    });
}

// The rank `steps` further in a dimension.
int step(const team::Team &team, int dimension, std::int64_t steps) {
    int coords[group::kMostDimensions];
    group::grid_coords(*team.grid, static_cast<int>(team.rank), coords);
    const int size = team.grid->sizes[dimension];
    std::int64_t at = coords[dimension] + steps;
    if (team.grid->periodic[dimension]) {
        at = (at % size + size) % size;
    } else if (at < 0 || at >= size) {
        return SENNIT_RANK_NONE;
    }
    coords[dimension] = static_cast<int>(at);
    int rank = SENNIT_RANK_NONE;
    (void)group::grid_rank(*team.grid, coords, &rank);
    return rank;
}

}  // namespace
}  // namespace sennit::api

using namespace sennit;
using namespace sennit::api;

extern "C" {

sennit_status sennit_grid_balance(int ranks, int dimensions, int dims[]) {
    const char *const name = __func__;
    const sennit_status status = check_dimensions(dimensions, dims);
    if (status != SENNIT_OK) return fail_in(status, name);
    if (ranks < 1) return fail_in(fail(SENNIT_ERR_RANGE, "%d ranks make no grid", ranks), name);
    int sizes[group::kMostDimensions];
    std::memcpy(sizes, dims, sizeof(int) * static_cast<std::size_t>(dimensions));
    const sennit_status balanced = group::grid_balance(ranks, dimensions, sizes);
    if (balanced != SENNIT_OK) return fail_in(balanced, name);
    std::memcpy(dims, sizes, sizeof(int) * static_cast<std::size_t>(dimensions));
    return SENNIT_OK;
}

sennit_status sennit_team_grid(sennit_team parent, int dimensions, const int dims[],
                               const int periodic[], sennit_team *team) {
    return creation_call(__func__, parent, team,
                         [=](Rank &, team::Team &found, team::CreationArgs *args) {
                             return grid_args(found, dimensions, dims, periodic, args);
                         });
}

sennit_status sennit_team_grid_shape(sennit_team team, int capacity, int *dimensions, int dims[],
                                     int periodic[]) {
    return grid_call(__func__, team, [=](const team::Team &found) {
        const group::Grid &grid = *found.grid;
        if (capacity != 0 && capacity < grid.dimensions)
            return fail(SENNIT_ERR_RANGE, "the grid has %d dimensions; the capacity is %d",
                        grid.dimensions, capacity);
        if (dimensions != nullptr) *dimensions = grid.dimensions;
        for (int i = 0; capacity != 0 && i < grid.dimensions; ++i) {
            if (dims != nullptr) dims[i] = grid.sizes[i];
            if (periodic != nullptr) periodic[i] = grid.periodic[i] ? 1 : 0;
        }
        return SENNIT_OK;
    });
}

sennit_status sennit_team_grid_coords(sennit_team team, int rank, int coords[]) {
    return grid_call(__func__, team, [=](const team::Team &found) {
        if (coords == nullptr) return null_argument("coords");
        if (rank < 0 || rank >= static_cast<int>(found.size)) return fail_no_rank(rank, found.size);
        group::grid_coords(*found.grid, rank, coords);
        return SENNIT_OK;
    });
}

sennit_status sennit_team_grid_rank(sennit_team team, const int coords[], int *rank) {
    return grid_call(__func__, team, [=](const team::Team &found) {
        if (coords == nullptr || rank == nullptr) return null_argument("coords or rank");
        *rank = SENNIT_RANK_NONE;
        (void)group::grid_rank(*found.grid, coords, rank);
        return SENNIT_OK;
    });
}

sennit_status sennit_team_grid_shift(sennit_team team, int dimension, int steps, int *source,
                                     int *destination) {
    return grid_call(__func__, team, [=](const team::Team &found) {
        if (source == nullptr || destination == nullptr)
            return null_argument("source or destination");
        if (dimension < 0 || dimension >= found.grid->dimensions)
            return fail(SENNIT_ERR_RANGE, "dimension %d is outside 0 to %d", dimension,
                        found.grid->dimensions - 1);
        *source = step(found, dimension, -static_cast<std::int64_t>(steps));
        *destination = step(found, dimension, steps);
        return SENNIT_OK;
    });
}

}  // extern "C"
