// SPDX-License-Identifier: BSD-3-Clause
#include "transport/fabric/thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/own_thread.hpp"
#include "base/words.hpp"
#include "bootstrap/card.hpp"
#include "runtime/wait.hpp"
#include "transport/fabric/network.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr std::int64_t kLongestNs = 100'000'000;
constexpr std::int64_t kBusyNs = 1'000'000;  // polls often for this long after an arrival
// If callers poll at least this often, the thread does not poll.
constexpr std::int64_t kLeastPollsNs = 50'000;
constexpr std::int64_t kIntervalsPerTimed = 20;       // intervals in a sleep without descriptors
constexpr std::int64_t kMostIntervalsPerTimed = 160;  // limit of this while callers keep polling
// How long arrivals may gather after a poll. The limit doubles while the rank keeps calling.
constexpr std::int64_t kGatherNs = 5'000'000;
constexpr std::int64_t kMostGatherNs = 20'000'000;
constexpr std::int64_t kAwaitedNs = 50'000'000;  // see gather_until_ns()
constexpr std::int64_t kFirstTimed = 4;  // intervals of a sleep that may miss arrivals; doubles
constexpr int kMostPasses = 4;           // passes of a poll
// Limit of a sleep on descriptors. They may miss a completion that the last read of a poll has
// driven into another queue.
constexpr std::int64_t kArmedNs = 10'000'000;
// How many times in a row a descriptor may be ready at once without a reason.
constexpr unsigned kMostFalseWakeups = 100;

// `life` is held during join_thread() and leave_thread(). `list` guards the other members; the
// thread holds it whenever it does not sleep.
struct Thread {
    pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t list = PTHREAD_MUTEX_INITIALIZER;
    Network *first = nullptr;
    pthread_t thread{};
    bool has_thread = false;  // must be joined; under `life`
    bool runs = false;        // false: the thread was not started, or has ended
    bool stop = false;
    std::atomic<int> bell{-1};        // eventfd; stays open
    std::atomic<pthread_t> itself{};  // while it runs; only for comparisons
};
Thread shared;

void clear_bell(int bell) {
    std::uint64_t rings = 0;
    (void)!read(bell, &rings, sizeof rings);
}

// Serves all ranks, and prepares the next sleep. Returns false if the thread must end.
bool serve_all(ThreadSleep *sleep, int bell) {
    const MutexLock guard(shared.list);
    if (shared.stop) return false;
    for (Network *network = shared.first; network != nullptr; network = network->next_served())
        network->note_wakeup(*sleep);
    sleep->descriptors[0] = pollfd{bell, POLLIN, 0};
    sleep->count = 1;
    sleep->pause_ns = kLongestNs;
    bool has_any = false;
    for (Network *network = shared.first; network != nullptr; network = network->next_served())
        has_any |= network->serve_rank(sleep);
    shared.runs = has_any;
    return has_any;
}

void *run(void *) {
    shared.itself.store(pthread_self(), std::memory_order_relaxed);  // relaxed: for itself
    (void)pthread_setname_np(pthread_self(), "sennit-progress");
    ThreadSleep sleep;
    for (;;) {
        const int bell = thread_bell();
        if (!serve_all(&sleep, bell)) return nullptr;
        const timespec limit{0, static_cast<long>(sleep.pause_ns)};
        (void)ppoll(sleep.descriptors, sleep.count, &limit, nullptr);
        if (sleep.descriptors[0].revents != 0) clear_bell(bell);
    }
}

// Called with `life` held.
void join() {
    if (shared.has_thread) (void)pthread_join(shared.thread, nullptr);
    shared.has_thread = shared.runs = false;
}

sennit_status start() {
    join();
    if (thread_bell() < 0) {
        const int bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (bell < 0) return fail_os(SENNIT_ERR_OS, errno, "the thread of the path fabric");
        shared.bell.store(bell, std::memory_order_relaxed);  // relaxed: before the thread
    }
    shared.stop = false;
    shared.runs = true;
    const int code = create_own_thread(&shared.thread, run, nullptr);
    shared.has_thread = code == 0;
    if (code != 0) shared.runs = false;
    return code == 0 ? SENNIT_OK : fail_os(SENNIT_ERR_OS, code, "the thread of the path fabric");
}

