// SPDX-License-Identifier: BSD-3-Clause
// The time limit of a call with several waits, in the thread's record (base/thread_limit.hpp).
#pragma once

#include "base/clock.hpp"

namespace sennit {

// While an object exists, default_deadline() of this thread is one point in time, so that all waits
// of the call together take at most SENNIT_TIMEOUT. If objects are nested, the outermost one sets
// the limit. Without memory for the thread's record each wait has the full time.
class WholeCall {
  public:
    WholeCall();
    ~WholeCall();
    WholeCall(const WholeCall &) = delete;
    WholeCall &operator=(const WholeCall &) = delete;

  private:
    const Deadline deadline_;
    const Deadline **limit_ = nullptr;  // the place in the thread's record; outermost object only
};

// While an object exists, the thread counts as outside of any call: it works for other ranks, and
// each wait has the full time of SENNIT_TIMEOUT even if the time of the call is over.
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
