// How a program does the iterations: the one thing in which the programs differ. One object a
// program, made by its main() and called by run().
//
// An iteration is: ghosts are there; the star is added; neighbours no longer need the old edges;
// all cells are raised, edges first, so that they are under way while the rest is raised.
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

    // What communicates, in a word for the report.
    virtual const char *backend() const = 0;
    // The values of --way, the default first; none where there is nothing to choose.
    virtual std::vector<std::string> ways() const { return {}; }
    // Before anything else.
    virtual void choose(const std::string & /*way*/) {}
    // How many share the grid by themselves; 1 but for threads.
    virtual int threads() const { return 1; }
    // Memory for `cells` cells that is this object's; collective.
    virtual double *allocate(std::size_t cells) = 0;
    // Once, before the first iteration; collective. The tile's cells have their start values.
    virtual void connect(const Decomposition &, int /*rank*/, Tile &) {}
    // Does so many iterations; collective.
    virtual void iterate(Tile &tile, std::int64_t iterations) = 0;
    // After the last iteration; collective. Nothing is under way afterwards.
    virtual void finish(Tile &) {}
    // Start values of the tile: threads do it where they will work.
    virtual void fill(Tile &tile) { tile.fill({0, tile.shape().y.count()}); }
};

// The ways of programs that can read a neighbour's memory: its rows are copied into the ghosts, or
// the arithmetic reads them where they are.
inline const std::vector<std::string> kRowWays{"copy", "inplace"};

// The iterations of all programs with ranks. `Exchange` has four calls:
//     wait_ghosts(tile)    the neighbours' cells are there, and stay until release_ghosts()
//     release_ghosts()     they were used
//     wait_edges()         what was handed over is no longer needed: edges may be written
//     hand_over()          edges have the values of this iteration
// hand_over() has been called once before the first.
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
