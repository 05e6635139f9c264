// For ranks that are threads of a job in lockstep, where one thread runs at a time. On one
// processor a turn ends with a switch of threads; on several it wakes a sleeping processor, which
// takes twenty times as long on a virtual machine.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <string>

namespace sennit::test {

// While it lives, the caller's new threads run on one of the caller's processors, chosen
// differently in each process. If the kernel refuses, they run everywhere.
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

// True if ranks on these paths (as in SENNIT_PATHS) run in lockstep.
inline bool is_in_lockstep(const std::string &paths) {
    return paths.find("lockstep=1") != std::string::npos;
}

}  // namespace sennit::test
