// Where a rank's time went: totals, and the median of a step, which a step in which the rank was
// interrupted does not move. run.cpp fills it, the same way for every program.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heat3d {

using Clock = std::chrono::steady_clock;

inline std::int64_t elapsed_ns(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(to - from).count();
}

// Counts durations in classes 1/32 of an octave wide, so a median is exact to 1.6 % for any number
// of steps at a fixed size.
class Histogram {
  public:
    Histogram();
    void add(std::int64_t ns);
    double median_ns() const;

  private:
    std::vector<std::uint64_t> counts_;
    std::uint64_t total_ = 0;
};

class Times {
  public:
    void add_step(std::int64_t compute_ns, std::int64_t exchange_ns, std::int64_t synchronise_ns);

    struct Part {
        std::int64_t total_ns = 0;
        Histogram steps;
        void add(std::int64_t ns) {
            total_ns += ns;
            steps.add(ns);
        }
    };
    Part compute, exchange, synchronise;
    // Exchange and synchronisation of a step together.
    Part communicate;
};

}  // namespace heat3d
