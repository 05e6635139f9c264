// SPDX-License-Identifier: BSD-3-Clause
// A lock for something that the threads of a rank use in turn: a team's tables, a queue of calls.
// If only one thread of the rank is in Sennit at a time, a turn costs a load and a store, and the
// word only guards against nested use. Owned by the object that it guards.
#pragma once

#include <atomic>

namespace sennit {

class Turn {
  public:
    // Called before the first use. `is_shared`: two threads of the rank may call try_take() at the
    // same time.
    void set_shared(bool is_shared) { is_shared_ = is_shared; }

    // False: another thread has the turn.
    bool try_take() {
        // SYNC turn: pairs with the release in give_back(); the last thread's changes of the object
        // come before.
        if (is_shared_) return !is_taken_.exchange(true, std::memory_order_acquire);
        // relaxed twice: the program orders the calls of its threads.
        if (is_taken_.load(std::memory_order_relaxed)) return false;
        is_taken_.store(true, std::memory_order_relaxed);
        return true;
    }
    void give_back() {
        // SYNC turn: pairs with the acquire in try_take().
        is_taken_.store(false, std::memory_order_release);
    }

  private:
    std::atomic<bool> is_taken_{false};
    bool is_shared_ = false;
};

}  // namespace sennit
