// SPDX-License-Identifier: BSD-3-Clause
// Waits for a condition that another rank or progress makes true. A wait polls, then yields, then
// sleeps on the rank's doorbell, and makes progress meanwhile. It also ends at its deadline or if
// the peer has died.
//
// After a rank has changed a word for which another rank of the node may wait, it calls
// ring_doorbell() on that rank's control block. Setter and sleeper each store, fence, and then load
// the other's word, so at least one of them sees the other (Dekker):
//   setter:  word = value  ; store_load_fence ; if sleepers != 0: rings += 1, wake
//   sleeper: sleepers += 1 ; store_load_fence ; if word is not ready: sleep while rings == seen
// If the sleeper makes a fence for all processors (membarrier), the setter needs no fence of its
// own: store_and_ring_lightly().
#pragma once

#include "base/clock.hpp"
#include "observe/observer.hpp"
#include "rank/rank.hpp"
#include "runtime/detector.hpp"

namespace sennit {

inline constexpr int kAnyPeer = -1;

[[gnu::cold, gnu::noinline]] void ring_sleepers(Doorbell &bell);

// Called after a store for which another thread may wait.
inline void ring_doorbell(ControlBlock &target) {
    // SYNC doorbell: pairs with the fence in announce_sleep(); the store comes before the load of
    // sleepers.
    store_load_fence();
    // relaxed: the fence above orders it after the store. A sleeper that is missed here has not yet
    // loaded the word, and its own fence makes it see the store.
    if (target.doorbell.sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
        ring_sleepers(target.doorbell);
}

// Stores a 64-bit word that changes often, and rings the bell. An atomic exchange would be store
// and fence in one, but it waits for earlier stores: two cache lines of the peer would be fetched
// one after the other instead of together (343 ns instead of 193 ns on an Intel Xeon).
inline void store_and_ring(std::atomic<std::uint64_t> &word, std::uint64_t value,
                           ControlBlock &target) {
    // SYNC doorbell: the release is for pollers of the word, in the pair that the caller names.
    word.store(value, std::memory_order_release);
    ring_doorbell(target);
}

// Like store_and_ring(), but without a fence. Allowed only if the owner of the bell sleeps with a
// barrier for all processors (Rank::sleeps_with_barrier) and this process has called
// join_barriers().
inline void store_and_ring_lightly(std::atomic<std::uint64_t> &word, std::uint64_t value,
                                   ControlBlock &target) {
    // SYNC doorbell: pairs with the barrier in announce_sleep(), which replaces a fence here
    // between the store and the load of sleepers; the release is for pollers of the word.
    word.store(value, std::memory_order_release);
    store_load_in_program_order();
    // relaxed: the barrier in announce_sleep() orders it after the store; a sleeper that is missed
    // has not loaded the word yet and will see the store.
    if (target.doorbell.sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
        ring_sleepers(target.doorbell);
}

// From now on the rank makes a barrier for all processors before it sleeps, and its process takes
// part in the barriers of others. Called before any peer omits its fence, with the cold mutex held.
// False: the kernel has no such barrier.
bool sleep_with_barrier(Rank &rank);

// Called at the end of a polling wait if a progress thread has stopped because of it.
[[gnu::cold, gnu::noinline]] void ring_progress_thread(int descriptor);

// Called at the end of a call that has checked once and found nothing, or that returns
// SIGNAL_EARLY. If ranks share processors, one in several such calls yields: otherwise a polling
// program would keep the awaited rank from running.
[[gnu::cold, gnu::noinline]] void count_fruitless_poll(Rank &rank);
inline void note_fruitless_poll(Rank &rank) {
    if (rank.shares_processors && !rank.progress_yields) [[unlikely]]
        count_fruitless_poll(rank);
}

// `find` returns a rank that has ended and for which the wait would wait forever, or -1. It is
// called about once a millisecond, and at the end of some shorter waits. Null: the wait depends on
// no rank.
struct LostSearch {
    int (*find)(Rank &rank, const void *context);
    const void *context;
    // Logs that the wait has lasted `seconds`, and which ranks are late. Null: no warning.
    void (*warn)(Rank &rank, const void *context, int seconds) = nullptr;
};

// Whether a wait that has lasted this long logs a warning. Each warning triples the time that a
// wait of the rank must last before it warns: a program may have long waits on purpose.
bool is_warning_due(Rank &rank, std::int64_t lasted_ns, std::int64_t left_ns);

// The steps of a wait after unsuccessful polling. Used only by wait_until.
class WaitLoop {
  public:
    WaitLoop(Rank &rank, const Deadline &deadline, const LostSearch &search);
    ~WaitLoop() {
        if (polls_paths_) end_polling();
    }
    WaitLoop(const WaitLoop &) = delete;
    WaitLoop &operator=(const WaitLoop &) = delete;

    enum class Step { again, sleep, timed_out, lost };
    // Makes progress, perhaps yields, and returns the next step. `lost` and `timed_out` end the
    // wait, unless the awaited condition has become true.
    Step step();

    void announce_sleep();  // the caller then checks the word once more
    void sleep();           // withdraws the announcement on return
    void cancel_sleep();

    // For `timed_out` and `lost`: sets the thread's error.
    sennit_status result(Step step);

  private:
    void end_polling();
    // Counts yields that returned at once; true: too many in a row.
    bool yields_reach_nobody(std::int64_t now);

    Rank &rank_;
    Deadline deadline_;
    LostSearch search_;
    int lost_ = -1;
    std::int64_t started_ns_;
    std::int64_t checked_ns_;
    std::int64_t stepped_ns_;  // time of the last step or of the end of a sleep
    std::int64_t tick_ns_;
    unsigned idle_yields_ = 0;  // in a row
    unsigned steps_ = 0;
    bool polls_paths_;
    std::uint32_t rings_seen_ = 0;
};

template <class Ready>
sennit_status wait_unobserved(Rank &rank, const Deadline &deadline, const LostSearch &search,
                              Ready &ready) {
    constexpr unsigned kPollsPerClock = 64;  // polls per reading of the clock
    for (unsigned i = 0; i < rank.spins; ++i) {
        if (ready()) return SENNIT_OK;
        cpu_pause();
        if (i % kPollsPerClock == kPollsPerClock - 1 && deadline.over()) break;
    }
    make_progress(rank);
    if (ready()) return SENNIT_OK;
    WaitLoop loop(rank, deadline, search);
    for (;;) {
        const WaitLoop::Step step = loop.step();
        if (ready()) return SENNIT_OK;
        if (step == WaitLoop::Step::again) continue;
        if (step != WaitLoop::Step::sleep) return loop.result(step);
        loop.announce_sleep();
        if (ready()) {
            loop.cancel_sleep();
            return SENNIT_OK;
        }
        loop.sleep();
    }
}

// Records the wait, unless ready() is true at once.
template <class Ready>
[[gnu::cold, gnu::noinline]] sennit_status wait_observed(Rank &rank, const Deadline &deadline,
                                                         const LostSearch &search, Ready &ready) {
    if (ready()) return SENNIT_OK;
    const runtime::Observed wait(rank, "wait", runtime::kNobody, 0, runtime::Noted::wait);
    return wait_unobserved(rank, deadline, search, ready);
}

// Waits until ready() is true; ready() must use acquire loads. Errors: TIMEOUT, PEER_LOST, naming
// the rank that the search found.
template <class Ready>
inline sennit_status wait_until(Rank &rank, const Deadline &deadline, const LostSearch &search,
                                Ready ready) {
    if (rank.observer != nullptr) [[unlikely]]
        return wait_observed(rank, deadline, search, ready);
    return wait_unobserved(rank, deadline, search, ready);
}

// wait_until() for one rank: the wait ends with PEER_LOST if `peer` ends or, with kAnyPeer, if any
// rank dies.
template <class Ready>
sennit_status wait_until(Rank &rank, const Deadline &deadline, int peer, Ready ready) {
    return wait_until(rank, deadline, LostSearch{find_lost, &peer}, ready);
}

// The limit of a wait in a call without a timeout: the knob SENNIT_TIMEOUT, from now or from the
// start of the call (WholeCall).
Deadline default_deadline();

}  // namespace sennit
