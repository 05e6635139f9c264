// Grids, compared with coordinates that the test counts itself.
#include <algorithm>

#include "teams.hpp"

using namespace conformance;

namespace {

using Coords = std::vector<int>;

// The places of the grid in order: the last coordinate fastest.
std::vector<Coords> places_of(const std::vector<int> &dims) {
    std::vector<Coords> places{{}};
    for (const int size : dims) {
        std::vector<Coords> longer;
        for (const Coords &place : places) {
            for (int at = 0; at < size; ++at) {
                longer.push_back(place);
                longer.back().push_back(at);
            }
        }
        places = longer;
    }
    return places;
}

int rank_at(const std::vector<Coords> &places, const Coords &coords) {
    const auto found = std::find(places.begin(), places.end(), coords);
    return found == places.end() ? SENNIT_RANK_NONE : static_cast<int>(found - places.begin());
}

struct Shape {
    std::vector<int> dims;
    std::vector<int> periodic;
};

int neighbour(const Shape &shape, const std::vector<Coords> &places, int rank,
              std::size_t dimension, int steps) {
    Coords coords = places[static_cast<std::size_t>(rank)];
    for (int i = 0; i < std::abs(steps); ++i) {
        coords[dimension] += steps > 0 ? 1 : -1;
        if (shape.periodic[dimension] != 0)
            coords[dimension] = (coords[dimension] + shape.dims[dimension]) % shape.dims[dimension];
    }
    return rank_at(places, coords);
}

void check_shape(Ranks &test, sennit_team team, const Shape &shape) {
    int dimensions = 0;
    test.ok(sennit_team_grid_shape(team, 0, &dimensions, nullptr, nullptr));
    test.equal(dimensions, static_cast<int>(shape.dims.size()));
    std::vector<int> dims(shape.dims.size());
    std::vector<int> periodic(shape.dims.size());
    test.ok(sennit_team_grid_shape(team, dimensions, &dimensions, dims.data(), periodic.data()));
    test.require(dims == shape.dims, "the sizes are those asked for");
    test.require(periodic == shape.periodic, "the edges are those asked for");
    // Unwanted outputs are NULL.
    std::vector<int> alone(shape.dims.size(), -7);
    test.ok(sennit_team_grid_shape(team, dimensions, &dimensions, alone.data(), nullptr));
    test.require(alone == shape.dims, "the sizes without the edges");
    test.ok(sennit_team_grid_shape(team, dimensions, &dimensions, nullptr, alone.data()));
    test.require(alone == shape.periodic, "the edges without the sizes");
    test.ok(sennit_team_grid_shape(team, dimensions, nullptr, alone.data(), nullptr));
    test.require(alone == shape.dims, "the sizes without their number");
    if (dimensions > 1)
        test.is(
            sennit_team_grid_shape(team, dimensions - 1, &dimensions, dims.data(), periodic.data()),
            SENNIT_ERR_RANGE);
}

void check_grid(Ranks &test, sennit_team team, const Shape &shape) {
    check_shape(test, team, shape);
    const std::vector<Coords> places = places_of(shape.dims);
    int mine = -1;
    test.ok(sennit_team_rank(team, &mine));
    for (std::size_t rank = 0; rank < places.size(); ++rank) {
        Coords coords(shape.dims.size(), -7);
        test.ok(sennit_team_grid_coords(team, static_cast<int>(rank), coords.data()));
        test.require(coords == places[rank], "coordinates of a rank");
        int found = -7;
        test.ok(sennit_team_grid_rank(team, coords.data(), &found));
        test.equal(found, static_cast<int>(rank));
    }
    for (std::size_t dimension = 0; dimension < shape.dims.size(); ++dimension) {
        for (int steps = -5; steps <= 5; ++steps) {
            int source = -7;
            int destination = -7;
            test.ok(sennit_team_grid_shift(team, static_cast<int>(dimension), steps, &source,
                                           &destination));
            test.equal(destination, neighbour(shape, places, mine, dimension, steps));
            test.equal(source, neighbour(shape, places, mine, dimension, -steps));
            Coords coords = places[static_cast<std::size_t>(mine)];
            coords[dimension] += steps;
            int found = -7;
            test.ok(sennit_team_grid_rank(team, coords.data(), &found));
            test.equal(found, destination);
        }
    }
}

// All ways to write `ranks` as a product of `count` factors in descending order.
void all_shapes(int ranks, std::size_t count, std::vector<int> &so_far,
                std::vector<std::vector<int>> &out) {
    if (count == 0) {
        if (ranks == 1) out.push_back(so_far);
        return;
    }
    for (int size = 1; size <= ranks; ++size) {
        if (ranks % size != 0 || (!so_far.empty() && size > so_far.back())) continue;
        so_far.push_back(size);
        all_shapes(ranks / size, count - 1, so_far, out);
        so_far.pop_back();
    }
}

}  // namespace

