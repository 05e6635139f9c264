// The progress line on stderr, with the time left: on a terminal one line that is overwritten, else
// a line now and then. It is on for one rank at most.
#pragma once

#include "common/times.hpp"

#include <cstdint>
#include <string>

namespace flow {

class Progress {
  public:
    Progress(bool on, std::int64_t steps);
    // Prints the state of the run, unless it did so a moment ago.
    void at(std::int64_t step, const std::string &state);
    void end(std::int64_t step);

  private:
    void say(const std::string &text, bool last);

    bool on_, terminal_, said_ = false;
    std::int64_t steps_;
    apps::Clock::time_point start_, next_;
};

}  // namespace flow
