// The steps of a flow: the state of a rank, and the order of kernels and exchanges in a step.
// Called by run.cpp.
#pragma once

#include "poisson.hpp"
#include "times.hpp"
#include "velocity.hpp"

#include <string>

namespace flow {

// How a step is executed; the result does not depend on it.
struct Manner {
    const Threads &threads;
    std::string transpose;  // a value of --transpose
    bool overlaps = false;  // computes during the exchange of halos
};

class Solver {
  public:
    // `bulk` other than 0: a constant mean velocity. Collective.
    Solver(Exchange &exchange, const Kernels &kernels, const Physics &physics, double bulk,
           const Manner &manner);

    // Before begin() the caller sets the rank's own cells of both. pressure() is the address of the
    // first own cell in an array of the extent layout.pressure().
    Velocity &velocity() { return u_; }
    double *pressure() { return p_; }

    // The gradient that drives the flow; with a constant mean velocity its latest value.
    double gradient() const { return physics_.gradient; }
    void set_gradient(double gradient) { physics_.gradient = gradient; }

    // Fills halos. `is_new`: makes the velocity free of divergence, and the pressure 0.
    void begin(bool is_new);
    void step(double dt, StepTimes &times);

    // Values over all ranks; collective. divergence(): the largest one.
    double divergence();
    double mean_velocity();
    // The difference between the change of momentum since begin() and the momentum that gradient
    // and walls have given, divided by the volume.
    double momentum_error();
    // The mean viscous stress at the walls, divided by the density.
    double wall_stress();
    double chosen_time_step(double cfl);

    double coupled() const { return poisson_.coupled(); }

  private:
    struct Target {
        Velocity &velocity;
        Halo halo;
    };
    void exchange_velocity(const Target &target, StepTimes &times);
    void advance(const Kernels::Stage &stage, const Velocity &in, const Target &target,
                 StepTimes &times);
    void project(double dt, StepTimes &times);
    void correct(double dt, StepTimes &times);
    void keep_bulk(double dt);
    double volume() const;

    Exchange &exchange_;
    const Kernels &kernels_;
    const Layout &layout_;
    Physics physics_;
    double bulk_;
    Manner manner_;
    Velocity u_, u1_;
    apps::Pages p_pages_, phi_pages_;
    double *p_ = nullptr, *phi_ = nullptr;
    Poisson poisson_;
    double momentum_at_begin_ = 0;
    // Sums over the steps since begin(), over the density: the momentum that the gradient gave per
    // volume, and the momentum that the walls took from this rank's cells.
    double driven_ = 0, slowed_ = 0;
};

}  // namespace flow
