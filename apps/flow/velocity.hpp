// The velocity of a rank's cells: its memory, its boundaries, and the kernels that change it. It
// does not communicate: the data of other ranks is in the halo when a kernel needs it.
#pragma once

#include "grid.hpp"
#include "layout.hpp"

#include "common/pages.hpp"

namespace flow {

// u, v and w, one array after another in one allocation.
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

// The forces that drive and slow the flow.
struct Physics {
    double viscosity = 1;
    double gradient = 0;  // drives the flow, along x
    bool slip = false;    // at the walls
};

class Kernels {
  public:
    Kernels(const Grid &grid, const Layout &layout);

    // Kernels compute only the cells of a box, or some planes, so that threads can share a step and
    // an exchange can begin within it.

    // out = old_part out + new_part (in + dt (R(in) + F)), on own cells.
    struct Stage {
        double dt = 0, old_part = 0, new_part = 1;
    };
    void advance(const Physics &physics, const Stage &stage, const Box &box, const Velocity &in,
                 const double *pressure, Velocity &out) const;

    // Writes to `out`, which has own cells without halo: the divergence times `factor`.
    void divergence(const Velocity &velocity, double factor, const Share &planes,
                    double *out) const;
    // velocity -= dt grad phi, on the cells of correctable(): the rank's own cells, and its halo in
    // y and z except beyond walls.
    void correct(Velocity &velocity, const double *phi, double dt, const Box &box) const;
    Box correctable() const;

    // Fills the periodic halo that needs no other rank: x, and y if the rank has all of it.
    // `origin` is at cell (0, 0, 0). wrap_x() fills all rows of the planes. wrap() fills the rows
    // of own cells; if the rank has all of y, also the rows around them, and the box must then have
    // all rows.
    void wrap(const Extent &extent, double *origin, const Box &box) const;
    void wrap_x(const Extent &extent, double *origin, const Share &planes) const;
    void wrap(Velocity &velocity, const Box &box) const;
    void wrap_x(Velocity &velocity, const Share &planes) const;
    // Sets the values beyond and at the walls, if the rank has one.
    void bound(Velocity &velocity, bool slip) const;

    // The largest |u|/dx + |v|/dy + |w|/dz of the rank's own cells.
    double fastest(const Velocity &velocity) const;
    // The largest time step that viscosity alone allows.
    double viscous_limit(double viscosity) const;
    // The sum of area times viscous force over the rank's cells at walls, and the sum of volume
    // times u over all its cells.
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