// Broken by a shift in the wrong direction, or one that wraps at an open edge.
RANK_TEST(grid, random_grids_agree_with_counting, kAnything) {
    const std::uint64_t grids =
        std::min<std::uint64_t>(test.chosen.most_steps, test.quick ? 10 : 40);
    for (std::uint64_t i = 0; i < grids; ++i) {
        Shape shape;
        int left = test.size;
        for (std::uint64_t d = test.common.between(1, 5); d > 0; --d) {
            shape.dims.push_back(
                static_cast<int>(test.common.between(1, static_cast<std::uint64_t>(left))));
            shape.periodic.push_back(test.common.one_in(2) ? 1 : 0);
            left /= shape.dims.back();
        }
        const std::size_t places = places_of(shape.dims).size();
        sennit_team team{77};
        test.ok(sennit_team_grid(SENNIT_TEAM_WORLD, static_cast<int>(shape.dims.size()),
                                 shape.dims.data(), shape.periodic.data(), &team));
        if (static_cast<std::size_t>(test.rank) >= places) {
            test.equal(team.handle, 0u);
            continue;
        }
        std::vector<int> members(places);
        for (std::size_t rank = 0; rank < places; ++rank)
            members[rank] = static_cast<int>(rank);
        check_team(test, team, members);
        check_grid(test, team, shape);
        test.ok(sennit_team_destroy(team));
    }
}

// Broken by an error text with only -1 for a program that used a neighbour beyond an edge.
RANK_TEST(grid, an_error_names_the_rank_beyond_an_edge, kAnything) {
    const std::uint64_t word = 1;
    int found = -7;
    const auto is_named = [] {
        return std::string(sennit_last_error()->text).find("rank -1 (SENNIT_RANK_NONE)") !=
               std::string::npos;
    };
    test.is(sennit_put(sennit_gptr{SENNIT_RANK_NONE, 7, 0}, &word, sizeof word), SENNIT_ERR_RANGE);
    test.require(is_named(), "a put names the rank");
    test.is(sennit_signal_notify(sennit_signal{SENNIT_RANK_NONE, 7}, 0), SENNIT_ERR_RANGE);
    test.require(is_named(), "a notification names the rank");
    test.is(sennit_team_world_rank(SENNIT_TEAM_WORLD, SENNIT_RANK_NONE, &found), SENNIT_ERR_RANGE);
    test.require(is_named(), "a translation names the rank");
    test.is(sennit_flush(SENNIT_RANK_NONE, SENNIT_FOREVER), SENNIT_ERR_RANGE);
    test.require(is_named(), "a flush names the rank");
}

// Broken by data along a ring or a line that reaches the wrong rank.
RANK_TEST(grid, data_sent_along_a_dimension_arrives_from_the_source, kAnything) {
    const int dims[] = {0, 0};
    const int periodic[] = {1, 0};
    sennit_team team = SENNIT_TEAM_NULL;
    test.ok(sennit_team_grid(SENNIT_TEAM_WORLD, 2, dims, periodic, &team));
    sennit_gptr inbox;
    test.ok(sennit_alloc(team, 16, 0, 0, &inbox));
    for (int dimension = 0; dimension < 2; ++dimension) {
        int source = -7;
        int destination = -7;
        test.ok(sennit_team_grid_shift(team, dimension, 1, &source, &destination));
        const std::uint64_t word = static_cast<std::uint64_t>(test.rank) + 1;
        const std::uint64_t nothing = 0;
        test.ok(sennit_put(inbox, &nothing, sizeof nothing));
        test.ok(sennit_barrier(team, SENNIT_FOREVER));
        if (destination != SENNIT_RANK_NONE) {
            int world_rank = -7;
            test.ok(sennit_team_world_rank(team, destination, &world_rank));
            test.ok(sennit_put(sennit_gptr_at(inbox, world_rank), &word, sizeof word));
        }
        test.ok(sennit_barrier(team, SENNIT_FOREVER));
        std::uint64_t found = 0;
        test.ok(sennit_get(&found, inbox, sizeof found));
        std::uint64_t expected = 0;
        if (source != SENNIT_RANK_NONE) {
            int world_rank = -7;
            test.ok(sennit_team_world_rank(team, source, &world_rank));
            expected = static_cast<std::uint64_t>(world_rank) + 1;
        }
        test.equal(found, expected);
        test.ok(sennit_barrier(team, SENNIT_FOREVER));
    }
    test.ok(sennit_free(inbox));
    test.ok(sennit_team_destroy(team));
}

