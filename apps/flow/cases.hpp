// The initial states of flows, and the flows with a known solution. Owns nothing.
#pragma once

#include "options.hpp"
#include "velocity.hpp"

namespace flow {

class Case {
  public:
    Case(const Options &options, const Grid &grid, const Layout &layout);

    Physics physics() const;
    // Sets the rank's own cells of the velocity at time 0. It need not be free of divergence.
    void fill(Velocity &velocity) const;

    bool is_known() const {
        return options_.problem == "laminar" || options_.problem == "rest" ||
               options_.problem == "vortex";
    }
    // The error of the rank's cells against the known solution: the largest difference, and the sum
    // of volume times its square over all three components. A flow that begins at rest is compared
    // with its final state.
    struct Error {
        double largest = 0, squares = 0;
    };
    Error error(const Velocity &velocity, double time) const;

  private:
    // A place in the channel.
    struct Point {
        double x = 0, y = 0, z = 0;
    };
    Point point_of(Count component, Count i, Count j, Count k) const;
    double laminar(double z) const;
    double known(Count component, const Point &point, double time) const;
    double noise(Count component, Count i, Count j, Count k) const;

    const Options &options_;
    const Grid &grid_;
    const Layout &layout_;
};

}  // namespace flow
