// The statistics for a user of the field: for each height, means of the velocity and its
// fluctuations over x, y and all samples; for the whole channel, wall friction and mean velocity,
// of each sample and of all. Averages continue after a restart. Called by run.cpp.
#pragma once

#include "solver.hpp"

#include <array>
#include <string>
#include <vector>

namespace flow {

// The state of the whole channel at a step, the same on all ranks. In the units of the input;
// stresses are divided by the density.
struct Sample {
    std::int64_t step = 0;
    double time = 0;
    double bulk = 0;  // mean velocity along x
    double gradient = 0;
    double wall_stress = 0;  // the mean of both walls
    double divergence = 0;   // the largest value
};

class Statistics {
  public:
    explicit Statistics(const Layout &layout);

    // Collective. Only the rank with `keeps_rows` keeps the rows of single samples for write().
    void add(const Sample &sample, const Velocity &velocity, bool keeps_rows);
    std::int64_t samples() const { return samples_; }
    // Means over samples, and the largest divergence of all samples.
    double bulk() const { return mean(0); }
    double wall_stress() const { return mean(1); }
    double divergence() const { return largest_divergence_; }

    // All sums that continue after a restart, of the whole channel: sums() collects them, take()
    // restores them, sums_of() counts them. sums() is collective.
    std::vector<double> sums(Exchange &exchange) const;
    void take(const std::vector<double> &sums);
    static std::size_t sums_of(const Layout &layout);

    // Writes profile.csv and samples.csv, on one rank, with the result of sums(); their first lines
    // describe the columns. Existing rows of samples up to step `begin` are kept. Throws Failure.
    void write(const std::string &folder, const Grid &grid, const std::vector<double> &sums,
               std::int64_t begin) const;

  private:
    // The layout of sums(): first samples, bulk, wall stress, divergence, then the means of each
    // plane.
    static constexpr std::size_t kHead = 4, kMeans = 7;
    double mean(std::size_t scalar) const {
        return samples_ == 0 ? 0 : scalars_[scalar] / static_cast<double>(samples_);
    }
    std::string profile(const Grid &grid, const std::vector<double> &sums) const;

    const Layout &layout_;
    std::int64_t samples_ = 0;
    std::array<double, 2> scalars_{};  // sums over samples of bulk and wall stress
    double largest_divergence_ = 0;
    // For each plane of the channel, sums over samples of means over x and y: this rank's sums
    // since the restart, and the sums of all ranks before it.
    std::vector<double> own_, before_;
    std::vector<Sample> rows_;
};

}  // namespace flow
