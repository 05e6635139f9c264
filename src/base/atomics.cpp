// SPDX-License-Identifier: BSD-3-Clause
// The futex and membarrier system calls behind atomics.hpp.
#include "base/atomics.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace sennit {

void futex_wait(const std::atomic<std::uint32_t> *word, std::uint32_t expected,
                std::int64_t timeout_ns) {
    if (timeout_ns <= 0) return;
    timespec limit{};
    limit.tv_sec = static_cast<time_t>(timeout_ns / 1000000000);
    limit.tv_nsec = static_cast<long>(timeout_ns % 1000000000);
    // Not FUTEX_PRIVATE: the word is in memory that other processes map.
    (void)syscall(SYS_futex, reinterpret_cast<const std::uint32_t *>(word), FUTEX_WAIT, expected,
                  &limit, nullptr, 0);
}

void futex_wake_all(const std::atomic<std::uint32_t> *word) {
    (void)syscall(SYS_futex, reinterpret_cast<const std::uint32_t *>(word), FUTEX_WAKE, INT_MAX,
                  nullptr, nullptr, 0);
}

bool join_barriers() {
    constexpr long kNeeded =
        MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
    if ((syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0) & kNeeded) != kNeeded) return false;
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void barrier_everywhere() {
    (void)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

}  // namespace sennit
