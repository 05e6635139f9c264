// SPDX-License-Identifier: BSD-3-Clause
// The slow part of waiting. A sleep and a wake from another core take tens of microseconds, a yield
// about one (docs/design/waiting.md has the figures). So a wait yields for the time of several
// sleeps before its first sleep. A wait for a rank on the same core usually ends within a few
// yields.
#include "runtime/wait.hpp"

#include <sched.h>
#include <unistd.h>

#include "base/fail.hpp"
#include "base/knobs.hpp"
#include "base/thread_limit.hpp"
#include "runtime/detector.hpp"
#include "runtime/whole_call.hpp"

namespace sennit {
namespace {

// Both count from the making of the WaitLoop. Until kBusyNs, a rank that polls paths and shares no
// processor does not yield. Until kYieldNs, a wait yields instead of sleeping.
constexpr std::int64_t kBusyNs = 100'000;
constexpr std::int64_t kYieldNs = 500'000;

constexpr std::int64_t kCheckNs = 1'000'000;      // interval of checks for dead peers
constexpr std::int64_t kFirstTickNs = 1'000'000;  // the first sleep
// A sleep shorter than this is doubled for the next time, so sleeps reach 16 ms. That limits the
// delay of detecting a death.
constexpr std::int64_t kLastTickNs = 10'000'000;
// A yield that returns within kAtOnceNs gave the processor to nobody. If ranks share processors,
// kIdleYields such yields in a row show that the other ranks are in other scheduling groups. A
// yield does not reach these groups; only a sleep lets them run.
constexpr std::int64_t kAtOnceNs = 2'000;
constexpr unsigned kIdleYields = 16;

// About one of this many waits that time out before kCheckNs checks for dead peers. So a program
// with only short waits also learns of a death.
constexpr std::uint32_t kShortWaitsPerCheck = 64;

// A wait with less than this left does not warn, because its error will have the same text. Callers
// that repeat waits of 10 s and warn themselves rely on this.
constexpr std::int64_t kEndsSoonNs = 100'000'000;

// Whether this short wait checks for dead peers. The choice follows the fractional parts of
// multiples of the golden ratio, so no pattern in the program's waits can always miss it.
bool is_turn_to_check(Rank &rank) {
    constexpr std::uint32_t kGolden = 2654435769;
    // relaxed: a rough count.
    const std::uint32_t count = rank.short_waits.fetch_add(1, std::memory_order_relaxed);
    return count * kGolden < UINT32_MAX / kShortWaitsPerCheck;
}

// Only every eighth fruitless poll yields: a yield takes about a microsecond even if nobody else is
// ready, and the program may have work of its own between two polls.
constexpr std::uint32_t kPollsPerYield = 8;
// A rank that polls paths and shares no processor reads the clock only once per this many polls.
constexpr unsigned kStepsPerClock = 8;

}  // namespace

void count_fruitless_poll(Rank &rank) {
    // relaxed: a rough count.
    const std::uint32_t count = rank.fruitless_polls.fetch_add(1, std::memory_order_relaxed);
    if (count % kPollsPerYield == kPollsPerYield - 1) (void)sched_yield();
}

void ring_sleepers(Doorbell &bell) {
    // relaxed: the count only has to differ from the sleeper's; the futex call orders it.
    bell.rings.fetch_add(1, std::memory_order_relaxed);
    futex_wake_all(&bell.rings);
}

bool is_warning_due(Rank &rank, std::int64_t lasted_ns, std::int64_t left_ns) {
    // relaxed: a time that is a little late does no harm.
    if (lasted_ns < rank.warns_after_ns.load(std::memory_order_relaxed) || left_ns < kEndsSoonNs)
        return false;
    // relaxed: at worst two threads warn.
    rank.warns_after_ns.store(3 * lasted_ns, std::memory_order_relaxed);
    return true;
}

WaitLoop::WaitLoop(Rank &rank, const Deadline &deadline, const LostSearch &search)
    : rank_(rank),
      deadline_(deadline),
      search_(search),
      started_ns_(now_ns()),
      checked_ns_(started_ns_),
      stepped_ns_(started_ns_),
      tick_ns_(kFirstTickNs),
      // relaxed: hooks are added during start-up only.
      polls_paths_(rank.hook_count.load(std::memory_order_relaxed) != 0) {
    // Starts the caller's Deadline too, so that further waits of the caller share its time.
    deadline.start();
    deadline_ = deadline;
    // relaxed: a progress thread that sees it late polls once too often.
    if (polls_paths_)
        rank_.progress_bell.waits.fetch_add(ProgressBell::kBegun, std::memory_order_relaxed);
}

void WaitLoop::end_polling() {
    ProgressBell &bell = rank_.progress_bell;
    // SYNC progress-bell: pairs with the fence in leaves_to_caller(); the end of the wait comes
    // before the load of is_wanted.
    (void)add_at_once(bell.waits, UINT64_MAX);
    // relaxed twice: ordered by the addition, and only the thread that clears is_wanted rings.
    if (bell.is_wanted.load(std::memory_order_relaxed) &&
        bell.is_wanted.exchange(false, std::memory_order_relaxed))
        ring_progress_thread(bell.descriptor);
}

void ring_progress_thread(int descriptor) {
    const std::uint64_t one = 1;
    if (descriptor >= 0) (void)!write(descriptor, &one, sizeof one);
}

WaitLoop::Step WaitLoop::step() {
    make_progress(rank_);
    if (polls_paths_ && !rank_.shares_processors && steps_++ % kStepsPerClock != 0)
        return Step::again;
    const std::int64_t now = now_ns();
    const bool over = deadline_.over();
    if (now - checked_ns_ >= kCheckNs ||
        (over && checked_ns_ == started_ns_ && is_turn_to_check(rank_))) {
        checked_ns_ = now;
        if (search_.find != nullptr) lost_ = search_.find(rank_, search_.context);
        if (lost_ >= 0) return Step::lost;
        if (search_.warn != nullptr &&
            is_warning_due(rank_, now - started_ns_, deadline_.left_ns())) [[unlikely]]
            search_.warn(rank_, search_.context,
                         static_cast<int>((now - started_ns_) / 1'000'000'000));
    }
    if (over) {
        note_fruitless_poll(rank_);  // a wait without time is a poll
        return Step::timed_out;
    }
    // relaxed: hooks are added during start-up only.
    const bool must_poll = rank_.hook_count.load(std::memory_order_relaxed) != 0 ||
                           // relaxed: another thread's request is progressed by that thread.
                           rank_.polled_requests.load(std::memory_order_relaxed) != 0;
    const bool may_yield = now - started_ns_ < kYieldNs && !yields_reach_nobody(now);
    if (must_poll || may_yield) {
        const bool is_turn =
            !polls_paths_ || rank_.shares_processors || now - started_ns_ >= kBusyNs;
        if (!rank_.progress_yields && is_turn) (void)sched_yield();
        return Step::again;
    }
    return Step::sleep;
}

bool WaitLoop::yields_reach_nobody(std::int64_t now) {
    idle_yields_ = now - stepped_ns_ < kAtOnceNs ? idle_yields_ + 1 : 0;
    stepped_ns_ = now;
    return rank_.shares_processors && idle_yields_ > kIdleYields;
}

bool sleep_with_barrier(Rank &rank) {
    // relaxed: under the lock.
    if (rank.sleeps_with_barrier.load(std::memory_order_relaxed)) return true;
    const bool joined = join_barriers();
    // relaxed: no peer knows of it yet.
    if (joined) rank.sleeps_with_barrier.store(true, std::memory_order_relaxed);
    return joined;
}

void WaitLoop::announce_sleep() {
    Doorbell &bell = rank_.control->doorbell;
    // relaxed twice: store_load_fence() orders both before the caller's next load of its word.
    rings_seen_ = bell.rings.load(std::memory_order_relaxed);
    bell.sleepers.fetch_add(1, std::memory_order_relaxed);
    // SYNC doorbell: pairs with the fences in ring_doorbell(), store_and_ring() and
    // publish_arrival(); the sleeper is counted before the last load of its word.
    store_load_fence();
    // relaxed: set before a peer knows that this rank sleeps with a barrier.
    if (rank_.sleeps_with_barrier.load(std::memory_order_relaxed)) barrier_everywhere();
}

void WaitLoop::sleep() {
    Doorbell &bell = rank_.control->doorbell;
    const std::int64_t left = deadline_.left_ns();
    futex_wait(&bell.rings, rings_seen_, left < tick_ns_ ? left : tick_ns_);
    if (tick_ns_ < kLastTickNs) tick_ns_ *= 2;
    cancel_sleep();
    stepped_ns_ = now_ns();  // a sleep is no yield: the next step measures from here
}

void WaitLoop::cancel_sleep() {
    // relaxed: it only decides whether a setter wakes this rank, and an extra wake does no harm.
    rank_.control->doorbell.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

sennit_status WaitLoop::result(Step step) {
    if (step == Step::timed_out)
        return fail(SENNIT_ERR_TIMEOUT,
                    "the timeout has passed after %lld us (timeouts are in nanoseconds)",
                    static_cast<long long>((now_ns() - started_ns_) / 1000));
    return fail_lost(rank_, lost_);
}

WholeCall::WholeCall() : deadline_(default_deadline()) {
    if (deadline_.forever()) return;
    const Deadline **limit = make_thread_limit();
    if (limit == nullptr || *limit != nullptr) return;
    limit_ = limit;
    *limit = &deadline_;
}

WholeCall::~WholeCall() {
    if (limit_ != nullptr) *limit_ = nullptr;
}

NoCall::NoCall() : limit_(thread_limit()) {
    if (limit_ == nullptr) return;
    saved_ = *limit_;
    *limit_ = nullptr;
}

NoCall::~NoCall() {
    if (limit_ != nullptr) *limit_ = saved_;
}

Deadline default_deadline() {
    const Deadline *const *limit = thread_limit();
    if (limit != nullptr && *limit != nullptr) return **limit;
    const std::int64_t bound = runtime::knobs().timeout;
    return bound == 0 ? Deadline::never() : Deadline::after(bound);
}

}  // namespace sennit
