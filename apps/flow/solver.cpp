// A step. README.md defines the exchanges A, B and P.
#include "solver.hpp"

#include <algorithm>
#include <cmath>

namespace flow {

Solver::Solver(Exchange &exchange, const Kernels &kernels, const Physics &physics, double bulk,
               const Manner &manner)
    : exchange_(exchange),
      kernels_(kernels),
      layout_(kernels.layout()),
      physics_(physics),
      bulk_(bulk),
      manner_(manner),
      u_(layout_.velocity()),
      u1_(layout_.velocity()),
      poisson_(exchange, manner.threads, kernels.grid(), layout_, manner.transpose) {
    const Extent &extent = layout_.pressure();
    const auto numbers = static_cast<std::size_t>(extent.size());
    double *const p = p_pages_.take(numbers), *const phi = phi_pages_.take(numbers);
    std::fill_n(p, numbers, 0.0);
    std::fill_n(phi, numbers, 0.0);
    p_ = p + extent.at(0, 0, 0);
    phi_ = phi + extent.at(0, 0, 0);
    if (bulk_ != 0) physics_.gradient = 0;
    exchange_.open_halo(Halo::first, {u1_.memory(), u1_.extent(), Velocity::kComponents});
    exchange_.open_halo(Halo::second, {u_.memory(), u_.extent(), Velocity::kComponents});
    exchange_.open_halo(Halo::pressure, {phi, extent, 1});
}

// Exchange A or B, after the rank has filled the halo cells that it fills itself.
void Solver::exchange_velocity(const Target &target, StepTimes &times) {
    kernels_.wrap(target.velocity, layout_.own());
    times.passed(Part::velocity_compute);
    exchange_.start_halo(target.halo);
    exchange_.finish_halo(target.halo);
    times.passed(Part::velocity_halo);
}

// A stage and its exchange. Only the cells outside the inner ones read the halo of `in`, and only
// those are sent. So even if inner cells are computed during the exchange, its start still implies
// that the halo of `in` was read.
void Solver::advance(const Kernels::Stage &stage, const Velocity &in, const Target &target,
                     StepTimes &times) {
    const auto compute = [&](const Box &box) {
        manner_.threads.share(box, [&](const Box &part) {
            kernels_.advance(physics_, stage, part, in, p_, target.velocity);
        });
        manner_.threads.share(box.planes.count, [&](const Share &some) {
            const Share planes{box.planes.begin + some.begin, some.count};
            kernels_.wrap(target.velocity, {box.rows, planes});
        });
    };
    const Box inner = manner_.overlaps ? layout_.inner() : Box{};
    for (const Box &box : beside(layout_.own(), inner))
        compute(box);
    times.passed(Part::velocity_compute);
    exchange_.start_halo(target.halo);
    times.passed(Part::velocity_halo);
    if (!inner.is_empty()) compute(inner);
    times.passed(Part::velocity_compute);
    exchange_.finish_halo(target.halo);
    times.passed(Part::velocity_halo);
}

void Solver::begin(bool is_new) {
    StepTimes times;
    times.begin();
    // u1_ is still empty: its exchange lets a back end prepare, before the loop of steps.
    exchange_velocity({u1_, Halo::first}, times);
    exchange_velocity({u_, Halo::second}, times);
    kernels_.bound(u_, physics_.slip);
    const Extent &extent = layout_.pressure();
    double *const p = p_ - extent.at(0, 0, 0), *const phi = phi_ - extent.at(0, 0, 0);
    if (is_new) {
        project(1, times);
        std::fill_n(p, extent.size(), 0.0);
    } else {
        std::copy_n(p, extent.size(), phi);
        kernels_.wrap(extent, phi_, layout_.own());
        exchange_.start_halo(Halo::pressure);
        exchange_.finish_halo(Halo::pressure);
        std::copy_n(phi, extent.size(), p);
    }
    momentum_at_begin_ = kernels_.momentum(u_);
    driven_ = slowed_ = 0;
}

void Solver::step(double dt, StepTimes &times) {
    slowed_ += 0.5 * dt * kernels_.friction(u_, physics_.viscosity);
    advance({dt, 0, 1}, u_, {u1_, Halo::first}, times);
    kernels_.bound(u1_, physics_.slip);
    slowed_ += 0.5 * dt * kernels_.friction(u1_, physics_.viscosity);
    advance({dt, 0.5, 0.5}, u1_, {u_, Halo::second}, times);
    driven_ += dt * physics_.gradient;
    if (bulk_ != 0) {
        keep_bulk(dt);
        times.passed(Part::other);
    }
    kernels_.bound(u_, physics_.slip);
    times.passed(Part::velocity_compute);
    project(dt, times);
}

// Adds the momentum that the walls have taken, and changes the gradient of the next step by it.
void Solver::keep_bulk(double dt) {
    const double missing = bulk_ - mean_velocity();
    const Extent &extent = u_.extent();
    double *const u = u_.at(0) - extent.at(0, 0, 0);
    for (Count n = 0; n < extent.size(); ++n)
        u[n] += missing;
    driven_ += missing;
    physics_.gradient += missing / dt;
}

// Solves for phi, and subtracts its gradient from the velocity.
void Solver::project(double dt, StepTimes &times) {
    const Extent &extent = layout_.pressure();
    const Threads &threads = manner_.threads;
    const Count plane = extent.nx * extent.ny;
    threads.share(extent.nz, [&](const Share &planes) {
        kernels_.divergence(u_, poisson_.scale() / dt, planes, poisson_.cells());
    });
    poisson_.solve(times);
    threads.share(extent.nz, [&](const Share &planes) {
        const double *from = poisson_.cells() + planes.begin * plane;
        for (Count k = planes.begin; k < planes.end(); ++k) {
            for (Count j = 0; j < extent.ny; ++j, from += extent.nx)
                std::copy_n(from, extent.nx, phi_ + j * extent.row() + k * extent.plane());
        }
        kernels_.wrap(extent, phi_, {{0, extent.ny}, planes});
    });
    correct(dt, times);
}

// Exchange P, and the correction, also in the halo.
void Solver::correct(double dt, StepTimes &times) {
    const Threads &threads = manner_.threads;
    const auto correct = [&](const Box &box) {
        threads.share(box, [&](const Box &part) { kernels_.correct(u_, phi_, dt, part); });
    };
    const Box inner = manner_.overlaps ? layout_.inner() : Box{};
    times.passed(Part::pressure_compute);
    exchange_.start_halo(Halo::pressure);
    times.passed(Part::pressure_halo);
    if (!inner.is_empty()) correct(inner);
    times.passed(Part::pressure_compute);
    exchange_.finish_halo(Halo::pressure);
    times.passed(Part::pressure_halo);
    for (const Box &box : beside(kernels_.correctable(), inner))
        correct(box);
    const Extent &extent = layout_.pressure();
    double *const p = p_ - extent.at(0, 0, 0);
    const double *const phi = phi_ - extent.at(0, 0, 0);
    threads.share(extent.size(), [&](const Share &some) {
        for (Count n = some.begin; n < some.end(); ++n)
            p[n] += phi[n];
    });
    const Extent &e = u_.extent();
    threads.share(e.nz + e.margins.z_low + e.margins.z_high, [&](const Share &some) {
        kernels_.wrap_x(u_, {some.begin - e.margins.z_low, some.count});
    });
    kernels_.bound(u_, physics_.slip);
    times.passed(Part::pressure_compute);
}

double Solver::volume() const {
    const auto &lengths = kernels_.grid().lengths();
    return lengths[0] * lengths[1] * lengths[2];
}

double Solver::divergence() {
    const Extent &extent = u_.extent();
    std::vector<double> found(static_cast<std::size_t>(extent.nx * extent.ny * extent.nz));
    kernels_.divergence(u_, 1, {0, extent.nz}, found.data());
    double most = 0;
    for (const double value : found)
        most = std::max(most, std::fabs(value));
    return exchange_.max(most);
}

double Solver::mean_velocity() {
    std::vector<double> sum{kernels_.momentum(u_)};
    exchange_.sum(sum);
    return sum[0] / volume();
}

double Solver::momentum_error() {
    std::vector<double> sums{kernels_.momentum(u_) - momentum_at_begin_, slowed_};
    exchange_.sum(sums);
    return (sums[0] + sums[1]) / volume() - driven_;
}

double Solver::wall_stress() {
    std::vector<double> sum{kernels_.friction(u_, physics_.viscosity)};
    exchange_.sum(sum);
    const auto &lengths = kernels_.grid().lengths();
    return sum[0] / (2 * lengths[0] * lengths[1]);
}

double Solver::chosen_time_step(double cfl) {
    const double fastest = exchange_.max(kernels_.fastest(u_));
    const double viscous = 0.9 * kernels_.viscous_limit(physics_.viscosity);
    return fastest > 0 ? std::min(cfl / fastest, viscous) : viscous;
}

}  // namespace flow
