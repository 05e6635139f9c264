// SPDX-License-Identifier: BSD-3-Clause
// The protocol of the lock. docs/design/locks.md argues its correctness.
#include "lock/lock.hpp"

#include <cstdio>
#include <cstring>

#include "base/fail.hpp"
#include "lock/view.hpp"
#include "op/rma.hpp"
#include "request/request.hpp"
#include "runtime/wait.hpp"
#include "team/allocate.hpp"

namespace sennit::lock {
namespace {

// Admits one thread of the rank at a time.
class LockCall {
  public:
    LockCall(Rank &rank, sennit_lock lock) : status_(view.open(rank, lock)) {
        if (status_ != SENNIT_OK) return;
        // SYNC lock-turn: pairs with the release in the destructor; what the earlier call wrote
        // into the rank's own line comes before.
        if (view.own().busy.exchange(1, std::memory_order_acquire) == 0) {
            entered_ = true;
            return;
        }
        status_ =
            fail(SENNIT_ERR_STATE, "another thread of this rank is in a call of the same lock");
    }
    ~LockCall() {
        // SYNC lock-turn: pairs with the acquire in the constructor.
        if (entered_) view.own().busy.store(0, std::memory_order_release);
    }
    LockCall(const LockCall &) = delete;
    LockCall &operator=(const LockCall &) = delete;
    sennit_status status() const { return status_; }

    LockView view;