// Broken by a balance that is not optimal, or loses ranks.
RANK_TEST(grid, a_balanced_grid_has_the_smallest_edges, kOnce) {
    for (int ranks = 1; ranks <= 130; ++ranks) {
        for (std::size_t count = 1; count <= 4; ++count) {
            std::vector<std::vector<int>> shapes;
            std::vector<int> so_far;
            all_shapes(ranks, count, so_far, shapes);
            std::vector<int> dims(count, 0);
            test.ok(sennit_grid_balance(ranks, static_cast<int>(count), dims.data()));
            test.require(dims == *std::min_element(shapes.begin(), shapes.end()),
                         "the least sequence of sizes");
        }
    }
    // Given dimensions stay; impossible ones are refused.
    int dims[] = {0, 3, 0};
    test.ok(sennit_grid_balance(36, 3, dims));
    test.require(dims[0] == 4 && dims[1] == 3 && dims[2] == 3, "the sizes around a given one");
    int odd[] = {0, 5};
    test.is(sennit_grid_balance(36, 2, odd), SENNIT_ERR_ARG);
    test.require(odd[0] == 0 && odd[1] == 5, "nothing is changed");
    int full[] = {6, 5};
    test.is(sennit_grid_balance(36, 2, full), SENNIT_ERR_ARG);
    int most[64] = {};
    test.ok(sennit_grid_balance(720720, 64, most));
    test.require(most[0] == 13 && most[63] == 1, "many dimensions of many ranks");
}

// Broken by a grid with more places than ranks, or a team without a grid that is accepted.
RANK_TEST(grid, impossible_grids_are_refused, kAnything) {
    const int large[] = {test.size + 1};
    const int huge[] = {1 << 30, 1 << 30, 1 << 30};
    const int negative[] = {-1};
    sennit_team team{77};
    test.is(sennit_team_grid(SENNIT_TEAM_WORLD, 1, large, nullptr, &team), SENNIT_ERR_RANGE);
    test.is(sennit_team_grid(SENNIT_TEAM_WORLD, 3, huge, nullptr, &team), SENNIT_ERR_RANGE);
    test.is(sennit_team_grid(SENNIT_TEAM_WORLD, 1, negative, nullptr, &team), SENNIT_ERR_ARG);
    test.is(sennit_team_grid(SENNIT_TEAM_WORLD, 0, large, nullptr, &team), SENNIT_ERR_RANGE);
    test.is(sennit_team_grid(SENNIT_TEAM_WORLD, 65, large, nullptr, &team), SENNIT_ERR_RANGE);
    test.is(sennit_team_grid(SENNIT_TEAM_WORLD, 1, nullptr, nullptr, &team), SENNIT_ERR_ARG);
    test.equal(team.handle, 77u);
    int number = 0x6B;
    test.is(sennit_team_grid_coords(SENNIT_TEAM_WORLD, 0, &number), SENNIT_ERR_ARG);
    test.is(sennit_team_grid_rank(SENNIT_TEAM_WORLD, &number, &number), SENNIT_ERR_ARG);
    test.is(sennit_team_grid_shift(SENNIT_TEAM_WORLD, 0, 1, &number, &number), SENNIT_ERR_ARG);
    test.is(sennit_team_grid_shape(SENNIT_TEAM_WORLD, 0, &number, nullptr, nullptr),
            SENNIT_ERR_ARG);
    test.equal(number, 0x6B);
}
