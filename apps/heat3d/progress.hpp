// The progress line on stderr: on a terminal one line that is overwritten, else a line now and
// then. It is on for one rank at most.
#pragma once

#include "times.hpp"

#include <cstdint>

namespace heat3d {

class Progress {
  public:
    Progress(bool on, std::int64_t max_steps);
    // Prints the state of the run, unless it did so a moment ago.
    void at(std::int64_t steps, double residual, Clock::time_point now);
    void end(std::int64_t steps, double residual);

  private:
    void say(std::int64_t steps, double residual, bool last);

    bool on_;
    bool terminal_;
    bool said_ = false;
    std::int64_t max_steps_;
    Clock::time_point next_;
};

}  // namespace heat3d
