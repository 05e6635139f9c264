// SPDX-License-Identifier: BSD-3-Clause
// The time limit of a call with several waits. Stored in the thread's record
// (base/thread_limit.hpp).
#pragma once

#include "base/clock.hpp"

namespace sennit {

// While it lives, default_deadline() of this thread is one point in time, so that all waits of the
// call together take at most the knob SENNIT_TIMEOUT. The outermost object counts. Without memory
// for the thread's record each wait has the full time.
class WholeCall {
  public:
    WholeCall();
    ~WholeCall();
    WholeCall(const WholeCall &) = delete;
    WholeCall &operator=(const WholeCall &) = delete;

  private:
    const Deadline deadline_;
    const Deadline **limit_ = nullptr;  // its place; only in the outermost object
};

// While it lives, the thread counts as outside of any call: it works for others, and each wait has
// the full time of SENNIT_TIMEOUT even if the time of the call is over.
class NoCall {
  public:
    NoCall();
    ~NoCall();
    NoCall(const NoCall &) = delete;
    NoCall &operator=(const NoCall &) = delete;

  private:
    const Deadline **limit_;
    const Deadline *saved_ = nullptr;
};

}  // namespace sennit
