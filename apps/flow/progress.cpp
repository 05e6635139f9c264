#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace flow {
namespace {

using apps::Clock;

constexpr std::chrono::milliseconds kOnTerminal{200};
constexpr std::chrono::milliseconds kElsewhere{2000};

std::string duration_of(double seconds) {
    const auto all = static_cast<std::int64_t>(seconds + 0.5);
    return fmt::format("{}:{:02}:{:02}", all / 3600, all / 60 % 60, all % 60);
}

}  // namespace

Progress::Progress(bool on, std::int64_t steps)
    : on_(on), terminal_(on && isatty(STDERR_FILENO) == 1), steps_(steps), start_(Clock::now()) {
    next_ = start_ + (terminal_ ? kOnTerminal : kElsewhere);
}

void Progress::at(std::int64_t step, const std::string &state) {
    const Clock::time_point now = Clock::now();
    if (!on_ || now < next_) return;
    next_ = now + (terminal_ ? kOnTerminal : kElsewhere);
    const double each =
        static_cast<double>(apps::elapsed_ns(start_, now)) * 1e-9 / static_cast<double>(step);
    say(fmt::format("flow: step {} of {}, {}, {:.2f} ms a step, {} left", step, steps_, state,
                    each * 1e3, duration_of(each * static_cast<double>(steps_ - step))),
        false);
}

void Progress::end(std::int64_t step) {
    // A run too short for a progress line does not need one at its end either.
    if (!on_ || !said_) return;
    const double seconds = static_cast<double>(apps::elapsed_ns(start_, Clock::now())) * 1e-9;
    say(fmt::format("flow: {} steps in {}", step, duration_of(seconds)), true);
}

void Progress::say(const std::string &text, bool last) {
    const char *before = terminal_ ? "\r" : "";
    const char *after = terminal_ && !last ? "" : "\n";
    std::fputs(fmt::format("{}{}{}", before, text, after).c_str(), stderr);
    std::fflush(stderr);
    said_ = true;
}

}  // namespace flow
