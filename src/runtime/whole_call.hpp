// The time limit of a call that waits more than once.
#pragma once

#include "base/clock.hpp"

namespace sennit {

// While it lives, default_deadline() of this thread is the same point in time, so that all waits of
// the call together last no longer than the knob SENNIT_TIMEOUT says. The outermost one counts.
class WholeCall {
  public:
    WholeCall();
    ~WholeCall();
    WholeCall(const WholeCall &) = delete;
    WholeCall &operator=(const WholeCall &) = delete;

  private:
    const Deadline deadline_;
    const bool is_outermost_;
};

}  // namespace sennit
