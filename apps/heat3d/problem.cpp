#include "problem.hpp"

#include "failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace heat3d {
namespace {

constexpr double kShareOfStableStep = 0.9;
constexpr double kHottest = 100.0;  // of the case sine

using Function = std::function<double(double, double, double)>;

// The axis of one-dimensional heat flow: both its sides are fixed and all others insulated; -1 if
// there is none.
int only_conducting_axis(const std::array<SideCondition, kSides> &sides) {
    int axis = -1;
    for (int a = 0; a < 3; ++a) {
        const bool low = sides[2 * a].insulated, high = sides[2 * a + 1].insulated;
        if (low != high) return -1;
        if (low) continue;
        if (axis >= 0) return -1;
        axis = a;
    }
    return axis;
}

double potential(double t, double slope) {
    return t + 0.5 * slope * t * t;
}

// The temperature with potential q: the root with a positive diffusivity.
double temperature(double q, double slope) {
    return slope == 0 ? q : 2.0 * q / (1.0 + std::sqrt(1.0 + 2.0 * slope * q));
}

Function sine_solution(const std::array<double, 3> &length) {
    using std::numbers::pi;
    const double kx = pi / length[0], ky = pi / length[1], kz = std::hypot(kx, ky);
    const double top = kz * length[2];
    return [=](double x, double y, double z) {
        // sinh(kz z) / sinh(top), in a form that does not overflow in a long body.
        const double height =
            std::exp(kz * z - top) * (-std::expm1(-2.0 * kz * z)) / (-std::expm1(-2.0 * top));
        return kHottest * std::sin(kx * x) * std::sin(ky * y) * height;
    };
}

}  // namespace

Problem::Problem(const Options &options, const Decomposition &decomposition, int rank)
    : box_(decomposition.box(rank)),
      shape_(box_.shape()),
      length_(options.length),
      diffusivity_(options.diffusivity),
      initial_(options.initial),
      time_step_(options.time_step) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        spacing_[axis] = length_[axis] / static_cast<double>(decomposition.cells()[axis] + 1);
    }
    stencil_.slope = options.slope;
    choose_steady_state(options);
    for (const Side side : kAllSides) {
        if (decomposition.neighbour(rank, side) < 0) {
            build_outer_layer(options, decomposition.cells(), side);
        }
    }
}

double Problem::coordinate(std::size_t axis, std::int64_t index) const {
    return static_cast<double>(index + 1) * spacing_[axis];
}

double Problem::steady_at(const Triple &index) const {
    const double q =
        steady_(coordinate(0, index[0]), coordinate(1, index[1]), coordinate(2, index[2]));
    return temperature(q, stencil_.slope);
}

void Problem::choose_steady_state(const Options &options) {
    if (options.problem == Case::sine) {
        steady_ = sine_solution(length_);
    } else if (options.problem == Case::harmonic) {
        // The fourth derivatives vanish, so second differences are exact.
        steady_ = [](double x, double y, double z) {
            return x * x * x - 3.0 * x * z * z + y * y - z * z + 4.0;
        };
    } else if (const int axis = only_conducting_axis(options.sides); axis >= 0) {
        const double slope = stencil_.slope;
        const double low = potential(options.sides[2 * axis].temperature, slope);
        const double high = potential(options.sides[2 * axis + 1].temperature, slope);
        const double length = length_[static_cast<std::size_t>(axis)];
        steady_ = [=](double x, double y, double z) {
            const double at = (axis == 0 ? x : axis == 1 ? y : z) / length;
            return low + (high - low) * at;
        };
    }
}

