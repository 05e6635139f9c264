// A rank's time: totals, and the median of a step, which a few interrupted steps do not change.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace apps {

using Clock = std::chrono::steady_clock;

inline std::int64_t elapsed_ns(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count();
}

// Counts durations in classes 1/256 of an octave wide, so a median is exact to 0.2 % for any number
// of steps. The memory that this needs does not grow with the steps.
class Histogram {
  public:
    Histogram();
    void add(std::int64_t ns);
    double median_ns() const;

  private:
    std::vector<std::uint64_t> counts_;
    std::uint64_t total_ = 0;
};

// One part of every step.
struct Phase {
    std::int64_t total_ns = 0;
    Histogram steps;
    void add(std::int64_t ns) {
        total_ns += ns;
        steps.add(ns);
    }
};

// The time of iterations that are done in batches, one batch after another: of all iterations, and
// of one iteration in the median batch, which a few interruptions do not change.
struct BatchTimes {
    std::int64_t total_ns = 0;
    double median_iteration_ns = 0;
};
BatchTimes time_batches(std::int64_t iterations, const std::function<void(std::int64_t)> &work);

// The middle value; for an even number of values the mean of the middle two; 0 without values.
double median_of(std::vector<double> values);

}  // namespace apps
