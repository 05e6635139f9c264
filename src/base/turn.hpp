// SPDX-License-Identifier: BSD-3-Clause
// Something of a rank that its threads use in turns: a team's tables, a queue of calls. Where only
// one thread of a rank is in Sennit at a time the turn costs a load and a store; a word that only
// guards against nested use. Owned by what it guards.
#pragma once

#include <atomic>

namespace sennit {

class Turn {
  public:
    // Before any use: may two threads of the rank come at the same time?
    void set_shared(bool is_shared) { is_shared_ = is_shared; }

    // False: somebody has it.
    bool try_take() {
        // SYNC turn: pairs with the release in give_back(); what the last thread did to the object.
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