void Problem::build_outer_layer(const Options &options, const Triple &all_cells, Side side) {
    std::vector<double> &outside = outside_[side];
    if (options.problem == Case::sides) {
        const SideCondition &condition = options.sides[side];
        if (!condition.insulated) {
            outside.assign(axis_of(side) == 0 ? 1 : shape_.nx, condition.temperature);
        }
        return;
    }
    const LayerShape layer = layer_shape(shape_, side);
    const auto axis = static_cast<std::size_t>(axis_of(side));
    const std::size_t cell_axis = axis == 0 ? 1 : 0, row_axis = axis == 2 ? 1 : 2;
    outside.reserve(layer.cells());
    Triple index{};
    index[axis] = is_upper(side) ? all_cells[axis] : -1;
    for (std::size_t r = 0; r < layer.rows; ++r) {
        index[row_axis] = box_.begin[row_axis] + static_cast<std::int64_t>(r);
        for (std::size_t c = 0; c < layer.row_cells; ++c) {
            index[cell_axis] = box_.begin[cell_axis] + static_cast<std::int64_t>(c);
            outside.push_back(steady_at(index));
        }
    }
    const auto finite = [](double t) { return std::isfinite(t); };
    if (!std::all_of(outside.begin(), outside.end(), finite)) {
        throw Failure(fmt::format("diffusivity-slope: with {} 1/K the case has no steady state",
                                  options.slope));
    }
}

Range Problem::own_range() const {
    Range range{initial_, initial_};
    for (const std::vector<double> &outside : outside_) {
        for (const double t : outside) {
            range.low = std::min(range.low, t);
            range.high = std::max(range.high, t);
        }
    }
    return range;
}

void Problem::prepare(const Range &range) {
    const auto diffusivity_at = [this](double t) {
        return diffusivity_ * (1.0 + stencil_.slope * t);
    };
    const double at_low = diffusivity_at(range.low), at_high = diffusivity_at(range.high);
    if (!(at_low > 0 && at_high > 0)) {
        throw Failure(fmt::format(
            "diffusivity-slope: the diffusivity must be positive from {} K to {} K, but is {} and "
            "{} m^2/s there",
            range.low, range.high, at_low, at_high));
    }
    double sum = 0;
    for (const double h : spacing_)
        sum += 1.0 / (h * h);
    const double limit = 0.5 / (std::max(at_low, at_high) * sum);
    if (time_step_ > limit) {
        throw Failure(
            fmt::format("time-step: {} s is not stable, at most {} s is", time_step_, limit));
    }
    if (time_step_ == 0) time_step_ = kShareOfStableStep * limit;
    stencil_.x = diffusivity_ * time_step_ / (spacing_[0] * spacing_[0]);
    stencil_.y = diffusivity_ * time_step_ / (spacing_[1] * spacing_[1]);
    stencil_.z = diffusivity_ * time_step_ / (spacing_[2] * spacing_[2]);
    const double largest = std::max(std::fabs(range.low), std::fabs(range.high));
    if (!std::isnormal(stencil_.x) || !std::isnormal(stencil_.y) || !std::isnormal(stencil_.z) ||
        !std::isfinite(potential(largest, std::fabs(stencil_.slope)))) {
        throw Failure("length, diffusivity and time step together are beyond double precision");
    }
}

void Problem::fill(double *cells) const {
    std::fill_n(cells, shape_.cells(), initial_);
}

Layer Problem::outer_layer(Side side, const double *cells) const {
    const std::vector<double> &outside = outside_[side];
    const LayerShape layer = layer_shape(shape_, side);
    if (outside.empty()) return inner_layer(cells, shape_, side);
    if (outside.size() == layer.cells()) return packed_layer(outside.data(), layer);
    return {outside.data(), axis_of(side) == 0 ? 0 : 1, 0};
}

double Problem::largest_error(const double *cells) const {
    double largest = 0;
    Triple at{};
    for (at[2] = 0; at[2] < box_.cells[2]; ++at[2]) {
        for (at[1] = 0; at[1] < box_.cells[1]; ++at[1]) {
            for (at[0] = 0; at[0] < box_.cells[0]; ++at[0]) {
                const Triple index{box_.begin[0] + at[0], box_.begin[1] + at[1],
                                   box_.begin[2] + at[2]};
                largest = std::max(largest, std::fabs(*cells++ - steady_at(index)));
            }
        }
    }
    return largest;
}

}  // namespace heat3d
