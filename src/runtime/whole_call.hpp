// SPDX-License-Identifier: BSD-3-Clause
// The time limit of a call that waits more than once. It stands in the thread's record
// (base/thread_limit.hpp).
#pragma once

#include "base/clock.hpp"

namespace sennit {

// While it lives, default_deadline() of this thread is the same point in time, so that all waits of
// the call together last no longer than the knob SENNIT_TIMEOUT says. The outermost one counts.
// Where there is no memory for the thread's record, each wait has the whole time.
class WholeCall {
  public:
    WholeCall();
    ~WholeCall();
    WholeCall(const WholeCall &) = delete;
    WholeCall &operator=(const WholeCall &) = delete;

  private:
    const Deadline deadline_;
    const Deadline **limit_ = nullptr;  // its place, of the outermost one alone
};

// While it lives, the thread is in no call: what it does meanwhile is for others, and has the whole
// time of SENNIT_TIMEOUT for each wait although the time of the call may be over.
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
