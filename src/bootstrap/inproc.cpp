// SPDX-License-Identifier: BSD-3-Clause
// The bootstrap for ranks that are threads of one process: collective calls by a mutex and a
// condition variable. The program makes it before the threads start and destroys it after their
// end.
#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/condition.hpp"
#include "base/fail.hpp"
#include "base/mutex.hpp"
#include "bootstrap/inproc.hpp"
#include "bootstrap/late_notice.hpp"

namespace sennit::runtime {
namespace {

constexpr int kMostRanks = 64;

// One allgather at a time; a barrier is an allgather without data. `arrived` ranks have given their
// part of allgather `number`; the last of them increments `number`. `leaving` ranks have not copied
// the result yet; the next allgather starts when there are none.
struct SharedAllgather {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    Condition changed;
    int size = 0;
    int arrived = 0;
    int leaving = 0;
    std::uint64_t number = 0;
    std::size_t bytes = 0;
    bool broken = false;  // sizes differed, or a rank waited too long; permanent
    unsigned char *parts = nullptr;
    std::size_t room = 0;
    int in_use = 0;  // ranks between init and finalize
};

// One per rank; its sennit_bootstrap points to it.
struct InprocRank {
    SharedAllgather *shared = nullptr;
    int rank = 0;
    bool in_use = false;
};

// The limit and the warnings of a rank's wait in an allgather.
struct WaitLimit {
    Deadline deadline;
    bool warns = false;  // only the first rank warns
    LateNotice notice{};
};

// False: timeout.
bool wait_changed(SharedAllgather &shared, WaitLimit &limit) {
    if (limit.warns) limit.notice.warn_if_due("inproc");
    if (limit.deadline.over()) return false;
    (void)shared.changed.wait(shared.lock, limit.notice.next(limit.deadline));
    return true;
}

bool make_room(SharedAllgather &shared, std::size_t bytes) {
    const std::size_t needed = bytes * static_cast<std::size_t>(shared.size);
    if (needed <= shared.room) return true;
    void *grown = std::realloc(shared.parts, needed);
    if (grown == nullptr) return false;
    shared.parts = static_cast<unsigned char *>(grown);
    shared.room = needed;
    return true;
}

int give_up(SharedAllgather &shared, int code) {
    shared.broken = true;
    shared.changed.wake_all();
    return code;
}

enum Code : int { kOk = 0, kBroken = 1, kSizesDiffer = 2, kNoMemory = 3, kTimeout = 4 };

int allgather(void *context, const void *mine, void *all, std::size_t bytes,
              std::int64_t timeout_ns) {
    InprocRank &own = *static_cast<InprocRank *>(context);
    SharedAllgather &shared = *own.shared;
    WaitLimit limit{Deadline::after(timeout_ns)};
    const MutexLock lock(shared.lock);
    while (shared.leaving > 0 && !shared.broken)
        if (!wait_changed(shared, limit)) return give_up(shared, kTimeout);
    if (shared.broken) return give_up(shared, kBroken);
    if (shared.arrived == 0) {
        if (!make_room(shared, bytes)) return give_up(shared, kNoMemory);
        shared.bytes = bytes;
    } else if (shared.bytes != bytes) {
        return give_up(shared, kSizesDiffer);
    }
    if (bytes > 0)
        std::memcpy(shared.parts + bytes * static_cast<std::size_t>(own.rank), mine, bytes);
    const std::uint64_t number = shared.number;
    limit.warns = shared.arrived == 0;
    if (++shared.arrived == shared.size) {
        shared.arrived = 0;
        shared.leaving = shared.size;
        ++shared.number;
        shared.changed.wake_all();
    }
    while (shared.number == number && !shared.broken)
        if (!wait_changed(shared, limit)) return give_up(shared, kTimeout);
    if (shared.number == number) return give_up(shared, kBroken);
    if (bytes > 0) std::memcpy(all, shared.parts, bytes * static_cast<std::size_t>(shared.size));
    if (--shared.leaving == 0) shared.changed.wake_all();
    return kOk;
}

int barrier(void *context, std::int64_t timeout_ns) {
    return allgather(context, nullptr, nullptr, 0, timeout_ns);
}

void leave(void *context) {
    InprocRank &own = *static_cast<InprocRank *>(context);
    const MutexLock lock(own.shared->lock);
    if (own.in_use) --own.shared->in_use;
    own.in_use = false;
}

}  // namespace

bool inproc_bootstrap_take(const sennit_bootstrap &bootstrap) {
    if (bootstrap.release != leave) return true;
    InprocRank &own = *static_cast<InprocRank *>(bootstrap.context);
    const MutexLock lock(own.shared->lock);
    if (own.in_use) return false;
    own.in_use = true;
    // The first rank of a new world resets the state that a failed one left.
    if (own.shared->in_use++ == 0) {
        own.shared->broken = false;
        own.shared->arrived = 0;
        own.shared->leaving = 0;
    }
    return true;
}

sennit_status inproc_bootstrap_create(int size, sennit_bootstrap bootstraps[]) {
    if (bootstraps == nullptr) return fail(SENNIT_ERR_ARG, "bootstraps is null");
    if (size < 1 || size > kMostRanks)
        return fail(SENNIT_ERR_RANGE, "%d ranks asked for, 1 to %d are possible", size, kMostRanks);
    auto *shared = new (std::nothrow) SharedAllgather;
    auto *ranks = new (std::nothrow) InprocRank[static_cast<std::size_t>(size)];
    if (shared == nullptr || ranks == nullptr) {
        delete shared;
        delete[] ranks;
        return fail(SENNIT_ERR_NOMEM, "no memory for %d bootstraps", size);
    }
    shared->size = size;
    for (int rank = 0; rank < size; ++rank) {
        ranks[rank] = InprocRank{shared, rank, false};
        bootstraps[rank] = sennit_bootstrap{sizeof(sennit_bootstrap),
                                            "inproc",
                                            &ranks[rank],
                                            rank,
                                            size,
                                            allgather,
                                            barrier,
                                            leave};
    }
    return SENNIT_OK;
}

sennit_status inproc_bootstrap_destroy(int size, sennit_bootstrap bootstraps[]) {
    if (bootstraps == nullptr || size < 1 || bootstraps[0].release != leave ||
        bootstraps[0].size != size || bootstraps[0].rank != 0)
        return fail(SENNIT_ERR_ARG, "these are not the bootstraps that were created together");
    auto *ranks = static_cast<InprocRank *>(bootstraps[0].context);
    SharedAllgather *shared = ranks[0].shared;
    (void)pthread_mutex_lock(&shared->lock);
    const int in_use = shared->in_use;
    (void)pthread_mutex_unlock(&shared->lock);
    if (in_use > 0)
        return fail(SENNIT_ERR_STATE,
                    in_use == 1 ? "%d rank has not finalized" : "%d ranks have not finalized",
                    in_use);
    std::free(shared->parts);
    delete shared;
    delete[] ranks;
    for (int rank = 0; rank < size; ++rank)
        bootstraps[rank] = sennit_bootstrap{};
    return SENNIT_OK;
}

}  // namespace sennit::runtime
