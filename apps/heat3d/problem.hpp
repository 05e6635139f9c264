// The physics of a run: spacing, time step, the conditions at the sides, the initial temperatures,
// and the steady state if it is known. Each rank has one, for its own box.
//
// A cell is a point that carries one temperature. Cell i of n along an axis of length L lies at
// (i + 1) L / (n + 1): the fixed temperatures sit on the planes 0 and L, one spacing outside.
#pragma once

#include "decomposition.hpp"
#include "kernel.hpp"
#include "options.hpp"

#include <array>
#include <functional>
#include <vector>

namespace heat3d {

struct Range {
    double low = 0, high = 0;
};

class Problem {
  public:
    Problem(const Options &options, const Decomposition &decomposition, int rank);

    // The coldest and the warmest temperature of this rank, at the start and at its outer sides.
    Range own_range() const;
    // Chooses or checks the time step. `range` is that of all ranks: no temperature leaves it
    // later. Throws Failure if the time step is not stable or the numbers are out of range for the
    // computation.
    void prepare(const Range &range);

    const Stencil &stencil() const { return stencil_; }
    double time_step() const { return time_step_; }
    const std::array<double, 3> &spacing() const { return spacing_; }

    // The same value everywhere.
    void fill(double *cells) const;
    // The layer beyond an outer side of a block with these cells.
    Layer outer_layer(Side side, const double *cells) const;

    bool steady_state_known() const { return static_cast<bool>(steady_); }
    // The largest difference of a cell from the steady state.
    double largest_error(const double *cells) const;

  private:
    double coordinate(std::size_t axis, std::int64_t index) const;
    double steady_at(const Triple &index) const;
    void choose_steady_state(const Options &options);
    void build_outer_layer(const Options &options, const Triple &all_cells, Side side);

    Box box_;
    Shape shape_;
    std::array<double, 3> length_, spacing_{};
    double diffusivity_, initial_;
    double time_step_;
    Stencil stencil_;
    // q (defined at Stencil) of the steady state; empty if unknown.
    std::function<double(double, double, double)> steady_;
    // The temperatures beyond outer sides: one cell, one row or a whole layer; empty if insulated.
    std::array<std::vector<double>, kSides> outside_;
};

}  // namespace heat3d
