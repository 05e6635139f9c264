// The velocity of a rank's cells: its memory, its boundaries, and the kernels that change it. Calls
// no other rank: what comes from others is in the halo when a kernel needs it.
#pragma once

#include "grid.hpp"
#include "layout.hpp"

#include "common/pages.hpp"

namespace flow {

// u, v and w, one array behind the other in one piece of memory.
class Velocity {
  public:
    // All zero.
    explicit Velocity(const Extent &extent);

    static constexpr Count kComponents = 3;
    const Extent &extent() const { return extent_; }
    double *memory() { return memory_; }
    // Component 0, 1, 2 at cell (0, 0, 0).
    double *at(Count component) { return origin_ + component * extent_.size(); }
    const double *at(Count component) const { return origin_ + component * extent_.size(); }

  private:
    Extent extent_;
    apps::Pages pages_;
    double *memory_ = nullptr, *origin_ = nullptr;
};

// What drives and slows the flow.
struct Physics {
    double viscosity = 1;
    double gradient = 0;  // that drives it, along x
    bool slip = false;    // at the walls
};

class Kernels {
  public:
    Kernels(const Grid &grid, const Layout &layout);

    // Kernels compute the cells of a box, or some planes, and leave the others alone: threads, and
    // exchanges that begin in between, share a step.

    // out = old_part old + new_part (in + dt (R(in) + F)), on own cells. `old` may be `out`.
    struct Stage {
        double dt = 0, old_part = 0, new_part = 1;
    };
    void advance(const Physics &physics, const Stage &stage, const Box &box, const Velocity &in,
                 const double *pressure, Velocity &out) const;

    // Into `out`, own cells without halo: the divergence times `factor`.
    void divergence(const Velocity &velocity, double factor, const Share &planes,
                    double *out) const;
    // velocity -= dt grad phi, on cells of correctable(): the own ones, and those of the halo as
    // far as there are others' cells.
    void correct(Velocity &velocity, const double *phi, double dt, const Box &box) const;
    Box correctable() const;

    // The periodic halo that is the rank's own affair: x, and y where the rank has all of it.
    // `origin` is at cell (0, 0, 0). wrap_x() fills all rows of the planes; wrap() those of own
    // cells and, where the rank has all of y, the rows around them: the box has all rows then.
    void wrap(const Extent &extent, double *origin, const Box &box) const;
    void wrap_x(const Extent &extent, double *origin, const Share &planes) const;
    void wrap(Velocity &velocity, const Box &box) const;
    void wrap_x(Velocity &velocity, const Share &planes) const;
    // Beyond and at the walls, if the rank has one.
    void bound(Velocity &velocity, bool slip) const;

    // The largest |u|/dx + |v|/dy + |w|/dz of the own cells.
    double fastest(const Velocity &velocity) const;
    // The largest time step for viscosity alone.
    double viscous_limit(double viscosity) const;
    // The sum over the rank's cells at walls of the area times the viscous force on it, and the
    // sum over its cells of the volume times u.
    double friction(const Velocity &velocity, double viscosity) const;
    double momentum(const Velocity &velocity) const;

    const Grid &grid() const { return grid_; }
    const Layout &layout() const { return layout_; }

  private:
    struct Row;
    struct Step;
    Row row_of(Count j, Count k) const;
    template <int Order>
    void advance_row(const Step &step, const Row &row) const;
    template <int Order>
    void advance_upward(const Step &step, const Row &row) const;
    template <int Order>
    void divergence_of(const Velocity &velocity, double factor, const Share &planes,
                       double *out) const;
    template <int Order>
    void correct_by(Velocity &velocity, const double *phi, double dt, const Box &box) const;
    double height(Count k) const { return grid_.height(z_.begin + k); }
    double distance(Count k) const { return grid_.distance(z_.begin + k); }

    const Grid &grid_;
    const Layout &layout_;
    Share z_;
    double per_dx_, per_dy_;
};

}  // namespace flow
