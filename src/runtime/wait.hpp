// SPDX-License-Identifier: BSD-3-Clause
// The one way to wait. Poll a little, then yield, then sleep on the rank's doorbell; make progress
// all the while; end with the deadline or with the death of the peer.
//
// Whoever changes a word that a rank of the node may be waiting for calls ring_doorbell() on that
// rank's control block afterwards. Setter and sleeper each store, fence, and then load the other's
// word, so at least one of them sees the other (Dekker):
//   setter:  word = value        ; store_load_fence ; if sleepers != 0: rings += 1, wake
//   sleeper: sleepers += 1       ; store_load_fence ; if word is not ready: sleep while rings ==
//   seen
// A setter that sets very often may leave its fence to the sleeper, which then makes one for all
// processors (store_and_ring_lightly).
#pragma once

#include "base/clock.hpp"
#include "observe/observer.hpp"
#include "rank/rank.hpp"
#include "runtime/detector.hpp"

namespace sennit {

inline constexpr int kAnyPeer = -1;

[[gnu::cold, gnu::noinline]] void ring_sleepers(Doorbell &bell);

// After the store that somebody may wait for.
inline void ring_doorbell(ControlBlock &target) {
    // SYNC doorbell: pairs with the fence in announce_sleep(); the store before the look at
    // sleepers.
    store_load_fence();
    // relaxed: the fence above orders it after the store; a sleeper that is missed here has not yet
    // looked at the word, and its own fence makes it see the store.
    if (target.doorbell.sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
        ring_sleepers(target.doorbell);
}

// The store and the bell in one: for words of 64 bits that are handed over often. Not by an
// exchange, which would be the fence too: it waits for the stores before it, so two lines of the
// peer's would come one after the other instead of together (on an Intel Xeon 343 ns in place of
// 193).
inline void store_and_ring(std::atomic<std::uint64_t> &word, std::uint64_t value,
                           ControlBlock &target) {
    // SYNC doorbell: the release is for who polls the word, in the pair that the caller names.
    word.store(value, std::memory_order_release);
    ring_doorbell(target);
}

// The same without a fence, where the owner of the bell sleeps with a barrier for all processors
// (Rank::sleeps_with_barrier) and this process has joined those.
inline void store_and_ring_lightly(std::atomic<std::uint64_t> &word, std::uint64_t value,
                                   ControlBlock &target) {
    // SYNC doorbell: pairs with the barrier in announce_sleep(), which stands for a fence here
    // between the store and the look at sleepers; the release is for who polls the word.
    word.store(value, std::memory_order_release);
    store_load_in_program_order();
    // relaxed: the barrier in announce_sleep() orders it after the store; a sleeper that is missed
    // has not looked at the word yet and will see the store.
    if (target.doorbell.sleepers.load(std::memory_order_relaxed) != 0) [[unlikely]]
        ring_sleepers(target.doorbell);
}

// From now on the rank sleeps so, and its process takes part in the barriers of others. Before a
// peer is told of it. Needs the cold mutex. False: the kernel has no such barrier.
bool sleep_with_barrier(Rank &rank);

// The end of a wait that polled, where a progress thread has left the rank alone for it.
[[gnu::cold, gnu::noinline]] void ring_progress_thread(int descriptor);

// For every call that looks once and has found nothing. Where ranks share processors, every few of
// them give the processor away: a program that polls keeps the rank from running that it polls for.
[[gnu::cold, gnu::noinline]] void count_fruitless_poll(Rank &rank);
inline void note_fruitless_poll(Rank &rank) {
    if (rank.shares_processors && !rank.progress_yields) [[unlikely]]
        count_fruitless_poll(rank);
}

// Finds a rank whose end makes a wait senseless: its number, or -1. Asked about once a millisecond,
// and at the end of some waits that are shorter.
struct LostSearch {
    int (*find)(Rank &rank, const void *context);
    const void *context;
};

// The steps of a wait after polling has not helped. Used by wait_until only.
class WaitLoop {
  public:
    WaitLoop(Rank &rank, const Deadline &deadline, const LostSearch &search);
    ~WaitLoop() {
        if (polls_paths_) end_polling();
    }
    WaitLoop(const WaitLoop &) = delete;
    WaitLoop &operator=(const WaitLoop &) = delete;

    enum class Step { again, sleep, timed_out, lost };
    // Yields or progresses, and says what to do next. `lost` and `timed_out` end the wait, unless
    // the word turns out to be ready.
    Step step();

    void announce_sleep();  // then look at the word once more
    void sleep();           // returns announced state taken back
    void cancel_sleep();

    // Reports the end of the wait to the caller.
    sennit_status result(Step step);

  private:
    void end_polling();
    // Counts the yields that were back at once; true when there have been too many.
    bool yields_reach_nobody(std::int64_t now);

    Rank &rank_;
    Deadline deadline_;
    LostSearch search_;
    int lost_ = -1;
    std::int64_t started_ns_;
    std::int64_t checked_ns_;
    std::int64_t stepped_ns_;  // the last step, or the end of a sleep
    std::int64_t tick_ns_;
    unsigned idle_yields_ = 0;  // in a row
    unsigned looks_ = 0;
    bool polls_paths_;
    std::uint32_t rings_seen_ = 0;
};

template <class Ready>
sennit_status wait_unobserved(Rank &rank, const Deadline &deadline, const LostSearch &search,
                              Ready &ready) {
    constexpr unsigned kPollsPerLook = 64;  // at the clock
    for (unsigned i = 0; i < rank.spins; ++i) {
        if (ready()) return SENNIT_OK;
        cpu_pause();
        if (i % kPollsPerLook == kPollsPerLook - 1 && deadline.over()) break;
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

// Notes the wait, if it is one.
template <class Ready>
[[gnu::cold, gnu::noinline]] sennit_status wait_observed(Rank &rank, const Deadline &deadline,
                                                         const LostSearch &search, Ready &ready) {
    if (ready()) return SENNIT_OK;
    const runtime::Observed wait(rank, "wait", runtime::kNobody, 0, runtime::Noted::wait);
    return wait_unobserved(rank, deadline, search, ready);
}

// Waits until ready() is true; ready() must load with acquire what it looks at.
// Errors: TIMEOUT, PEER_LOST, naming the rank that the search found.
template <class Ready>
inline sennit_status wait_until(Rank &rank, const Deadline &deadline, const LostSearch &search,
                                Ready ready) {
    if (rank.observer != nullptr) [[unlikely]]
        return wait_observed(rank, deadline, search, ready);
    return wait_unobserved(rank, deadline, search, ready);
}

// The same where `peer` is the rank whose end makes waiting senseless, or kAnyPeer when the death
// of any rank does.
template <class Ready>
sennit_status wait_until(Rank &rank, const Deadline &deadline, int peer, Ready ready) {
    return wait_until(rank, deadline, LostSearch{find_lost, &peer}, ready);
}

// The bound of waits in calls that take no timeout: the knob SENNIT_TIMEOUT.
Deadline default_deadline();

}  // namespace sennit
