// SPDX-License-Identifier: BSD-3-Clause
#include "op/update_lock.hpp"

#include "base/fail.hpp"
#include "runtime/wait.hpp"

namespace sennit::op {
namespace {

constexpr int kBriefTries = 256;

// The value of the lock's word if its holder is dead; else 0.
std::uint32_t dead_holder(Rank &rank, const UpdateLock &lock) {
    // relaxed: the exchange in take_from_dead() acquires.
    const std::uint32_t holder = lock.holder.load(std::memory_order_relaxed);
    if (holder == 0) return 0;
    return peer_gone(rank, static_cast<int>(holder) - 1) != Gone::no ? holder : 0;
}

// False: another rank was faster. The compare is safe, since a dead rank never takes the lock
// again.
bool take_from_dead(const Rank &rank, UpdateLock &lock, std::uint32_t dead) {
    // SYNC update-lock: pairs with the release in release_update_lock(), for stores of holders
    // before the dead one; the dead one's own stores ended with its process. relaxed on failure:
    // the caller tries again.
    return lock.holder.compare_exchange_strong(dead, mark_of(rank), std::memory_order_acquire,
                                               std::memory_order_relaxed);
}

struct HolderWatch {
    UpdateLock *lock;
    mutable std::uint32_t dead;
};

// A LostSearch that finds no rank, but sets `dead`.
int check_holder(Rank &rank, const void *context) {
    const HolderWatch &watch = *static_cast<const HolderWatch *>(context);
    watch.dead = dead_holder(rank, *watch.lock);
    return -1;
}

}  // namespace

sennit_status wait_for_update_lock(Rank &rank, UpdateLock &lock, const Deadline &deadline) {
    for (;;) {
        const HolderWatch watch{&lock, 0};
        bool got = false;
        const sennit_status status =
            wait_until(rank, deadline, LostSearch{check_holder, &watch}, [&] {
                got = watch.dead == 0 && try_update_lock(rank, lock);
                return got || watch.dead != 0;
            });
        if (got) return SENNIT_OK;
        if (status != SENNIT_OK) {
            // relaxed: for the message only.
            const std::uint32_t holder = lock.holder.load(std::memory_order_relaxed);
            return fail(status, "rank %d did not end its accumulate before the timeout",
                        static_cast<int>(holder) - 1);
        }
        if (take_from_dead(rank, lock, watch.dead)) return SENNIT_OK;
    }
}

bool try_update_lock_briefly(Rank &rank, UpdateLock &lock) {
    for (int i = 0; i < kBriefTries; ++i) {
        if (try_update_lock(rank, lock)) return true;
        cpu_pause();
    }
    const std::uint32_t dead = dead_holder(rank, lock);
    return dead != 0 && take_from_dead(rank, lock, dead);
}

}  // namespace sennit::op
