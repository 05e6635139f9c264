// SPDX-License-Identifier: BSD-3-Clause
// A condition variable whose waits have a Deadline, measured by the monotonic clock.
#pragma once

#include <pthread.h>

#include <cerrno>
#include <cstdint>

#include "base/clock.hpp"

namespace sennit {

class Condition {
  public:
    Condition() {
        pthread_condattr_t attributes;
        (void)pthread_condattr_init(&attributes);
        (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
        (void)pthread_cond_init(&condition_, &attributes);
        (void)pthread_condattr_destroy(&attributes);
    }
    ~Condition() { (void)pthread_cond_destroy(&condition_); }
    Condition(const Condition &) = delete;
    Condition &operator=(const Condition &) = delete;

    void wake_one() { (void)pthread_cond_signal(&condition_); }
    void wake_all() { (void)pthread_cond_broadcast(&condition_); }

    // The caller holds the mutex; the wait releases it meanwhile. May return early. False: the
    // deadline has passed.
    bool wait(pthread_mutex_t &mutex, const Deadline &deadline) {
        const std::int64_t left_ns = deadline.left_ns();
        const std::int64_t end_ns = now_ns() + (left_ns < kLongest_ns ? left_ns : kLongest_ns);
        const timespec end{end_ns / 1'000'000'000, end_ns % 1'000'000'000};
        return pthread_cond_timedwait(&condition_, &mutex, &end) != ETIMEDOUT || !deadline.over();
    }

  private:
    static constexpr std::int64_t kLongest_ns = 3'600'000'000'000;
    pthread_cond_t condition_;
};

}  // namespace sennit
