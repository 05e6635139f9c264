// A rank's time, divided into the parts of the UNR paper's figure 6: the update of the velocity and
// the pressure solver, each with computing and communication.
#pragma once

#include "common/times.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace flow {

enum class Part : std::size_t {
    velocity_compute,
    velocity_halo,         // exchanges A and B
    pressure_compute,      // with the correction
    pressure_transpose,    // packing and unpacking included
    pressure_tridiagonal,  // messages of the tridiagonal solver
    pressure_halo,         // exchange P
    other,                 // sums over ranks, statistics, choice of the time step
    count
};
inline constexpr std::size_t kParts = static_cast<std::size_t>(Part::count);
inline constexpr std::array<const char *, kParts> kPartNames{"velocity_compute",
                                                             "velocity_halo",
                                                             "pressure_compute",
                                                             "pressure_transpose",
                                                             "pressure_tridiagonal",
                                                             "pressure_halo",
                                                             "other"};

// The times of one step.
class StepTimes {
  public:
    void begin() {
        ns_.fill(0);
        now_ = apps::Clock::now();
    }
    // Adds the time since the last call to `part`.
    void passed(Part part) {
        const apps::Clock::time_point before = now_;
        now_ = apps::Clock::now();
        ns_[static_cast<std::size_t>(part)] += apps::elapsed_ns(before, now_);
    }
    // The same, but adds `ns` of that time to another part.
    void passed(Part part, Part other, std::int64_t ns) {
        passed(part);
        ns = std::min(ns, ns_[static_cast<std::size_t>(part)]);
        ns_[static_cast<std::size_t>(part)] -= ns;
        ns_[static_cast<std::size_t>(other)] += ns;
    }
    const std::array<std::int64_t, kParts> &ns() const { return ns_; }

  private:
    std::array<std::int64_t, kParts> ns_{};
    apps::Clock::time_point now_;
};

class Times {
  public:
    void add(const StepTimes &step) {
        std::int64_t velocity = 0, pressure = 0, all = 0, communication = 0;
        for (std::size_t part = 0; part < kParts; ++part) {
            const std::int64_t ns = step.ns()[part];
            parts[part].add(ns);
            all += ns;
            const auto which = static_cast<Part>(part);
            if (which == Part::other) continue;
            const bool computes =
                which == Part::velocity_compute || which == Part::pressure_compute;
            (part <= static_cast<std::size_t>(Part::velocity_halo) ? velocity : pressure) += ns;
            if (!computes) communication += ns;
        }
        whole.add(all);
        velocity_update.add(velocity);
        pressure_solver.add(pressure);
        communicate.add(communication);
    }

    std::array<apps::Phase, kParts> parts;
    apps::Phase whole, velocity_update, pressure_solver, communicate;
};

}  // namespace flow