  private:
    sennit_status status_;
    bool entered_ = false;
};

bool holds(const LockView &view) {
    return holder_of(view.own().last_word) == view.self_mark();
}

// Stores the word with which this rank holds the lock. Errors: OWNER_DIED.
sennit_status note_acquired(LockView &view, std::uint64_t word) {
    view.own().last_word = word;
    if ((word & kLockDied) == 0) return SENNIT_OK;
    return fail(SENNIT_ERR_OWNER_DIED,
                "the lock is acquired from a rank that is gone: the data that it protects may be "
                "inconsistent");
}

// Takes the lock if it is free. *word is the expected value and becomes the real one. *got: whether
// the lock was taken.
sennit_status acquire_if_free(LockView &view, std::uint64_t *word, bool *got) {
    *got = false;
    while (holder_of(*word) == 0) {
        const std::uint64_t expected = *word;
        const std::uint64_t desired = next_word(expected, view.self_mark());
        const sennit_status status = view.compare_swap(word, desired);
        if (status != SENNIT_OK) return status;
        if (*word != expected) continue;
        *got = true;
        *word = desired;
        return SENNIT_OK;
    }
    return SENNIT_OK;
}

// For a word whose holder is gone: gives the lock to the first waiting rank, or to this rank if
// `or_self` and nobody waits. The caller loads the word to see the result.
sennit_status reassign_from_dead(LockView &view, std::uint64_t word, bool or_self) {
    std::uint32_t mark = 0;
    std::uint64_t ticket = 0;
    // All calls fail once the home has left.
    sennit_status status = view.check_home();
    if (status == SENNIT_OK) status = view.find_first(&mark, &ticket);
    if (status != SENNIT_OK) return status;
    const bool none = mark == 0;
    if (none && !or_self) return SENNIT_OK;
    if (none) mark = view.self_mark();
    const std::uint64_t expected = word;
    status = view.compare_swap(&word, next_word(expected, mark | kLockWaiters | kLockDied));
    if (status == SENNIT_OK && word == expected && mark != view.self_mark())
        view.grant_to(mark, ticket);
    return status;
}

// Joins the queue. *got: the lock was free after all, and this rank has it.
sennit_status join_queue(LockView &view, std::uint64_t *ticket, bool *got) {
    sennit_status status = view.add_one(offsetof(LockPiece, tickets), ticket);
    if (status != SENNIT_OK) return status;
    ++*ticket;
    status = view.set_waiting(*ticket);
    if (status != SENNIT_OK) return status;
    std::uint64_t word = 0;
    status = view.load_word(&word);
    while (status == SENNIT_OK) {
        status = acquire_if_free(view, &word, got);
        if (status != SENNIT_OK) break;
        if (*got) {
            view.own().last_word = word;
            return view.set_waiting(0);
        }
        const std::uint64_t expected = word;
        status = view.compare_swap(&word, next_word(expected, holder_of(expected) | kLockWaiters |
                                                                  (expected & kLockDied)));
        if (status == SENNIT_OK && word == expected) return SENNIT_OK;
    }
    return status;
}

// A rank that waits for its grant. It also checks the word, about once a millisecond, since the
// rank that should grant the lock may have died.
struct Waiter {
    LockView *view;
    std::uint64_t ticket;
    mutable bool noticed;
    mutable sennit_status status;
    mutable std::uint32_t shown = 0;  // the holder that note_holder() has named last
};

bool has_grant(const Waiter &waiter) {
    // SYNC lock-grant: pairs with the release in LockView::grant_to(), or with the transport's
    // delivery.
    return waiter.view->grant().load(std::memory_order_acquire) == waiter.ticket;
}

// For `sennit trace where`.
void note_holder(Rank &rank, const Waiter &waiter, std::uint32_t holder) {
    if (rank.observer == nullptr || waiter.shown == holder) return;
    waiter.shown = holder;
    char text[64];
    (void)std::snprintf(text, sizeof text, "waits for a lock, which rank %d holds",
                        waiter.view->world_rank(holder - 1));
    runtime::note_text(rank, text);
}

int check_word(Rank &rank, const void *context) {
    const Waiter &waiter = *static_cast<const Waiter *>(context);
    std::uint64_t word = 0;
    waiter.status = waiter.view->load_word(&word);
    const std::uint32_t holder = holder_of(word);
    waiter.noticed = waiter.status != SENNIT_OK || holder == 0 ||
                     holder == waiter.view->self_mark() || waiter.view->is_gone(holder - 1);
    if (!waiter.noticed) note_holder(rank, waiter, holder);
    return -1;
}

// Leaves the queue. *got: this rank already has the lock.
sennit_status leave_queue(LockView &view, std::uint64_t *word, bool *got) {
    *got = false;
    sennit_status status = view.set_waiting(0);
    if (status == SENNIT_OK) status = view.load_word(word);
    while (status == SENNIT_OK) {
        if (holder_of(*word) == view.self_mark()) {
            *got = true;
            return SENNIT_OK;
        }
        const std::uint64_t expected = *word;
        // Counts a change: a rank that read the queue before must read it again.
        status = view.compare_swap(word, expected + kLockChange);
        if (status == SENNIT_OK && *word == expected) return SENNIT_OK;
    }
    return status;
}

// Waits in the queue with `waiter.ticket` until this rank has the lock or has left the queue.
sennit_status wait_in_queue(const Waiter &waiter, const Deadline &deadline) {
    LockView &view = *waiter.view;
    Rank &rank = view.rank();
    for (;;) {
        std::uint64_t word = 0;
        sennit_status status = view.load_word(&word);
        if (status != SENNIT_OK) return status;
        const std::uint32_t holder = holder_of(word);
        bool got = holder == view.self_mark();
        if (!got && holder == 0) status = acquire_if_free(view, &word, &got);
        if (status != SENNIT_OK) return status;
        if (got) {
            view.own().last_word = word;
            status = view.set_waiting(0);
            return status != SENNIT_OK ? status : note_acquired(view, word);
        }
        if (holder != 0 && view.is_gone(holder - 1)) {
            status = reassign_from_dead(view, word, false);
            if (status != SENNIT_OK) return status;
            continue;
        }
        waiter.noticed = false;
        status = wait_until(rank, deadline, LostSearch{check_word, &waiter},
                            [&] { return has_grant(waiter) || waiter.noticed; });
        if (waiter.noticed && waiter.status != SENNIT_OK) return waiter.status;
        if (status == SENNIT_OK) continue;
        const sennit_status left = leave_queue(view, &word, &got);
        if (left != SENNIT_OK) return left;
        if (got) return note_acquired(view, word);
        return fail(SENNIT_ERR_TIMEOUT, "the timeout has passed; rank %d holds the lock",
                    holder_of(word) == 0 ? -1 : view.world_rank(holder_of(word) - 1));
    }
}

// Takes the lock if it is free, or if its holder is gone and nobody waits. *got: whether the lock
// was taken. *word becomes the word with which this or another rank holds the lock.
sennit_status try_once(LockView &view, std::uint64_t *word, bool *got) {
    // The first guess is the stored word. If it says that the lock is free, no load is needed.
    *word = view.own().last_word;
    sennit_status status = SENNIT_OK;
    if (holder_of(*word) != 0) status = view.load_word(word);
    while (status == SENNIT_OK) {
        status = acquire_if_free(view, word, got);
        if (status != SENNIT_OK || *got || !view.is_gone(holder_of(*word) - 1)) return status;
        status = reassign_from_dead(view, *word, true);
        if (status == SENNIT_OK) status = view.load_word(word);
        *got = status == SENNIT_OK && holder_of(*word) == view.self_mark();
        if (*got) return status;
        // Another rank took the lock first, and may have released it since.
    }
    return status;
}

sennit_status held_already() {
    return fail(SENNIT_ERR_STATE, "this rank holds the lock already");
}

}  // namespace

sennit_status lock_create(Rank &rank, team::Team &team, sennit_status refused, sennit_lock *lock) {
    const int home = team.world_ranks[0];
    if (refused == SENNIT_OK && home != rank.world_rank && rank.peers[home].path == SENNIT_PATH_CMA)
        refused = fail_peer(
            SENNIT_ERR_UNSUPPORTED, home, "cma",
            "the kernel only copies from and to rank %d: locks there are not supported", home);
    team::AllocationArgs args;
    args.bytes = waiting_offset(team.size) + sizeof(std::int32_t) * std::uint64_t{team.size};
    args.alignment = kLineBytes;
    args.refused = refused;
    sennit_gptr gptr = SENNIT_GPTR_NULL;
    const sennit_status status = team::allocate(rank, team, args, &gptr);
    if (status != SENNIT_OK) return status;
    std::byte *base = op::reached(rank, gptr, args.bytes);
    auto *ranks = reinterpret_cast<std::int32_t *>(base + waiting_offset(team.size));
    for (std::uint32_t i = 0; i < team.size; ++i)
        ranks[i] = team.world_ranks[i];
    // Zeros in the shared words mean that the lock is free and no rank waits. So no rank has to
    // wait for the home to initialize them.
    LockOwn &own = reinterpret_cast<LockPiece *>(base)->own;
    own.size = team.size;
    own.rank = team.rank;
    own.home = team.world_ranks[0];
    own.magic = kLockMagic;
    // relaxed: this thread found the team by this handle.
    *lock = sennit_lock{gptr.segment, team.handle.load(std::memory_order_relaxed)};
    return SENNIT_OK;
}

sennit_status lock_acquire(Rank &rank, sennit_lock lock, const Deadline &deadline) {
    LockCall call(rank, lock);
    if (call.status() != SENNIT_OK) return call.status();
    LockView &view = call.view;
    if (holds(view)) return held_already();
    std::uint64_t word = 0;
    bool got = false;
    sennit_status status = try_once(view, &word, &got);
    if (status != SENNIT_OK) return status;
    if (got) return note_acquired(view, word);
    if (deadline.over()) {
        note_fruitless_poll(rank);
        return fail(SENNIT_ERR_TIMEOUT, "rank %d holds the lock",
                    view.world_rank(holder_of(word) - 1));
    }
    Waiter waiter{&view, 0, false, SENNIT_OK};
    status = join_queue(view, &waiter.ticket, &got);
    if (status != SENNIT_OK) return status;
    return got ? note_acquired(view, view.own().last_word) : wait_in_queue(waiter, deadline);
}

sennit_status lock_try(Rank &rank, sennit_lock lock, int *acquired) {
    LockCall call(rank, lock);
    if (call.status() != SENNIT_OK) return call.status();
    if (holds(call.view)) return held_already();
    std::uint64_t word = 0;
    bool got = false;
    const sennit_status status = try_once(call.view, &word, &got);
    if (status != SENNIT_OK) return status;
    if (!got) note_fruitless_poll(rank);
    *acquired = got ? 1 : 0;
    return got ? note_acquired(call.view, word) : SENNIT_OK;
}

sennit_status lock_release(Rank &rank, sennit_lock lock) {
    LockCall call(rank, lock);
    if (call.status() != SENNIT_OK) return call.status();
    LockView &view = call.view;
    if (!holds(view)) return fail(SENNIT_ERR_STATE, "this rank does not hold the lock");
    // Completes this rank's operations before the next rank gets the lock.
    sennit_status flushed = SENNIT_OK;
    if (rank.engine != nullptr) flushed = request::flush(rank, kAnyPeer, default_deadline());
    if (flushed == SENNIT_ERR_TIMEOUT) return flushed;
    const sennit_error flush_error = *thread_error();
    std::uint64_t word = view.own().last_word;
    for (;;) {
        std::uint32_t mark = 0;
        std::uint64_t ticket = 0;
        sennit_status status = SENNIT_OK;
        if ((word & kLockWaiters) != 0) status = view.find_first(&mark, &ticket);
        if (status != SENNIT_OK) return status;
        const std::uint64_t expected = word;
        const std::uint64_t desired = next_word(word, mark == 0 ? 0 : mark | kLockWaiters);
        status = view.compare_swap(&word, desired);
        if (status != SENNIT_OK) return status;
        if (word != expected) continue;
        view.own().last_word = desired;
        if (mark != 0) view.grant_to(mark, ticket);
        break;
    }
    if (flushed != SENNIT_OK) *thread_error() = flush_error;
    return flushed;
}

sennit_status lock_check_idle(Rank &rank, sennit_lock lock) {
    const LockCall call(rank, lock);
    if (call.status() != SENNIT_OK) return call.status();
    return holds(call.view) ? fail(SENNIT_ERR_STATE, "this rank holds the lock") : SENNIT_OK;
}

}  // namespace sennit::lock
