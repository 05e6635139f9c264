// For ranks that are threads of a job in lockstep, of which one runs at a time. On one processor
// the turn goes on by a change of threads; on several it wakes a processor that sleeps, which takes
// twenty times as long where the machine is a virtual one.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <string>

namespace sennit::test {

// While it lives, threads that the caller makes run on one of the caller's processors, which is not
// the same in all processes. If the kernel refuses, they run everywhere.
class OneProcessor {
  public:
    explicit OneProcessor(bool wanted) {
        is_kept_ = wanted && sched_getaffinity(0, sizeof before_, &before_) == 0;
        if (!is_kept_) return;
        int skip = getpid() % CPU_COUNT(&before_);
        for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
            if (!CPU_ISSET(processor, &before_) || skip-- != 0) continue;
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(processor, &one);
            is_kept_ = sched_setaffinity(0, sizeof one, &one) == 0;
            return;
        }
    }
    ~OneProcessor() {
        if (is_kept_) (void)sched_setaffinity(0, sizeof before_, &before_);
    }
    OneProcessor(const OneProcessor &) = delete;
    OneProcessor &operator=(const OneProcessor &) = delete;

  private:
    cpu_set_t before_{};
    bool is_kept_ = false;
};

// Whether these paths (as in SENNIT_PATHS) have ranks in lockstep.
inline bool is_in_lockstep(const std::string &paths) {
    return paths.find("lockstep=1") != std::string::npos;
}

}  // namespace sennit::test