bool read_word(std::string_view word, ProgressSettings *out) {
    constexpr std::int64_t kLongestIntervalUs = 50'000;
    std::string_view value;
    std::int64_t number = 0;
    if (word == "on" || word == "off") {
        out->is_on = word == "on";
    } else if (has_value(word, "processor=", &value) &&
               read_number(value, CPU_SETSIZE - 1, &number)) {
        out->processor = static_cast<int>(number);
    } else if (has_value(word, "interval=", &value) &&
               read_number(value, kLongestIntervalUs, &number) && number != 0) {
        out->interval_ns = number * 1000;
    } else {
        return false;
    }
    return true;
}

// Removes the processors of ranks from the set. Returns false if none are left.
bool leave_to_ranks(cpu_set_t *set) {
    for (unsigned cpu = 0; cpu < kCpuWords * 64; ++cpu)
        if (runtime::is_processor_of_ranks(cpu)) CPU_CLR(cpu, set);
    return CPU_COUNT(set) != 0;
}

// Finds the processors of the process that started this one: a launcher that binds ranks gives each
// rank a part of its own processors. No process further up is asked, since a launcher may be bound
// itself. Returns false if the processors are unknown, or may include those of other jobs.
bool find_launchers(cpu_set_t *out) {
    // getppid() is 0 if the launcher is in another namespace, and 1 if it has ended.
    const pid_t launcher = getppid();
    if (launcher <= 1 || sched_getaffinity(launcher, sizeof *out, out) != 0) return false;
    // If Slurm confines jobs only by masks, its own process may use all processors of the machine.
    const char *const of_job = std::getenv("SLURM_CPUS_ON_NODE");
    int most = 0;
    return of_job == nullptr || (read_number(of_job, CPU_SETSIZE, &most) && CPU_COUNT(out) <= most);
}

// Called on the thread.
void bind_thread(ProgressSettings &settings) {
    if (CPU_COUNT(&settings.processors) == 0) return;
    const int code =
        pthread_setaffinity_np(pthread_self(), sizeof settings.processors, &settings.processors);
    if (code != 0) settings.has_own_processors = false;
    // This process may not be allowed to use the launcher's processors.
    if (code != 0 && settings.processor >= 0)
        log(SENNIT_LOG_WARNING, "SENNIT_PROGRESS: the thread may not run on processor %d",
            settings.processor);
}

