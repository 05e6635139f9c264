// SPDX-License-Identifier: BSD-3-Clause
// Decides when a long wait for other ranks logs a warning: after 10 s, then each time the wait is
// three times as long as at the last warning. Made by the waiting thread when its wait starts.
#pragma once

#include "base/clock.hpp"
#include "base/log.hpp"

namespace sennit::runtime {

class LateNotice {
  public:
    LateNotice() : started_ns_(now_ns()), next_(Deadline::after(kFirst_ns)) {}

    // The earlier of `deadline` and the next notice: the limit of the caller's sleep.
    Deadline next(const Deadline &deadline) const {
        return next_.left_ns() < deadline.left_ns() ? next_ : deadline;
    }

    // The seconds that the wait has lasted if a notice is due, else 0. Each notice is due once.
    int due_s() {
        if (!next_.over()) return 0;
        const std::int64_t lasted_ns = now_ns() - started_ns_;
        next_ = Deadline::after(2 * lasted_ns);
        return static_cast<int>(lasted_ns / 1'000'000'000);
    }

    // For a launcher that does not know which rank is late.
    void warn_if_due(const char *launcher) {
        const int seconds = due_s();
        if (seconds > 0)
            log(SENNIT_LOG_WARNING,
                "this rank has waited %d s for ranks that have not arrived (launcher %s)", seconds,
                launcher);
    }

  private:
    static constexpr std::int64_t kFirst_ns = 10'000'000'000;
    std::int64_t started_ns_;
    Deadline next_;
};

}  // namespace sennit::runtime
