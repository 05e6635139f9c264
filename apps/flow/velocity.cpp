// The kernels of the velocity. A row is computed component by component, since each component needs
// other neighbours; the data that a row reads stays in the near cache meanwhile. A loop never reads
// neighbours from the array that it writes; the compiler cannot see that, so the loops say ivdep.
#include "velocity.hpp"

#include "differences.hpp"

#include <algorithm>

namespace flow {

Velocity::Velocity(const Extent &extent) : extent_(extent) {
    const auto numbers = static_cast<std::size_t>(kComponents * extent.size());
    memory_ = pages_.take(numbers);
    std::fill_n(memory_, numbers, 0.0);
    origin_ = memory_ + extent.at(0, 0, 0);
}

Kernels::Kernels(const Grid &grid, const Layout &layout)
    : grid_(grid),
      layout_(layout),
      z_(layout.z_share()),
      per_dx_(1 / grid.dx()),
      per_dy_(1 / grid.dy()) {}

// A row's place, and the heights around it.
struct Kernels::Row {
    Count j = 0, k = 0;
    double below = 0, height = 0, above = 0;  // heights of cells k - 1, k, k + 1
    double distance_below = 0, distance = 0;  // from centre k - 1 to k, and on to k + 1
};

// Data that is equal for all rows of a stage.
struct Kernels::Step {
    const Physics &physics;
    const Stage &stage;
    const Velocity &in;
    const double *pressure;
    Velocity &out;
};

Kernels::Row Kernels::row_of(Count j, Count k) const {
    return {j, k, height(k - 1), height(k), height(k + 1), distance(k - 1), distance(k)};
}

// Advances u and v.
template <int Order>
void Kernels::advance_row(const Step &step, const Row &row) const {
    const Extent &e = step.in.extent();
    const Count y = e.row(), z = e.plane(), place = y * row.j + z * row.k, nx = e.nx;
    const double *const u = step.in.at(0) + place, *const v = step.in.at(1) + place;
    const double *const w = step.in.at(2) + place;
    const Extent &ep = layout_.pressure();
    const Count py = ep.row(), pz = ep.plane();
    const double *const p = step.pressure + py * row.j + pz * row.k;
    const double nu = step.physics.viscosity, per_dx = per_dx_, per_dy = per_dy_;
    const Stage s = step.stage;
    const auto put = [s](double *out, double in, double rate) {
        *out = s.old_part * *out + s.new_part * (in + s.dt * rate);
    };
    const auto sides = [nu, per_dx, per_dy, y](const double *q) {
        return nu * (second<Order>(q, 1, per_dx) + second<Order>(q, y, per_dy));
    };

    const double per_height = 1 / row.height;
    const double nu_up = nu * per_height / row.distance;
    const double nu_down = nu * per_height / row.distance_below;
    const auto upward = [=](const double *q, double w_up, double w_down) {
        return nu_up * (q[z] - q[0]) - nu_down * (q[0] - q[-z]) -
               0.5 * per_height * (w_up * (q[0] + q[z]) - w_down * (q[-z] + q[0]));
    };
    double *out = step.out.at(0) + place;
    const double driven = step.physics.gradient;
#pragma GCC ivdep
    for (Count i = 0; i < nx; ++i) {
        const double *const q = u + i;
        const double along =
            carried<Order>(q, 1, per_dx, [=](Count m) { return between<Order>(q + m, 1); });
        const double across =
            carried<Order>(q, y, per_dy, [=](Count m) { return between<Order>(v + i + m * y, 1); });
        put(out + i, q[0],
            sides(q) - along - across +
                upward(q, between<Order>(w + i, 1), between<Order>(w + i - z, 1)) -
                gradient<Order>(p + i, 1, per_dx) + driven);
    }
    out = step.out.at(1) + place;
#pragma GCC ivdep
    for (Count i = 0; i < nx; ++i) {
        const double *const q = v + i;
        const double along =
            carried<Order>(q, 1, per_dx, [=](Count m) { return between<Order>(u + i + m, y); });
        const double across =
            carried<Order>(q, y, per_dy, [=](Count m) { return between<Order>(q + m * y, y); });
        put(out + i, q[0],
            sides(q) - along - across +
                upward(q, between<Order>(w + i, y), between<Order>(w + i - z, y)) -
                gradient<Order>(p + i, py, per_dy));
    }
}

// Advances w. A cell of w reaches from the centre below to the centre above, so the flux through
// its sides is the flux through half of each of these two cells. At the ceiling w is given.
template <int Order>
void Kernels::advance_upward(const Step &step, const Row &row) const {
    const Extent &e = step.in.extent();
    if (layout_.at_ceiling() && row.k + 1 == e.nz) return;
    const Count y = e.row(), z = e.plane(), place = y * row.j + z * row.k;
    const double *const u = step.in.at(0) + place, *const v = step.in.at(1) + place;
    const double *const w = step.in.at(2) + place;
    const Extent &ep = layout_.pressure();
    const Count pz = ep.plane();
    const double *const p = step.pressure + ep.row() * row.j + pz * row.k;
    const double nu = step.physics.viscosity, per_dx = per_dx_, per_dy = per_dy_;
    const double share = row.height / (row.height + row.above);
    const double per_distance = 1 / row.distance;
    const double nu_up = nu * per_distance / row.above, nu_down = nu * per_distance / row.height;
    const auto through = [=](const double *q) { return share * q[0] + (1 - share) * q[z]; };
    double *const out = step.out.at(2) + place;
    const Stage s = step.stage;
#pragma GCC ivdep
    for (Count i = 0; i < e.nx; ++i) {
        const double *const q = w + i;
        const double along =
            carried<Order>(q, 1, per_dx, [=](Count m) { return through(u + i + m); });
        const double across =
            carried<Order>(q, y, per_dy, [=](Count m) { return through(v + i + m * y); });
        const double up = 0.5 * (q[0] + q[z]), down = 0.5 * (q[-z] + q[0]);
        const double sides = nu * (second<Order>(q, 1, per_dx) + second<Order>(q, y, per_dy));
        const double rate = sides - along - across + nu_up * (q[z] - q[0]) -
                            nu_down * (q[0] - q[-z]) - per_distance * (up * up - down * down) -
                            per_distance * (p[i + pz] - p[i]);
        out[i] = s.old_part * out[i] + s.new_part * (q[0] + s.dt * rate);
    }
}

void Kernels::advance(const Physics &physics, const Stage &stage, const Box &box,
                      const Velocity &in, const double *pressure, Velocity &out) const {
    const Step step{physics, stage, in, pressure, out};
    for (Count k = box.planes.begin; k < box.planes.end(); ++k) {
        for (Count j = box.rows.begin; j < box.rows.end(); ++j) {
            const Row row = row_of(j, k);
            if (layout_.order() == 4) {
                advance_row<4>(step, row);
                advance_upward<4>(step, row);
            } else {
                advance_row<2>(step, row);
                advance_upward<2>(step, row);
            }
        }
    }
}

template <int Order>
void Kernels::divergence_of(const Velocity &velocity, double factor, const Share &planes,
                            double *out) const {
    const Extent &e = velocity.extent();
    out += planes.begin * e.nx * e.ny;
    for (Count k = planes.begin; k < planes.end(); ++k) {
        const double per_height = 1 / height(k);
        for (Count j = 0; j < e.ny; ++j, out += e.nx) {
            const Count place = e.row() * j + e.plane() * k;
            const double *const u = velocity.at(0) + place, *const v = velocity.at(1) + place;
            const double *const w = velocity.at(2) + place;
            for (Count i = 0; i < e.nx; ++i) {
                out[i] = factor * (flow::divergence<Order>(u + i, 1, per_dx_) +
                                   flow::divergence<Order>(v + i, e.row(), per_dy_) +
                                   per_height * (w[i] - w[i - e.plane()]));
            }
        }
    }
}

void Kernels::divergence(const Velocity &velocity, double factor, const Share &planes,
                         double *out) const {
    if (layout_.order() == 4)
        divergence_of<4>(velocity, factor, planes, out);
    else
        divergence_of<2>(velocity, factor, planes, out);
}

Box Kernels::correctable() const {
    const Extent &e = layout_.velocity();
    const Share planes{layout_.at_floor() ? 0 : -1, 0};
    return {{-e.margins.y_low, e.rows()},
            {planes.begin, (layout_.at_ceiling() ? e.nz : e.nz + 1) - planes.begin}};
}

template <int Order>
void Kernels::correct_by(Velocity &velocity, const double *phi, double dt, const Box &box) const {
    const Extent &e = velocity.extent(), &ep = layout_.pressure();
    for (Count k = box.planes.begin; k < box.planes.end(); ++k) {
        const bool at_wall = layout_.at_ceiling() && k + 1 == e.nz;
        const double dt_z = at_wall ? 0 : dt / distance(k);
        for (Count j = box.rows.begin; j < box.rows.end(); ++j) {
            const Count place = e.row() * j + e.plane() * k;
            double *const u = velocity.at(0) + place, *const v = velocity.at(1) + place;
            double *const w = velocity.at(2) + place;
            const double *const p = phi + ep.row() * j + ep.plane() * k;
#pragma GCC ivdep
            for (Count i = 0; i < e.nx; ++i) {
                u[i] -= dt * gradient<Order>(p + i, 1, per_dx_);
                v[i] -= dt * gradient<Order>(p + i, ep.row(), per_dy_);
                w[i] -= dt_z * (p[i + ep.plane()] - p[i]);
            }
        }
    }
}

void Kernels::correct(Velocity &velocity, const double *phi, double dt, const Box &box) const {
    if (layout_.order() == 4)
        correct_by<4>(velocity, phi, dt, box);
    else
        correct_by<2>(velocity, phi, dt, box);
}

namespace {

void wrap_row(const Extent &extent, double *row) {
    for (Count i = 1; i <= extent.margins.x_low; ++i)
        row[-i] = row[extent.nx - i];
    for (Count i = 0; i < extent.margins.x_high; ++i)
        row[extent.nx + i] = row[i];
}

}  // namespace

void Kernels::wrap(const Extent &extent, double *origin, const Box &box) const {
    const Margins &m = extent.margins;
    for (Count k = box.planes.begin; k < box.planes.end(); ++k) {
        double *const plane = origin + k * extent.plane();
        for (Count j = box.rows.begin; j < box.rows.end(); ++j)
            wrap_row(extent, plane + j * extent.row());
        if (layout_.ranks_y() > 1) continue;
        const auto copy = [&](Count from, Count to) {
            std::copy_n(plane + from * extent.row() - m.x_low, extent.row(),
                        plane + to * extent.row() - m.x_low);
        };
        for (Count j = 1; j <= m.y_low; ++j)
            copy(extent.ny - j, -j);
        for (Count j = 0; j < m.y_high; ++j)
            copy(j, extent.ny + j);
    }
}

void Kernels::wrap_x(const Extent &extent, double *origin, const Share &planes) const {
    const Margins &m = extent.margins;
    for (Count k = planes.begin; k < planes.end(); ++k) {
        for (Count j = -m.y_low; j < extent.ny + m.y_high; ++j)
            wrap_row(extent, origin + j * extent.row() + k * extent.plane());
    }
}

void Kernels::wrap(Velocity &velocity, const Box &box) const {
    for (Count component = 0; component < Velocity::kComponents; ++component)
        wrap(velocity.extent(), velocity.at(component), box);
}

void Kernels::wrap_x(Velocity &velocity, const Share &planes) const {
    for (Count component = 0; component < Velocity::kComponents; ++component)
        wrap_x(velocity.extent(), velocity.at(component), planes);
}

// Without slip, the mirror image of a velocity along the wall is its negative.
void Kernels::bound(Velocity &velocity, bool slip) const {
    const Extent &e = velocity.extent();
    const Count plane = e.plane(), first = -e.at(0, 0, 0);
    const double image = slip ? 1 : -1;
    for (Count component = 0; component < Velocity::kComponents; ++component) {
        double *const floor = velocity.at(component) + first;  // the first number of plane -1
        double *const ceiling = floor + e.nz * plane;          // and of plane nz - 1
        for (Count n = 0; n < plane; ++n) {
            if (layout_.at_floor()) floor[n] = component == 2 ? 0 : image * floor[n + plane];
            if (!layout_.at_ceiling()) continue;
            if (component == 2) ceiling[n] = 0;
            ceiling[n + plane] = component == 2 ? 0 : image * ceiling[n];
        }
    }
}

double Kernels::fastest(const Velocity &velocity) const {
    const Extent &e = velocity.extent();
    double most = 0;
    for (Count k = 0; k < e.nz; ++k) {
        const double per_height = 1 / height(k);
        for (Count j = 0; j < e.ny; ++j) {
            const Count place = e.row() * j + e.plane() * k;
            const double *const u = velocity.at(0) + place, *const v = velocity.at(1) + place;
            const double *const w = velocity.at(2) + place;
            for (Count i = 0; i < e.nx; ++i) {
                most = std::max(most, std::fabs(u[i]) * per_dx_ + std::fabs(v[i]) * per_dy_ +
                                          std::fabs(w[i]) * per_height);
            }
        }
    }
    return most;
}

double Kernels::viscous_limit(double viscosity) const {
    double thinnest = grid_.height(0);
    for (Count k = 0; k < grid_.cells()[2]; ++k)
        thinnest = std::min(thinnest, grid_.height(k));
    // A difference of fourth order is larger by a third at the shortest wave.
    const double more = layout_.order() == 4 ? 4.0 / 3 : 1;
    const double rate = more * (per_dx_ * per_dx_ + per_dy_ * per_dy_) + 1 / (thinnest * thinnest);
    return 0.5 / (viscosity * rate);
}

double Kernels::friction(const Velocity &velocity, double viscosity) const {
    const Extent &e = velocity.extent();
    double sum = 0;
    const auto add = [&](Count inside, Count outside, double distance) {
        for (Count j = 0; j < e.ny; ++j) {
            const double *const u = velocity.at(0) + e.row() * j;
            for (Count i = 0; i < e.nx; ++i)
                sum += (u[i + e.plane() * inside] - u[i + e.plane() * outside]) / distance;
        }
    };
    if (layout_.at_floor()) add(0, -1, distance(-1));
    if (layout_.at_ceiling()) add(e.nz - 1, e.nz, distance(e.nz - 1));
    return sum * viscosity * grid_.dx() * grid_.dy();
}

double Kernels::momentum(const Velocity &velocity) const {
    const Extent &e = velocity.extent();
    double sum = 0;
    for (Count k = 0; k < e.nz; ++k) {
        double of_plane = 0;
        for (Count j = 0; j < e.ny; ++j) {
            const double *const u = velocity.at(0) + e.row() * j + e.plane() * k;
            for (Count i = 0; i < e.nx; ++i)
                of_plane += u[i];
        }
        sum += of_plane * height(k);
    }
    return sum * grid_.dx() * grid_.dy();
}

}  // namespace flow
