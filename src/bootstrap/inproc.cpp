// SPDX-License-Identifier: BSD-3-Clause
// The bootstrap for ranks that are threads of one process: they meet on a mutex and a condition.
// The program makes it before the threads start; it outlives them.
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

// One meeting at a time. `arrived` ranks have given their part of meeting `number`; the last one
// increments `number`. The next meeting can not start before all ranks of the last have left it
// (`leaving`).
struct Meeting {
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
struct Seat {
    Meeting *meeting = nullptr;
    int rank = 0;
    bool in_use = false;
};

// The limit of a rank's wait in a meeting, and its warnings meanwhile.
struct Patience {
    Deadline deadline;
    bool warns = false;  // only the rank that came first warns
    LateNotice notice{};
};

// False: timeout.
bool wait_changed(Meeting &meeting, Patience &patience) {
    if (patience.warns) patience.notice.warn_if_due("inproc");
    if (patience.deadline.over()) return false;
    (void)meeting.changed.wait(meeting.lock, patience.notice.next(patience.deadline));
    return true;
}

bool make_room(Meeting &meeting, std::size_t bytes) {
    const std::size_t needed = bytes * static_cast<std::size_t>(meeting.size);
    if (needed <= meeting.room) return true;
    void *grown = std::realloc(meeting.parts, needed);
    if (grown == nullptr) return false;
    meeting.parts = static_cast<unsigned char *>(grown);
    meeting.room = needed;
    return true;
}

int give_up(Meeting &meeting, int code) {
    meeting.broken = true;
    meeting.changed.wake_all();
    return code;
}

enum Code : int { kOk = 0, kBroken = 1, kSizesDiffer = 2, kNoMemory = 3, kTimeout = 4 };

int meet(void *context, const void *mine, void *all, std::size_t bytes, std::int64_t timeout_ns) {
    Seat &seat = *static_cast<Seat *>(context);
    Meeting &meeting = *seat.meeting;
    Patience patience{Deadline::after(timeout_ns)};
    const MutexLock lock(meeting.lock);
    while (meeting.leaving > 0 && !meeting.broken)
        if (!wait_changed(meeting, patience)) return give_up(meeting, kTimeout);
    if (meeting.broken) return give_up(meeting, kBroken);
    if (meeting.arrived == 0) {
        if (!make_room(meeting, bytes)) return give_up(meeting, kNoMemory);
        meeting.bytes = bytes;
    } else if (meeting.bytes != bytes) {
        return give_up(meeting, kSizesDiffer);
    }
    if (bytes > 0)
        std::memcpy(meeting.parts + bytes * static_cast<std::size_t>(seat.rank), mine, bytes);
    const std::uint64_t number = meeting.number;
    patience.warns = meeting.arrived == 0;
    if (++meeting.arrived == meeting.size) {
        meeting.arrived = 0;
        meeting.leaving = meeting.size;
        ++meeting.number;
        meeting.changed.wake_all();
    }
    while (meeting.number == number && !meeting.broken)
        if (!wait_changed(meeting, patience)) return give_up(meeting, kTimeout);
    if (meeting.number == number) return give_up(meeting, kBroken);
    if (bytes > 0) std::memcpy(all, meeting.parts, bytes * static_cast<std::size_t>(meeting.size));
    if (--meeting.leaving == 0) meeting.changed.wake_all();
    return kOk;
}

int meet_for_nothing(void *context, std::int64_t timeout_ns) {
    return meet(context, nullptr, nullptr, 0, timeout_ns);
}

void leave(void *context) {
    Seat &seat = *static_cast<Seat *>(context);
    const MutexLock lock(seat.meeting->lock);
    if (seat.in_use) --seat.meeting->in_use;
    seat.in_use = false;
}

}  // namespace

bool inproc_bootstrap_take(const sennit_bootstrap &bootstrap) {
    if (bootstrap.release != leave) return true;
    Seat &seat = *static_cast<Seat *>(bootstrap.context);
    const MutexLock lock(seat.meeting->lock);
    if (seat.in_use) return false;
    seat.in_use = true;
    // The first rank of a new world removes what a failed one left.
    if (seat.meeting->in_use++ == 0) {
        seat.meeting->broken = false;
        seat.meeting->arrived = 0;
        seat.meeting->leaving = 0;
    }
    return true;
}

sennit_status inproc_bootstrap_create(int size, sennit_bootstrap bootstraps[]) {
    if (bootstraps == nullptr) return fail(SENNIT_ERR_ARG, "bootstraps is null");
    if (size < 1 || size > kMostRanks)
        return fail(SENNIT_ERR_RANGE, "%d ranks asked for, 1 to %d are possible", size, kMostRanks);
    auto *meeting = new (std::nothrow) Meeting;
    auto *seats = new (std::nothrow) Seat[static_cast<std::size_t>(size)];
    if (meeting == nullptr || seats == nullptr) {
        delete meeting;
        delete[] seats;
        return fail(SENNIT_ERR_NOMEM, "no memory for %d bootstraps", size);
    }
    meeting->size = size;
    for (int rank = 0; rank < size; ++rank) {
        seats[rank] = Seat{meeting, rank, false};
        bootstraps[rank] =
            sennit_bootstrap{sizeof(sennit_bootstrap), "inproc", &seats[rank], rank, size, meet,
                             meet_for_nothing,         leave};
    }
    return SENNIT_OK;
}

sennit_status inproc_bootstrap_destroy(int size, sennit_bootstrap bootstraps[]) {
    if (bootstraps == nullptr || size < 1 || bootstraps[0].release != leave ||
        bootstraps[0].size != size || bootstraps[0].rank != 0)
        return fail(SENNIT_ERR_ARG, "these are not the bootstraps that were created together");
    auto *seats = static_cast<Seat *>(bootstraps[0].context);
    Meeting *meeting = seats[0].meeting;
    (void)pthread_mutex_lock(&meeting->lock);
    const int in_use = meeting->in_use;
    (void)pthread_mutex_unlock(&meeting->lock);
    if (in_use > 0)
        return fail(SENNIT_ERR_STATE,
                    in_use == 1 ? "%d rank has not finalized" : "%d ranks have not finalized",
                    in_use);
    std::free(meeting->parts);
    delete meeting;
    delete[] seats;
    for (int rank = 0; rank < size; ++rank)
        bootstraps[rank] = sennit_bootstrap{};
    return SENNIT_OK;
}

}  // namespace sennit::runtime
