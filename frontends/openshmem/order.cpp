// Order and completion, barriers of all PEs, signals without data, and locks.
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "words.hpp"

namespace shmem {
namespace {

void fence(const char *call) {
    // SYNC shmem-word: a release fence; pairs with the acquires of words in wait.cpp and words.hpp.
    // If all operations are stores of this thread, the fence suffices.
    if (state.all_direct)
        std::atomic_thread_fence(std::memory_order_release);
    else
        must(call, sennit_fence());
}

// The length of the first part of a barrier. Only a longer barrier needs the name of its call, for
// warnings.
constexpr std::int64_t kUnnamed_ns = 1'000'000'000;

thread_local const char *barrier_call = nullptr;

// Waits for the rest of a barrier whose first part has timed out. Sennit warns if the rest is long.
[[gnu::cold, gnu::noinline]] void wait_longer(const char *call, sennit_team team,
                                              sennit_status status) {
    if (status == SENNIT_ERR_TIMEOUT && state.limit_ns > kUnnamed_ns) {
        barrier_call = call;
        status = sennit_barrier(
            team, state.limit_ns == SENNIT_FOREVER ? SENNIT_FOREVER : state.limit_ns - kUnnamed_ns);
        barrier_call = nullptr;
    }
    must(call, status);
}

}  // namespace

const char *long_barrier() {
    return barrier_call;
}

void quiet(const char *call) {
    // seq_cst: all PEs see the earlier stores of this PE before the loads that follow.
    if (state.all_direct)
        std::atomic_thread_fence(std::memory_order_seq_cst);
    else
        must(call, sennit_flush_all(state.limit_ns));
}

void barrier(const char *call, const Team &team) {
    const sennit_status status = sennit_barrier(team.core, std::min(state.limit_ns, kUnnamed_ns));
    if (status != SENNIT_OK) [[unlikely]]
        wait_longer(call, team.core, status);
}

void barrier_all(const char *call) {
    const sennit_status status =
        sennit_barrier(SENNIT_TEAM_WORLD, std::min(state.limit_ns, kUnnamed_ns));
    if (status != SENNIT_OK) [[unlikely]]
        wait_longer(call, SENNIT_TEAM_WORLD, status);
}

void take_turns() {
    sennit_request none = SENNIT_REQUEST_NULL;
    int done = 0;
    (void)sennit_test(&none, &done);
    if (state.crowded) sched_yield();
}

void Patience::wait() {
    take_turns();
    // The limit is a time and not a number of polls, because a poll may be a load or a kernel copy,
    // which is much slower. The clock is read only at every kPolls-th poll, because reading it
    // takes longer than a load.
    constexpr std::uint32_t kPolls = 64;
    constexpr double kAwakeSeconds = 0.02;
    if (++polls_ % kPolls != 0) return;
    const double now = sennit_wtime();
    if (asked_ == 0) began_ = asked_ = now;
    if (now < asked_ + kAwakeSeconds) return;
    if (state.traces && why_ != nullptr) {
        std::string text =
            "PE " + std::to_string(state.me) + " waits in " + call_ + ": " + why_(context_, false);
        if (text != noted_) (void)sennit_trace_note(text.c_str());
        noted_ = std::move(text);
    }
    // Long enough for Sennit to check for dead PEs.
    constexpr std::int64_t kMoment = 1'000'000;
    const auto never = [](void *) { return 0; };
    const sennit_status status = sennit_wait_until(never, nullptr, kMoment);
    if (status != SENNIT_ERR_TIMEOUT) must(call_, status);
    asked_ = sennit_wtime();
    if ((asked_ - began_) * 1e9 > static_cast<double>(state.limit_ns))
        fail_timeout(call_, why_ == nullptr ? std::string() : why_(context_, true));
}

SHMEM_DEFINE(void, shmem_fence, (void)) {
    fence("shmem_fence");
}
SHMEM_DEFINE(void, shmem_ctx_fence, (shmem_ctx_t ctx)) {
    if (ctx != SHMEM_CTX_INVALID) fence("shmem_ctx_fence");
}
SHMEM_DEFINE(void, shmem_quiet, (void)) {
    quiet("shmem_quiet");
}
SHMEM_DEFINE(void, shmem_ctx_quiet, (shmem_ctx_t ctx)) {
    if (ctx != SHMEM_CTX_INVALID) quiet("shmem_ctx_quiet");
}
SHMEM_DEFINE(void, shmem_pe_quiet, (const int *, size_t)) {
    quiet("shmem_pe_quiet");
}
SHMEM_DEFINE(void, shmem_ctx_pe_quiet, (shmem_ctx_t ctx, const int *, size_t)) {
    if (ctx != SHMEM_CTX_INVALID) quiet("shmem_ctx_pe_quiet");
}

SHMEM_DEFINE(void, shmem_barrier_all, (void)) {
    barrier_all("shmem_barrier_all");
}
SHMEM_DEFINE(void, shmem_sync_all, (void)) {
    barrier_all("shmem_sync_all");
}

SHMEM_DEFINE(void, shmem_signal_add, (uint64_t * sig_addr, uint64_t signal, int pe)) {
    give_signal("shmem_signal_add", SHMEM_CTX_DEFAULT, {sig_addr, signal, SHMEM_SIGNAL_ADD}, pe);
}
SHMEM_DEFINE(void, shmem_ctx_signal_add,
             (shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)) {
    give_signal("shmem_ctx_signal_add", ctx, {sig_addr, signal, SHMEM_SIGNAL_ADD}, pe);
}
SHMEM_DEFINE(void, shmem_signal_set, (uint64_t * sig_addr, uint64_t signal, int pe)) {
    give_signal("shmem_signal_set", SHMEM_CTX_DEFAULT, {sig_addr, signal, SHMEM_SIGNAL_SET}, pe);
}
SHMEM_DEFINE(void, shmem_ctx_signal_set,
             (shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)) {
    give_signal("shmem_ctx_signal_set", ctx, {sig_addr, signal, SHMEM_SIGNAL_SET}, pe);
}

// Ticket locks, which grant requests in their order. The lock is the word of PE 0. Its lower half
// counts the completed turns, its upper half the tickets taken. Each half counts modulo 2^32
// without a carry into the other.
namespace {

constexpr std::uint64_t kTicket = std::uint64_t{1} << 32;

std::uint32_t served(std::uint64_t word) {
    return static_cast<std::uint32_t>(word);
}
std::uint32_t taken(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> 32);
}
// Changes the word of the lock at PE 0, or reads it.
template <Change kChange, class Word>
Word change_lock(const char *call, Word *word, Word value, Word expected) {
    return change_word<kChange>({call, "lock"}, SHMEM_CTX_DEFAULT, word, value, expected, 0);
}
std::uint64_t read_lock(const char *call, std::uint64_t *word) {
    return change_lock<Change::fetch, std::uint64_t>(call, word, 0, 0);
}
std::uint64_t *word_of(long *lock) {
    static_assert(sizeof(long) == sizeof(std::uint64_t));
    return reinterpret_cast<std::uint64_t *>(lock);
}

// Checks and messages use the number of locks that this PE holds. They also use the id of the lock
// that a PE set last, in a word after its heap. A lock has the same id on all PEs.
std::atomic<int> locks_held{0};

std::uint64_t id_of(const long *lock) {
    for (std::uint64_t area = 0; area < kAreas; ++area) {
        const std::uintptr_t offset =
            reinterpret_cast<std::uintptr_t>(lock) - state.areas[area].base;
        if (offset < state.areas[area].bytes) return offset * kAreas + area + 1;
    }
    return 0;
}
std::uint64_t *own_lock_set() {
    return reinterpret_cast<std::uint64_t *>(state.areas[kHeap].base + offset_after_heap(kLockSet));
}
// If this PE's calls are serialised, avoids the locked instruction, which would be a large part of
// the time of a set and a clear. All relaxed: the check orders no data.
void change_locks_held(int change) {
    if (state.thread_level == SHMEM_THREAD_MULTIPLE)
        locks_held.fetch_add(change, std::memory_order_relaxed);
    else
        locks_held.store(locks_held.load(std::memory_order_relaxed) + change,
                         std::memory_order_relaxed);
}
// All relaxed: messages order no data.
void note_set(const long *lock) {
    const std::uint64_t id = id_of(lock);
    if (id == 0) return;  // a wrong argument, with checks off
    change_locks_held(1);
    __atomic_store_n(own_lock_set(), id, __ATOMIC_RELAXED);
}
// relaxed: messages order no data.
bool is_noted(const long *lock) {
    return __atomic_load_n(own_lock_set(), __ATOMIC_RELAXED) == id_of(lock);
}
// All relaxed: messages order no data.
void note_clear(const long *lock) {
    // The count is 0 if another lock was cleared in place of this one.
    if (locks_held.load(std::memory_order_relaxed) > 0) change_locks_held(-1);
    if (is_noted(lock)) __atomic_store_n(own_lock_set(), 0, __ATOMIC_RELAXED);
}

// Describes a lock that a PE holds. The text does not name the holder if the holder has set another
// lock since, or if `may_wait` is false and no load reaches the holder's memory.
std::string held_lock(const long *lock, bool may_wait) {
    const std::string text = "the lock at " + place_of(lock) + " is ";
    for (int pe = 0; pe < state.pes; ++pe) {
        const sennit_gptr word = word_after_heap(pe, kLockSet);
        if (!may_wait && sennit_ptr(word) == nullptr) continue;
        std::uint64_t id = 0;
        // Stop at the first error, because each further call might wait for the time limit too.
        if (sennit_get(&id, word, sizeof id) != SENNIT_OK) break;
        if (id != id_of(lock)) continue;
        return text + "held by " + (pe == state.me ? "this PE" : "PE " + std::to_string(pe));
    }
    return text + "taken";
}

// The request of a waiting PE.
struct LockRequest {
    const char *call;
    long *lock;
    std::uint32_t ticket;
};
// For Patience, with a LockRequest.
std::string why_locked(const void *context, bool may_wait) {
    const LockRequest &request = *static_cast<const LockRequest *>(context);
    const std::uint64_t word = read_lock(request.call, word_of(request.lock));
    const std::uint32_t before = request.ticket - served(word);
    if (before != 0 && before < taken(word) - served(word))
        return held_lock(request.lock, may_wait);
    return "the lock at " + place_of(request.lock) +
           (before == 0 ? " has just been cleared"
                        : " has lost this request: its word was changed by other calls or a store");
}

// Reports a lock that this PE does not hold: no PE does, or this PE holds no lock at all.
[[gnu::cold, gnu::noinline]] void report_not_held(const char *call, const long *lock,
                                                  bool is_free) {
    if (!state.checks) return;
    const std::string text =
        is_free ? "no PE holds the lock at " + place_of(lock)
                : held_lock(lock, true) + ", and not by this PE, which holds no lock";
    wrong(call, "argument lock: %s", text.c_str());
}

}  // namespace

