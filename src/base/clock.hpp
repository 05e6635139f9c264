// SPDX-License-Identifier: BSD-3-Clause
// Monotonic time and deadlines. Owns nothing.
#pragma once

#include <sennit/runtime.h>

#include <cstdint>
#include <ctime>

namespace sennit {

inline std::int64_t now_ns() {
    timespec t{};
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

// Like now_ns(), but also counts while the host is suspended. For time limits that another host
// measures too.
inline std::int64_t boot_ns() {
    timespec t{};
    (void)clock_gettime(CLOCK_BOOTTIME, &t);
    return static_cast<std::int64_t>(t.tv_sec) * 1000000000 + t.tv_nsec;
}

// A point in time, or never. Made once, from the caller's timeout.
class Deadline {
  public:
    static Deadline after(std::int64_t timeout_ns) {
        if (timeout_ns >= SENNIT_FOREVER / 2) return Deadline(INT64_MAX);
        return Deadline(now_ns() + (timeout_ns < 0 ? 0 : timeout_ns));
    }
    // Like after(), but the time starts only at start() or at the first check: a call that need not
    // wait then reads no clock. A copy made before the start has its own start.
    static Deadline within(std::int64_t timeout_ns) {
        if (timeout_ns >= SENNIT_FOREVER / 2) return never();
        return timeout_ns > 0 ? Deadline(-timeout_ns) : after(timeout_ns);
    }
    static Deadline never() { return Deadline(INT64_MAX); }

    void start() const {
        if (at_ns_ < 0) at_ns_ = now_ns() - at_ns_;
    }

    bool forever() const { return at_ns_ == INT64_MAX; }
    bool over() const {
        start();
        return !forever() && now_ns() >= at_ns_;
    }
    std::int64_t left_ns() const {
        if (forever()) return INT64_MAX;
        start();
        const std::int64_t left = at_ns_ - now_ns();
        return left < 0 ? 0 : left;
    }

  private:
    explicit Deadline(std::int64_t at_ns) : at_ns_(at_ns) {}
    mutable std::int64_t at_ns_;  // before the start: minus the timeout
};

}  // namespace sennit
