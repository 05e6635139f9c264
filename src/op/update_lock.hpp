// SPDX-License-Identifier: BSD-3-Clause
// The lock of a segment of SENNIT_ALLOC_ACCUMULATE, under which atomic operations change its memory
// by plain instructions. Called by op/atomic.cpp and op/task.cpp. The lock is stored after the
// segment's last byte (rank/control_block.hpp). docs/design/atomics.md has states and failures;
// tests/models/update_lock.pml is the model.
#pragma once

#include "base/clock.hpp"
#include "rank/rank.hpp"

namespace sennit::op {

inline UpdateLock &update_lock_of(std::byte *base, std::uint64_t bytes) {
    return *reinterpret_cast<UpdateLock *>(base + update_lock_offset(bytes));
}

inline std::uint32_t mark_of(const Rank &rank) {
    return static_cast<std::uint32_t>(rank.world_rank) + 1;
}

// Takes the lock if it is free.
inline bool try_update_lock(const Rank &rank, UpdateLock &lock) {
    std::uint32_t free = 0;
    // SYNC update-lock: pairs with the release in release_update_lock(); the last holder's stores
    // come before. relaxed on failure: the caller tries again.
    return lock.holder.compare_exchange_strong(free, mark_of(rank), std::memory_order_acquire,
                                               std::memory_order_relaxed);
}

inline void release_update_lock(UpdateLock &lock) {
    // SYNC update-lock: pairs with the acquires in try_update_lock() and take_from_dead(); the
    // stores to the segment come before.
    lock.holder.store(0, std::memory_order_release);
}

// Waits for the lock, or takes it from a dead rank. Makes progress meanwhile. Errors: TIMEOUT,
// naming the holder.
sennit_status wait_for_update_lock(Rank &rank, UpdateLock &lock, const Deadline &deadline);

// The same for progress, which must not wait: tries for some microseconds. False: a live rank holds
// the lock.
bool try_update_lock_briefly(Rank &rank, UpdateLock &lock);

}  // namespace sennit::op
