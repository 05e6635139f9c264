#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace heat3d {
namespace {

constexpr std::chrono::milliseconds kOnTerminal{200};
constexpr std::chrono::milliseconds kElsewhere{2000};

}  // namespace

Progress::Progress(bool on, std::int64_t max_steps)
    : on_(on), terminal_(on && isatty(STDERR_FILENO) == 1), max_steps_(max_steps) {
    next_ = Clock::now() + (terminal_ ? kOnTerminal : kElsewhere);
}

void Progress::at(std::int64_t steps, double residual, Clock::time_point now) {
    if (!on_ || now < next_) return;
    next_ = now + (terminal_ ? kOnTerminal : kElsewhere);
    say(steps, residual, false);
}

void Progress::end(std::int64_t steps, double residual) {
    // A run too short for a progress line does not need one at its end either.
    if (on_ && said_) say(steps, residual, true);
}

void Progress::say(std::int64_t steps, double residual, bool last) {
    const std::string text = fmt::format("heat3d: step {} of at most {}, residual {:.3e} K", steps,
                                         max_steps_, residual);
    const char *before = terminal_ ? "\r" : "";
    const char *after = terminal_ && !last ? "" : "\n";
    std::fputs(fmt::format("{}{}{}", before, text, after).c_str(), stderr);
    std::fflush(stderr);
    said_ = true;
}

}  // namespace heat3d