SHMEM_DEFINE(void, shmem_set_lock, (long *lock)) {
    const char *const call = "shmem_set_lock";
    std::uint64_t *const word = word_of(lock);
    const std::uint64_t before = change_lock<Change::add, std::uint64_t>(call, word, kTicket, 0);
    const std::uint32_t ticket = taken(before);
    if (served(before) != ticket) {
        // A release wakes no sleeper, so a sleeping wait would end late. This wait yields instead.
        const LockRequest request{call, lock, ticket};
        Patience patience(call, why_locked, &request);
        while (served(read_lock(call, word)) != ticket)
            patience.wait();
    }
    note_set(lock);
}
SHMEM_DEFINE(void, shmem_clear_lock, (long *lock)) {
    const char *const call = "shmem_clear_lock";
    quiet(call);
    // All accesses have the size of the whole word: atomics of two sizes on one word are undefined.
    // Only the holder changes the lower half, so it stays the same between the load and the
    // addition.
    std::uint64_t *const word = word_of(lock);
    const std::uint64_t seen = read_lock(call, word);
    const bool is_free = served(seen) == taken(seen);
    // relaxed: the program orders the clear of a lock after its set.
    const bool may_hold = locks_held.load(std::memory_order_relaxed) > 0 || is_noted(lock);
    if (is_free || !may_hold) [[unlikely]]
        return report_not_held(call, lock, is_free);
    note_clear(lock);
    const bool wraps = served(seen) == UINT32_MAX;
    change_lock<Change::add, std::uint64_t>(call, word, wraps ? 1 - kTicket : 1, 0);
}
SHMEM_DEFINE(int, shmem_test_lock, (long *lock)) {
    const char *const call = "shmem_test_lock";
    std::uint64_t *const word = word_of(lock);
    const std::uint64_t seen = read_lock(call, word);
    if (served(seen) == taken(seen) &&
        change_lock<Change::compare_swap>(call, word, seen + kTicket, seen) == seen) {
        note_set(lock);
        return 0;
    }
    take_turns();
    return 1;
}

}  // namespace shmem
