// What a user of the field looks at: means over x, y and samples of the velocity and its
// fluctuations, the friction of the walls, the mean velocity; for each sample, and of all of them.
// Averages go on after a restart. Called by run.cpp.
#pragma once

#include "solver.hpp"

#include <array>
#include <string>
#include <vector>

namespace flow {

// The state of the whole channel at a step, the same on all ranks. In the units of the input;
// stresses over the density.
struct Sample {
    std::int64_t step = 0;
    double time = 0;
    double bulk = 0;  // mean velocity along x
    double gradient = 0;
    double wall_stress = 0;  // the mean of both walls
    double divergence = 0;   // the largest
};

class Statistics {
  public:
    explicit Statistics(const Layout &layout);

    // Collective. Only the rank with `keeps_rows` keeps what write() needs of single samples.
    void add(const Sample &sample, const Velocity &velocity, bool keeps_rows);
    std::int64_t samples() const { return samples_; }
    // Means over samples, and the largest divergence of them.
    double bulk() const { return mean(0); }
    double wall_stress() const { return mean(1); }
    double divergence() const { return largest_divergence_; }

    // All that goes on after a restart, of the whole channel, and the way back. sums() is
    // collective.
    std::vector<double> sums(Exchange &exchange) const;
    void take(const std::vector<double> &sums);
    static std::size_t sums_of(const Layout &layout);

    // profile.csv and samples.csv, by one rank, with what sums() gave; their first lines say what
    // the columns are. Rows of samples up to step `begin` that are there already stay. Throws
    // Failure.
    void write(const std::string &folder, const Grid &grid, const std::vector<double> &sums,
               std::int64_t begin) const;

  private:
    // Of sums(): first samples, bulk, wall stress, divergence, then the means of each plane.
    static constexpr std::size_t kHead = 4, kMeans = 7;
    double mean(std::size_t scalar) const {
        return samples_ == 0 ? 0 : scalars_[scalar] / static_cast<double>(samples_);
    }
    std::string profile(const Grid &grid, const std::vector<double> &sums) const;

    const Layout &layout_;
    std::int64_t samples_ = 0;
    std::array<double, 2> scalars_{};  // sums over samples of bulk and wall stress
    double largest_divergence_ = 0;
    // For each plane of the channel, sums over samples of means over x and y: those of this rank
    // since the restart, and those of all ranks before.
    std::vector<double> own_, before_;
    std::vector<Sample> rows_;
};

}  // namespace flow