std::int64_t clock_ns(clockid_t clock) {
    timespec time{};
    (void)clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

sennit_status read_progress_settings(const char *text, ProgressSettings *out) {
    const auto take = [&](std::string_view word) { return read_word(word, out); };
    if (first_refused(text, ',', take).data() == nullptr) return SENNIT_OK;
    return fail(SENNIT_ERR_ARG,
                "SENNIT_PROGRESS=%s: there are on, off, processor=N and interval=N "
                "(microseconds, 1 to 50000), by commas",
                text);
}

sennit_status join_thread(Network &network) {
    const MutexLock life(shared.life);
    bool runs = false;
    {
        const MutexLock guard(shared.list);
        runs = shared.runs;
        network.set_next_served(shared.first);
        shared.first = &network;
    }
    if (!runs) return start();
    wake_thread();
    return SENNIT_OK;
}

void leave_thread(Network &network) {
    const MutexLock life(shared.life);
    bool is_last = false;
    {
        const MutexLock guard(shared.list);
        Network *before = nullptr;
        Network *found = shared.first;
        while (found != nullptr && found != &network) {
            before = found;
            found = found->next_served();
        }
        if (found == nullptr) return;
        if (before != nullptr)
            before->set_next_served(network.next_served());
        else
            shared.first = network.next_served();
        is_last = shared.first == nullptr;
        shared.stop = is_last;
    }
    if (!is_last) return;
    wake_thread();
    join();
}

int thread_bell() {
    // relaxed: set before the thread was made, and never changed.
    return shared.bell.load(std::memory_order_relaxed);
}

void wake_thread() {
    ring_progress_thread(thread_bell());
}

bool is_progress_thread() {
    // relaxed: only the thread itself must find its own id. A thread that is made after its end may
    // get the same id; its answers are then only less delayed than necessary.
    return shared.itself.load(std::memory_order_relaxed) == pthread_self();
}

void choose_processors(ProgressSettings *settings) {
    cpu_set_t &processors = settings->processors;
    CPU_ZERO(&processors);
    if (settings->processor >= 0) {
        const auto processor = static_cast<unsigned>(settings->processor);
        CPU_SET(processor, &processors);
        settings->has_own_processors = !runtime::is_processor_of_ranks(processor);
        return;
    }
    settings->has_own_processors = true;
    // Ask for the program's first thread: this thread may be bound to fewer processors.
    const bool is_known = sched_getaffinity(getpid(), sizeof processors, &processors) == 0;
    if (is_known && leave_to_ranks(&processors)) return;
    if (find_launchers(&processors) && leave_to_ranks(&processors)) return;
    CPU_ZERO(&processors);
    settings->has_own_processors = false;
}

// The thread's work for one rank: polls its queues if no call does, and adds the rank's time limit
// and descriptors to *sleep. Returns false if the rank needs no thread any more.
bool Network::serve_rank(ThreadSleep *sleep) {
    // SYNC fabric-engine: pairs with the release in progress(); the engine's hook, which processes
    // arrivals, comes before.
    const bool has_engine = has_engine_.load(std::memory_order_acquire);
    if (has_engine && !progress_.is_on) return false;
    if (!thread_state_.is_bound) {
        thread_state_.is_bound = true;
        bind_thread(progress_);
    }
    if (leaves_to_caller(sleep)) return true;
    const std::int64_t now = boot_ns();
    poll_until_empty(has_engine, now);
    if (has_engine && gather_until_ns(now) != 0) {
        sleep->limit_to(kGatherNs);
        return true;
    }
    if (now < thread_state_.busy_until_ns) {
        // If much arrives, the descriptor is ready at once for a good reason, so this does not
        // count as a false wake-up.
        const unsigned false_wakeups = thread_state_.false_wakeups;
        const bool wakes = has_engine && add_descriptors(sleep, now);
        thread_state_.false_wakeups = false_wakeups;
        if (!wakes) sleep->limit_to(progress_.interval_ns);
    } else if (!has_engine || !add_descriptors(sleep, now)) {
        sleep->limit_to(progress_.interval_ns * kIntervalsPerTimed);
    }
    return true;
}

// The last read of a poll may drive a completion into a queue that was read before, and no
// descriptor reports this completion. So this polls until nothing arrives, at most kMostPasses
// times.
void Network::poll_until_empty(bool has_engine, std::int64_t now) {
    int passes = 0;
    while (passes < kMostPasses && poll_once(has_engine))
        ++passes;
    if (passes != 0) {
        thread_state_.busy_until_ns = now + kBusyNs;
        thread_state_.timed_pause_ns = 0;
    }
}

// Returns the time until which arrivals may gather, or 0 if they may not. They may if the process
// computes on the thread's processors, this rank has nothing in progress, and lately something has
// arrived, but nothing for which a peer waits (kAwaitedNs). A poll by the thread would then delay
// the program and help nobody.
std::int64_t Network::gather_until_ns(std::int64_t now) {
    // relaxed: a hint.
    if (is_awaited_.exchange(false, std::memory_order_relaxed)) thread_state_.awaited_ns = now;
    if (now - thread_state_.awaited_ns < kAwaitedNs || !others_compute(now)) return 0;
    const MutexLock guard(lock_);
    bool has_more = now - unawaited_ns_ > kAwaitedNs || links_to_service_ != 0 ||
                    some_are_unsent_ || some_wait_ || some_are_hidden_ || !outbox_.empty();
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        has_more |= rails_[rail].transfers != 0;
    return has_more ? 0 : called_ns_ + thread_state_.gather_ns;
}

// Whether other threads of the process compute on the processors that this thread shares with them.
// Measured at most once a millisecond.
bool Network::others_compute(std::int64_t now) {
    if (progress_.has_own_processors) return false;
    const std::int64_t length_ns = now - thread_state_.asked_ns;
    if (length_ns < kBusyNs) return thread_state_.others_compute;
    const std::int64_t others_ns =
        clock_ns(CLOCK_PROCESS_CPUTIME_ID) - clock_ns(CLOCK_THREAD_CPUTIME_ID);
    thread_state_.others_compute = others_ns - thread_state_.others_ns > length_ns / 4;
    thread_state_.others_ns = others_ns;
    thread_state_.asked_ns = now;
    return thread_state_.others_compute;
}

// A peer's put into this rank's memory gives no completion here, but wakes the thread. So a wake-up
// counts as an arrival.
void Network::note_wakeup(const ThreadSleep &sleep) {
    const pollfd *const mine = sleep.descriptors + thread_state_.first_descriptor;
    for (std::size_t i = 0; i < thread_state_.descriptors; ++i)
        if (mine[i].revents != 0) thread_state_.busy_until_ns = boot_ns() + kBusyNs;
    thread_state_.descriptors = 0;
}

// Whether the thread must not poll now: a caller polls or starts an operation, or arrivals gather.
bool Network::leaves_to_caller(ThreadSleep *sleep) {
    ProgressBell &bell = rank_->progress_bell;
    // relaxed twice: a rough count, and a wait that is seen too late costs one poll.
    const std::uint64_t polls = polls_.load(std::memory_order_relaxed);
    const std::uint64_t waits = bell.waits.load(std::memory_order_relaxed);
    const bool waits_now = ProgressBell::is_any_on(waits);
    const bool is_same_wait = waits_now && waits == thread_state_.waits;
    // A program that calls only occasionally between computations does not replace the thread.
    const std::int64_t now = boot_ns();
    const auto count = static_cast<std::int64_t>(polls - thread_state_.polls);
    const std::int64_t intervals =
        (now - thread_state_.counted_ns) / std::max(progress_.interval_ns, kLeastPollsNs);
    const bool polled = count != 0 && (waits_now || count >= intervals);
    thread_state_.counted_ns = now;
    thread_state_.polls = polls;
    thread_state_.waits = waits;
    bell.is_wanted.store(false, std::memory_order_relaxed);  // relaxed: set again below
    const std::int64_t pause_ns =
        std::max(thread_state_.polled_pause_ns, progress_.interval_ns * kIntervalsPerTimed);
    thread_state_.polled_pause_ns = 0;
    // A caller that starts an operation holds the locks that a poll needs, runs on the processor
    // that the poll would use, and ends soon. relaxed: one that is seen too late costs one poll.
    const bool starts = !polled && bell.is_starting.load(std::memory_order_relaxed);
    const bool started = std::exchange(thread_state_.caller_starts, starts);
    if (starts) {
        sleep->limit_to(progress_.interval_ns * (started ? kIntervalsPerTimed : 1));
        return true;
    }
    if (const std::int64_t until = gather_until_ns(now); until > now) {
        disarm_rails();
        sleep->limit_to(until - now);
        thread_state_.gather_ns = std::min(2 * thread_state_.gather_ns, kMostGatherNs);
        return true;
    }
    thread_state_.gather_ns = kGatherNs;
    if (!polled) {
        // A call may leave a completion in a queue, and no descriptor reports it.
        if (count != 0) sleep->limit_to(progress_.interval_ns * kIntervalsPerTimed);
        return false;
    }
    thread_state_.polled_pause_ns =
        std::min(2 * pause_ns, progress_.interval_ns * kMostIntervalsPerTimed);
    thread_state_.busy_until_ns = 0;
    disarm_rails();
    // If callers stop polling, only the thread sends the held answers.
    if (holds_answers()) sleep->limit_to(progress_.interval_ns * kIntervalsPerTimed);
    if (!is_same_wait) {
        sleep->limit_to(pause_ns);
        return true;
    }
    // A long wait: its end wakes the thread.
    bell.is_wanted.store(true, std::memory_order_relaxed);  // relaxed: the fence orders it
    // SYNC progress-bell: pairs with the fence in end_polling(); is_wanted is stored before
    // the last load of waits.
    store_load_fence();
    // relaxed: the fence orders it.
    if (bell.waits.load(std::memory_order_relaxed) != waits) sleep->limit_to(pause_ns);
    return true;
}

bool Network::holds_answers() {
    const MutexLock guard(lock_);
    return held_peers_ != 0;
}

// Polls once. Returns true if something has arrived or is still to be done.
bool Network::poll_once(bool has_engine) {
    bool has_work = false;
    {
        const MutexLock guard(lock_);
        has_work = poll_rails(true) != 0 || !outbox_.empty() || !done_.empty() || some_are_lost_;
        if (!has_arrivals() && answers_.empty() && !some_wait_) return has_work;
    }
    // Call only the engine's hooks. Requests that run operators of the program are left to callers.
    if (has_engine) poll_hooks(*rank_);
    // relaxed: these polls were the thread's own.
    thread_state_.polls = polls_.load(std::memory_order_relaxed);
    return has_work;
}

// Returns the number of descriptors; 0: something has arrived, or a rail has no descriptors. With
// the lock held.
std::size_t Network::arm_rails(pollfd *out) {
    std::size_t count = 0;
    thread_state_.is_armed = true;
    for (unsigned rail = 0; rail < rail_count_; ++rail) {
        int descriptors[Rail::kQueues];
        const std::size_t more = rails_[rail].rail.arm(descriptors);
        if (more == 0) return 0;
        for (std::size_t i = 0; i < more; ++i)
            out[count++] = pollfd{descriptors[i], POLLIN, 0};
    }
    return count;
}

void Network::disarm_rails() {
    if (!std::exchange(thread_state_.is_armed, false)) return;
    const MutexLock guard(lock_);
    for (unsigned rail = 0; rail < rail_count_; ++rail)
        rails_[rail].rail.disarm();
}

// Adds the rank's descriptors to *sleep. Returns false if there are none, or one is ready already.
bool Network::add_descriptors(ThreadSleep *sleep, std::int64_t now) {
    if (thread_state_.false_wakeups > kMostFalseWakeups ||
        sleep->count + Rail::kQueues * rail_count_ > ThreadSleep::kDescriptors)
        return false;
    pollfd *const mine = sleep->descriptors + sleep->count;
    const bool are_exact = rails_[0].rail.are_descriptors_exact();
    std::size_t count = 0;
    {
        const MutexLock guard(lock_);
        // relaxed: callers count under the lock. No descriptor reports a completion that a caller
        // has left in a queue since the poll.
        if (polls_.load(std::memory_order_relaxed) == thread_state_.polls) count = arm_rails(mine);
        // No descriptor reports a completion that the last read of the poll has driven into a queue
        // that was read before. So sleep only shortly if there may be one.
        if (now < thread_state_.busy_until_ns &&
            (!are_exact || awaits_completions() || awaits_data())) {
            const bool grows = are_exact && others_compute(now);
            const std::int64_t longer_ns =
                std::max(2 * thread_state_.timed_pause_ns, kFirstTimed * progress_.interval_ns);
            const std::int64_t most_ns = std::max(kBusyNs, progress_.interval_ns);
            thread_state_.timed_pause_ns =
                grows ? std::min(longer_ns, most_ns) : progress_.interval_ns;
            sleep->limit_to(thread_state_.timed_pause_ns);
        }
        if (held_peers_ != 0) sleep->limit_to(progress_.interval_ns);
        if (links_to_service_ != 0 || some_are_hidden_ || some_are_unsent_ || some_wait_)
            sleep->limit_to(kRetryCheckNs);
    }
    if (count == 0) return false;
    // If a descriptor is ready already, sleep for a fixed time instead. Its report may be false; or
    // so much arrives that polls would take the processor from the program.
    if ((!are_exact || others_compute(now)) && poll(mine, count, 0) > 0) {
        if (!are_exact && ++thread_state_.false_wakeups > kMostFalseWakeups)
            log(SENNIT_LOG_INFO,
                "the descriptors of the path fabric are always ready: its thread polls at "
                "intervals");
        sleep->limit_to(progress_.interval_ns);
        return false;
    }
    thread_state_.false_wakeups = 0;
    // A caller that starts a wait now may also leave completions in a queue, so the end of its wait
    // wakes the thread. relaxed: the sleep is short.
    rank_->progress_bell.is_wanted.store(true, std::memory_order_relaxed);
    sleep->limit_to(kArmedNs);
    thread_state_.first_descriptor = sleep->count;
    thread_state_.descriptors = count;
    sleep->count += count;
    return true;
}

}  // namespace sennit::transport::fabric
