// A counter with which a rank or thread tells another that data in memory of both is ready: the
// code that a program without channels writes by hand. A counter has one writer, which only adds.
#pragma once

#include "cpu.hpp"

#include <sched.h>

#include <atomic>
#include <cstdint>

namespace apps {

class Counter {
  public:
    static constexpr std::size_t kLineBytes = 128;

    void add_one() {
        // relaxed: this rank alone writes it.
        const std::int64_t now = count_.load(std::memory_order_relaxed) + 1;
        // SYNC counter-by-hand: pairs with the acquire in wait_for(); publishes earlier stores.
        count_.store(now, std::memory_order_release);
    }
    // Polls. In a long wait it yields the processor now and then: there may be more ranks than
    // processors.
    void wait_for(std::int64_t count) const {
        for (unsigned turn = 1;; ++turn) {
            // SYNC counter-by-hand: pairs with the release in add_one(); what it published.
            if (count_.load(std::memory_order_acquire) >= count) return;
            if (turn % kTurnsBeforeYield == 0) {
                sched_yield();
            } else {
                sennit::bench::cpu_pause();
            }
        }
    }

  private:
    static constexpr unsigned kTurnsBeforeYield = 256;

    alignas(kLineBytes) std::atomic<std::int64_t> count_{0};
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);
static_assert(sizeof(Counter) == Counter::kLineBytes);

}  // namespace apps
