// SPDX-License-Identifier: BSD-3-Clause
// The process object, and the rule by which a thread finds its rank.
#include "rank/process.hpp"

#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include "base/clock.hpp"
#include "base/fail.hpp"
#include "base/knobs.hpp"
#include "base/log.hpp"

namespace sennit {

constinit Rank nobody;
constinit thread_local Rank *thread_rank [[gnu::tls_model("initial-exec")]] = &nobody;
constinit std::atomic<Rank *> only_rank{nullptr};
constinit std::atomic<HotTables *> only_tables{&nobody};

namespace {

struct Process {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    Rank *objects[kRanksPerProcess] = {};  // made at first use, never freed
    bool in_use[kRanksPerProcess] = {};    // claimed, perhaps not yet published
    bool published[kRanksPerProcess] = {};
    int published_count = 0;
    // The number of the only rank, for log lines of threads without a rank, for example during
    // start-up. -1: there are several ranks, or the rank has no number yet.
    std::atomic<int> lone_number{-1};
    ControlBlock *controls[kRanksPerProcess] = {};  // shown by process_show_control()
    std::uint64_t cookie = 0;                       // for process_cookie(); 0: not chosen yet
    bool fork_handler_set = false;
    std::atomic<bool> forked_child{false};
    std::atomic<const ForkHooks *> fork_hooks{nullptr};  // set by process_watch_forks()
    // The thread whose fork has called `prepare`; only that fork calls the other hooks.
    std::atomic<pthread_t> watched_fork{0};
};

Process process;

const ForkHooks *fork_hooks() {
    // relaxed: the hooks are constants of the program.
    return process.fork_hooks.load(std::memory_order_relaxed);
}

void before_fork() {
    const ForkHooks *const hooks = fork_hooks();
    if (hooks == nullptr) return;
    hooks->prepare();
    // relaxed: a thread only compares it with its own id, and `prepare` admits one fork at a time.
    process.watched_fork.store(pthread_self(), std::memory_order_relaxed);
}

// Whether this fork has called `prepare`. In a forked child, pthread_self() is the id of the
// parent's thread that forked.
bool fork_is_watched() {
    pthread_t self = pthread_self();
    // relaxed: only the id of the thread that forked matters.
    return process.watched_fork.compare_exchange_strong(self, 0, std::memory_order_relaxed);
}

void after_fork_in_parent() {
    if (fork_is_watched()) fork_hooks()->parent();
}

// A forked child must not use its parent's ranks: the segments are not mapped there (MADV_DONTFORK)
// and the peers do not know the child.
void after_fork_in_child() {
    if (fork_is_watched()) fork_hooks()->child();
    for (int slot = 0; slot < kRanksPerProcess; ++slot)
        if (process.in_use[slot] && process.objects[slot]->close_in_child != nullptr)
            process.objects[slot]->close_in_child(*process.objects[slot]);
    // relaxed: the child has one thread.
    if (process.published_count > 0) process.forked_child.store(true, std::memory_order_relaxed);
    thread_rank = &nobody;
    // All relaxed: the child has one thread.
    only_rank.store(nullptr, std::memory_order_relaxed);
    only_tables.store(&nobody, std::memory_order_relaxed);
    process.lone_number.store(-1, std::memory_order_relaxed);
    (void)pthread_mutex_init(&process.lock, nullptr);
    process.cookie = 0;  // the old one stands for the parent's address space
}

// The offset of a rank object in its first page. Segments start at a page, and the fields that
// every put reads must not have the same page offset as a segment's first words. On AMD processors
// two lines with the same offset in two pages can conflict in the level-1 cache, depending on
// addresses that change from run to run. Without this offset, a put to the first word of a segment
// took 6.7 ns instead of 2.7 ns in 13 of 150 runs; with it, in none.
constexpr std::size_t kRankOffset = 39 * 64;

Rank *make_object() {
    // mmap() gives zeroed pages that take memory only where used: most of a rank's tables stay
    // empty.
    void *memory = mmap(nullptr, kRankOffset + sizeof(Rank), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? nullptr
                                : new (static_cast<std::byte *>(memory) + kRankOffset) Rank;
}

// Resets the object of a former rank. A thread attached to that rank may still read it, so atomic
// stores clear the fields that a call reads first. Until start-up sets the size, a call of that
// thread fails at these fields and does not read the plain ones.
void reset(Rank &rank) {
    // All relaxed: take_apart() has stored the same values, so the thread finds nothing in any
    // order. The stores of the next rank's start-up follow much later.
    rank.size.store(0, std::memory_order_relaxed);
    rank.channel_table.hide();
    rank.signal_table.hide();
    rank.block_table.hide();
    const auto empty = [](auto &pointer) { pointer.store(nullptr, std::memory_order_relaxed); };
    for (auto &entry : rank.near)
        empty(entry);
    for (auto &table : rank.tables)
        empty(table);
    for (auto &team : rank.teams)
        empty(team);
    empty(rank.signals);
    empty(rank.plans);
    empty(rank.queues);
    std::memset(rank.table_rows, 0, sizeof rank.table_rows);
    rank.world_rank = -1;
    rank.hook_count.store(0, std::memory_order_relaxed);
    rank.sleeps_with_barrier.store(false, std::memory_order_relaxed);
    rank.short_waits.store(0, std::memory_order_relaxed);
    rank.ended.store(0, std::memory_order_relaxed);
    rank.first_dead.store(0, std::memory_order_relaxed);
    rank.ended_elsewhere.store(0, std::memory_order_relaxed);
    rank.polled_requests.store(0, std::memory_order_relaxed);
    static_cast<RankSetup &>(rank) = RankSetup{};
}

// Called with the lock held.
void handle_forks() {
    if (process.fork_handler_set) return;
    process.fork_handler_set =
        pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
}

int count_in_use() {
    int count = 0;
    for (const bool used : process.in_use)
        count += used ? 1 : 0;
    return count;
}

int number_for_log() {
    const int number = current_rank()->world_rank;
    // relaxed: only a number for log lines.
    return number >= 0 ? number : process.lone_number.load(std::memory_order_relaxed);
}

// Called with the lock held.
sennit_status claim(Rank **rank) {
    // relaxed: only a number for log lines.
    process.lone_number.store(-1, std::memory_order_relaxed);
    if (count_in_use() == 0) {
        log_set_rank_source(number_for_log);
        const sennit_status status = runtime::knobs_read();
        if (status != SENNIT_OK) return status;
    }
    for (int slot = 0; slot < kRanksPerProcess; ++slot) {
        if (process.in_use[slot]) continue;
        Rank *&object = process.objects[slot];
        if (object == nullptr) {
            object = make_object();
        } else {
            reset(*object);
        }
        if (object == nullptr) return fail(SENNIT_ERR_NOMEM, "no memory for a rank");
        process.in_use[slot] = true;
        object->process_slot = slot;
        *rank = object;
        return SENNIT_OK;
    }
    return fail(SENNIT_ERR_NOMEM, "the process has %d ranks, which is the most", kRanksPerProcess);
}

// Chooses only_rank and only_tables. A rank with other ranks of its world in this process is never
// the only one, even before the others have started or after they have left. Otherwise their
// threads would be taken for its own.
void publish_only_rank() {
    Rank *only = nullptr;
    if (process.published_count == 1) {
        for (int slot = 0; slot < kRanksPerProcess; ++slot)
            if (process.published[slot]) only = process.objects[slot];
        if (only->shares_process) only = nullptr;
    }
    // SYNC only-rank: pairs with the acquires in current_rank() and current_table(); the rank's
    // start-up comes before.
    only_rank.store(only, std::memory_order_release);
    only_tables.store(only == nullptr ? &nobody : only, std::memory_order_release);
}

}  // namespace

bool process_is_forked_child() {
    // relaxed: written once, by the only thread of the child.
    return process.forked_child.load(std::memory_order_relaxed);
}

sennit_status process_claim_rank(Rank **rank) {
    sennit_status status = SENNIT_OK;
    {
        const MutexLock lock(process.lock);
        handle_forks();
        status = claim(rank);
    }
    // Called without the lock: the log may be the program's function, which may call Sennit.
    if (status == SENNIT_OK) runtime::knobs_warn_of_unknown();
    return status;
}

void process_number_rank(int world_rank) {
    const MutexLock lock(process.lock);
    // relaxed: only a number for log lines.
    if (count_in_use() == 1) process.lone_number.store(world_rank, std::memory_order_relaxed);
}

void process_publish_rank(Rank *rank) {
    const MutexLock lock(process.lock);
    process.published[rank->process_slot] = true;
    ++process.published_count;
    publish_only_rank();
    thread_rank = rank;
}

void process_release_rank(Rank *rank) {
    const MutexLock lock(process.lock);
    const int slot = rank->process_slot;
    if (process.published[slot]) {
        process.published[slot] = false;
        --process.published_count;
    }
    process.in_use[slot] = false;
    publish_only_rank();
    if (thread_rank == rank) thread_rank = &nobody;
}

Rank *process_find_rank(int world_rank) {
    const MutexLock lock(process.lock);
    Rank *found = nullptr;
    for (int slot = 0; slot < kRanksPerProcess; ++slot)
        if (process.published[slot] && process.objects[slot]->world_rank == world_rank)
            found = process.objects[slot];
    return found;
}

int process_rank_count() {
    const MutexLock lock(process.lock);
    return process.published_count;
}

void process_watch_forks(const ForkHooks *hooks) {
    const MutexLock lock(process.lock);
    handle_forks();
    // relaxed: the hooks are constants of the program.
    process.fork_hooks.store(hooks, std::memory_order_relaxed);
}

void process_show_control(const Rank &rank) {
    const MutexLock lock(process.lock);
    if (rank.process_slot >= 0) process.controls[rank.process_slot] = rank.control;
}

void process_hide_control(const Rank &rank) {
    const MutexLock lock(process.lock);
    if (rank.process_slot >= 0) process.controls[rank.process_slot] = nullptr;
}

bool process_use_control(ControlBlock *control, void (*use)(void *object), void *object) {
    const MutexLock lock(process.lock);
    bool found = false;
    for (const ControlBlock *shown : process.controls)
        if (shown == control && control != nullptr) found = true;
    if (found) use(object);
    return found;
}

std::uint64_t process_cookie() {
    const MutexLock lock(process.lock);
    while (process.cookie == 0) {
        if (getrandom(&process.cookie, sizeof process.cookie, 0) !=
            static_cast<ssize_t>(sizeof process.cookie))
            process.cookie = static_cast<std::uint64_t>(now_ns()) * 0x9E3779B97F4A7C15u +
                             static_cast<std::uint64_t>(getpid());
    }
    return process.cookie;
}

}  // namespace sennit
