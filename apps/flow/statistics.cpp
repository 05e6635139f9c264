#include "statistics.hpp"

#include "files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>

namespace flow {

Statistics::Statistics(const Layout &layout)
    : layout_(layout),
      own_(kMeans * static_cast<std::size_t>(layout.cells()[2]), 0.0),
      before_(own_.size(), 0.0) {}

void Statistics::add(const Sample &sample, const Velocity &velocity, bool keeps_rows) {
    const Extent &e = velocity.extent();
    const double share = 1 / static_cast<double>(layout_.cells()[0] * layout_.cells()[1]);
    for (Count k = 0; k < e.nz; ++k) {
        std::array<double, kMeans> sums{};
        for (Count j = 0; j < e.ny; ++j) {
            const Count place = j * e.row() + k * e.plane();
            const double *const pu = velocity.at(0) + place, *const pv = velocity.at(1) + place;
            const double *const pw = velocity.at(2) + place;
            for (Count i = 0; i < e.nx; ++i) {
                const double u = pu[i], v = pv[i], w = 0.5 * (pw[i - e.plane()] + pw[i]);
                const double w_at_u = 0.5 * (w + 0.5 * (pw[i + 1 - e.plane()] + pw[i + 1]));
                const double values[kMeans] = {u, v, w, u * u, v * v, w * w, u * w_at_u};
                for (std::size_t n = 0; n < kMeans; ++n)
                    sums[n] += values[n];
            }
        }
        const auto row = static_cast<std::size_t>(layout_.z_share().begin + k);
        for (std::size_t n = 0; n < kMeans; ++n)
            own_[kMeans * row + n] += sums[n] * share;
    }
    ++samples_;
    scalars_[0] += sample.bulk;
    scalars_[1] += sample.wall_stress;
    largest_divergence_ = std::max(largest_divergence_, sample.divergence);
    if (keeps_rows) rows_.push_back(sample);
}

std::size_t Statistics::sums_of(const Layout &layout) {
    return kHead + kMeans * static_cast<std::size_t>(layout.cells()[2]);
}

std::vector<double> Statistics::sums(Exchange &exchange) const {
    std::vector<double> planes = own_;
    exchange.sum(planes);
    std::vector<double> all{static_cast<double>(samples_), scalars_[0], scalars_[1],
                            largest_divergence_};
    for (std::size_t n = 0; n < planes.size(); ++n)
        all.push_back(before_[n] + planes[n]);
    return all;
}

void Statistics::take(const std::vector<double> &sums) {
    samples_ = static_cast<std::int64_t>(sums[0]);
    scalars_ = {sums[1], sums[2]};
    largest_divergence_ = sums[3];
    before_.assign(sums.begin() + kHead, sums.end());
}

std::string Statistics::profile(const Grid &grid, const std::vector<double> &sums) const {
    std::string text = fmt::format(
        "# Means over x, y and {} samples, in the units of the input; stresses over the density.\n"
        "# z: height of the cells' centres above the lower wall. u, v, w: mean velocity along x, "
        "y, "
        "z.\n"
        "# u_rms, v_rms, w_rms: root of the mean square of the fluctuations u', v', w' about it.\n"
        "# reynolds_stress: -mean of u'w'.\n"
        "# wall_stress {:.10g}, friction_velocity {:.10g}, bulk {:.10g}: means over the samples; "
        "divergence {:.3g}: the largest.\n"
        "z,u,v,w,u_rms,v_rms,w_rms,reynolds_stress\n",
        samples_, wall_stress(), std::sqrt(std::fabs(wall_stress())), bulk(), divergence());
    for (std::size_t at = kHead; samples_ > 0 && at < sums.size(); at += kMeans) {
        const auto mean = [&](std::size_t which) {
            return sums[at + which] / static_cast<double>(samples_);
        };
        const auto root = [&](std::size_t which) {
            return std::sqrt(std::max(0.0, mean(which + 3) - mean(which) * mean(which)));
        };
        text +=
            fmt::format("{:.12g},{:.12g},{:.12g},{:.12g},{:.12g},{:.12g},{:.12g},{:.12g}\n",
                        grid.centre(static_cast<Count>((at - kHead) / kMeans)), mean(0), mean(1),
                        mean(2), root(0), root(1), root(2), mean(0) * mean(2) - mean(6));
    }
    return text;
}

void Statistics::write(const std::string &folder, const Grid &grid, const std::vector<double> &sums,
                       std::int64_t begin) const {
    write_text(folder + "/profile.csv", profile(grid, sums));
    const std::string path = folder + "/samples.csv";
    std::string text =
        "# The whole channel at each sample, in the units of the input; stresses over the "
        "density.\n"
        "# bulk: mean velocity along x. gradient: of the pressure, which drives the flow. "
        "wall_stress: mean of both walls; its root is friction_velocity. divergence: the largest.\n"
        "step,time,bulk,gradient,wall_stress,friction_velocity,divergence\n";
    std::ifstream before(path);
    for (std::string line; begin > 0 && std::getline(before, line);) {
        const std::int64_t step = std::atoll(line.c_str());
        if (step > 0 && step <= begin) text += line + '\n';
    }
    for (const Sample &row : rows_) {
        text += fmt::format("{},{:.12g},{:.12g},{:.12g},{:.12g},{:.12g},{:.3g}\n", row.step,
                            row.time, row.bulk, row.gradient, row.wall_stress,
                            std::sqrt(std::fabs(row.wall_stress)), row.divergence);
    }
    write_text(path, text);
}

}  // namespace flow
