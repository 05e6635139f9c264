// The iterations of a program: the only part in which the programs differ. Each program has one
// object, made by its main() and called by run().
//
// An iteration: the ghosts have arrived; the star is added; neighbours no longer need the old
// edges; all cells are raised, edges first, so that they can be sent while the rest is raised.
#pragma once

#include "tile.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stencil {

class Method {
  public:
    Method() = default;
    virtual ~Method() = default;
    Method(const Method &) = delete;
    Method &operator=(const Method &) = delete;

    // The communication library, in a word for the report.
    virtual const char *backend() const = 0;
    // The values of --way, the default first; empty if there is no choice.
    virtual std::vector<std::string> ways() const { return {}; }
    // Called first.
    virtual void choose(const std::string & /*way*/) {}
    // The number of threads that share the grid; 1 without threads.
    virtual int threads() const { return 1; }
    // Memory for `cells` cells, owned by this object; collective.
    virtual double *allocate(std::size_t cells) = 0;
    // Called once, before the first iteration; collective. The tile's cells have their start
    // values.
    virtual void connect(const Decomposition &, int /*rank*/, Tile &) {}
    // Does that many iterations; collective.
    virtual void iterate(Tile &tile, std::int64_t iterations) = 0;
    // Called after the last iteration; collective. Completes all communication.
    virtual void finish(Tile &) {}
    // Sets the start values of the tile: threads set those that they will use.
    virtual void fill(Tile &tile) { tile.fill({0, tile.shape().y.count()}); }
};

// The ways of programs that can read a neighbour's memory: copy its rows into the ghosts, or let
// the arithmetic read them in place.
inline const std::vector<std::string> kRowWays{"copy", "inplace"};

// The iterations of all programs with ranks. `Exchange` has four calls:
//     wait_ghosts(tile)    the neighbours' cells are there, and stay until release_ghosts()
//     release_ghosts()     they were used
//     wait_edges()         what was handed over is no longer needed: edges may be written
//     hand_over()          edges have the values of this iteration
// Call hand_over() once before the first iteration.
template <typename Exchange>
void iterate_with(Exchange &exchange, Tile &tile, std::int64_t iterations) {
    for (std::int64_t iteration = 0; iteration < iterations; ++iteration) {
        exchange.wait_ghosts(tile);
        tile.apply(tile.south_rows());
        tile.apply(tile.north_rows());
        exchange.release_ghosts();
        tile.apply(tile.inner_rows());
        exchange.wait_edges();
        tile.refresh_edges();
        exchange.hand_over();
        tile.refresh_inner();
    }
}

}  // namespace stencil
