#include "cases.hpp"

#include "common/field_hash.hpp"

#include <cmath>
#include <numbers>

namespace flow {

Case::Case(const Options &options, const Grid &grid, const Layout &layout)
    : options_(options), grid_(grid), layout_(layout) {}

Physics Case::physics() const {
    const bool decays = options_.problem == "vortex";
    return {options_.viscosity, decays ? 0 : options_.gradient, decays};
}

// Each velocity component lies on the upper face of its own direction. Indices are local to the
// rank.
Case::Point Case::point_of(Count component, Count i, Count j, Count k) const {
    const auto along = [](Count n, bool on_face) {
        return static_cast<double>(n) + (on_face ? 1 : 0.5);
    };
    const Count g = layout_.z_share().begin + k;
    return {grid_.dx() * along(i, component == 0),
            grid_.dy() * along(layout_.y_share().begin + j, component == 1),
            component == 2 ? grid_.face(g + 1) : grid_.centre(g)};
}

// The parabola. With a constant mean velocity it has that mean.
double Case::laminar(double z) const {
    const double h = options_.height;
    if (options_.bulk != 0) return 6 * options_.bulk * z * (h - z) / (h * h);
    return options_.gradient / (2 * options_.viscosity) * z * (h - z);
}

// The vortex turns in planes across the channel, at an angle to x and y, so that all terms of all
// three equations take part.
double Case::known(Count component, const Point &point, double time) const {
    if (options_.problem != "vortex") return component == 0 ? laminar(point.z) : 0;
    const double kx = 2 * std::numbers::pi / options_.length_x;
    const double ky = 2 * std::numbers::pi / options_.length_y;
    const double kz = std::numbers::pi / options_.height, ks = std::hypot(kx, ky);
    const double phase = kx * point.x + ky * point.y;
    const double decay = std::exp(-options_.viscosity * (ks * ks + kz * kz) * time);
    if (component == 2) return -ks / kz * std::cos(phase) * std::sin(kz * point.z) * decay;
    const double part = (component == 0 ? kx : ky) / ks;
    return part * std::sin(phase) * std::cos(kz * point.z) * decay;
}

// From -1 to 1, a function of the place in the whole grid.
double Case::noise(Count component, Count i, Count j, Count k) const {
    const Triple &cells = layout_.cells();
    const Count row = layout_.y_share().begin + j + cells[1] * (layout_.z_share().begin + k);
    const auto place = static_cast<std::uint64_t>(i + cells[0] * row);
    const std::uint64_t bits = apps::mixed(3 * place + static_cast<std::uint64_t>(component) + 1);
    return static_cast<double>(apps::mixed(bits) >> 11) * 0x1p-52 - 1;
}

void Case::fill(Velocity &velocity) const {
    const Extent &e = velocity.extent();
    const double h = options_.height;
    // A profile that is fuller than the laminar one, about that of a turbulent flow.
    const double mean =
        options_.bulk != 0 ? options_.bulk : 15 * std::sqrt(std::fabs(options_.gradient) * h / 2);
    for (Count component = 0; component < Velocity::kComponents; ++component) {
        for (Count k = 0; k < e.nz; ++k) {
            for (Count j = 0; j < e.ny; ++j) {
                double *const row = velocity.at(component) + j * e.row() + k * e.plane();
                for (Count i = 0; i < e.nx; ++i) {
                    const Point point = point_of(component, i, j, k);
                    if (options_.problem == "channel") {
                        const double away = 2 * point.z / h - 1;
                        const double profile = 1.125 * mean * (1 - std::pow(away, 8));
                        row[i] = (component == 0 ? profile : 0) +
                                 options_.noise * mean * noise(component, i, j, k);
                    } else if (options_.problem != "rest") {
                        row[i] = known(component, point, 0);
                    }
                }
            }
        }
    }
    if (!layout_.at_ceiling()) return;
    double *const top = velocity.at(2) - e.at(0, 0, 0) + e.nz * e.plane();
    std::fill_n(top, e.plane(), 0.0);
}

Case::Error Case::error(const Velocity &velocity, double time) const {
    const Extent &e = velocity.extent();
    Error error;
    for (Count component = 0; component < Velocity::kComponents; ++component) {
        for (Count k = 0; k < e.nz; ++k) {
            const double cell = grid_.dx() * grid_.dy() * grid_.height(layout_.z_share().begin + k);
            for (Count j = 0; j < e.ny; ++j) {
                const double *const row = velocity.at(component) + j * e.row() + k * e.plane();
                for (Count i = 0; i < e.nx; ++i) {
                    const double off =
                        std::fabs(row[i] - known(component, point_of(component, i, j, k), time));
                    error.largest = std::max(error.largest, off);
                    error.squares += cell * off * off;
                }
            }
        }
    }
    return error;
}

}  // namespace flow
