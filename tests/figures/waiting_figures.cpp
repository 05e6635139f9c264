// Measures the parts of a wait, for docs/design/waiting.md: polling, yielding, sleeping, and the
// waker's fence. Prints one line for each figure: name, median, 5th and 95th percentile in
// nanoseconds. Called by waiting.py, with the number of rounds.
//
// Two threads stand for two ranks: for the core and the kernel it makes no difference whether the
// other side is a thread or a process, since the futex calls are of the shared kind.
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "runtime/detector.hpp"
#include "runtime/wait.hpp"

namespace {

using namespace sennit;

std::vector<int> processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> found;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return found;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) found.push_back(cpu);
    return found;
}

void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) std::perror("sched_setaffinity");
}

void print(const std::string &name, std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    const auto at = [&](double share) {
        return samples[static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1))];
    };
    std::printf("%s %.1f %.1f %.1f\n", name.c_str(), at(0.5), at(0.05), at(0.95));
    std::fflush(stdout);
}

// `rounds` samples of the time of one of `count` calls.
template <class Call>
void measure(const std::string &name, int rounds, int count, const Call &call) {
    std::vector<double> samples;
    for (int round = 0; round < rounds; ++round) {
        const std::int64_t start = now_ns();
        for (int i = 0; i < count; ++i)
            call();
        samples.push_back(static_cast<double>(now_ns() - start) / count);
    }
    print(name, samples);
}

struct alignas(kLineBytes) Word {
    std::atomic<std::uint32_t> value{0};
};

// The action of a thread between two polls.
using Pause = void (*)(const Word &word, std::uint32_t seen);
// The action of a thread after a store for which the other side waits.
using Wake = void (*)(Word &word);

struct Bounce {
    const char *name;
    Pause pause;
    Wake wake;
    int count;  // round trips per sample
};

void await(const Word &word, std::uint32_t wanted, Pause pause) {
    for (;;) {
        const std::uint32_t seen = word.value.load(std::memory_order_acquire);
        if (seen == wanted) return;
        pause(word, seen);
    }
}

// Half a round trip of a word between two threads on the given processors.
void bounce(const Bounce &how, const std::string &where, int first_cpu, int second_cpu,
            int rounds) {
    Word there;
    Word back;
    std::atomic<bool> ready{false};
    const auto total = static_cast<std::uint32_t>(rounds * how.count);
    std::thread other([&] {
        pin(second_cpu);
        ready.store(true);
        for (std::uint32_t i = 1; i <= total; ++i) {
            await(there, i, how.pause);
            back.value.store(i, std::memory_order_release);
            how.wake(back);
        }
    });
    pin(first_cpu);
    while (!ready.load())
        (void)sched_yield();
    std::vector<double> samples;
    std::uint32_t i = 0;
    for (int round = 0; round < rounds; ++round) {
        const std::int64_t start = now_ns();
        for (int n = 0; n < how.count; ++n) {
            there.value.store(++i, std::memory_order_release);
            how.wake(there);
            await(back, i, how.pause);
        }
        samples.push_back(static_cast<double>(now_ns() - start) / (2.0 * how.count));
    }
    other.join();
    print(std::string(how.name) + "-" + where, samples);
}

void poll_again(const Word &, std::uint32_t) {
    cpu_pause();
}
void yield(const Word &, std::uint32_t) {
    (void)sched_yield();
}
void sleep_on_it(const Word &word, std::uint32_t seen) {
    futex_wait(&word.value, seen, 1'000'000'000);
}
void wake_nobody(Word &) {}
void wake_sleeper(Word &word) {
    futex_wake_all(&word.value);
}

void bounces(int rounds, const std::vector<int> &cpus) {
    const Bounce spin{"poll", poll_again, wake_nobody, 1000};
    const Bounce yielding{"yield", yield, wake_nobody, 200};
    const Bounce sleeping{"sleep", sleep_on_it, wake_sleeper, 50};
    if (cpus.size() > 1) {
        bounce(spin, "two-cores", cpus[0], cpus[1], rounds);
        bounce(yielding, "two-cores", cpus[0], cpus[1], rounds);
        bounce(sleeping, "two-cores", cpus[0], cpus[1], rounds);
    }
    bounce(yielding, "one-core", cpus[0], cpus[0], rounds);
    bounce(sleeping, "one-core", cpus[0], cpus[0], rounds);
}

// The parts of a wait that need no other rank.
void parts(int rounds) {
    static Word word;
    static ControlBlock control;
    std::uint32_t value = 0;
    measure("pause", rounds, 1000, [] { cpu_pause(); });
    measure("yield-alone", rounds, 1000, [] { (void)sched_yield(); });
    measure("clock", rounds, 1000, [] { (void)now_ns(); });
    measure("store", rounds, 1000, [&] {
        word.value.store(++value, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    });
    measure("store-and-doorbell", rounds, 1000, [&] {
        word.value.store(++value, std::memory_order_release);
        ring_doorbell(control);
    });
    Rank rank;
    rank.world_rank = 0;
    const int process = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
    if (process >= 0 && rank.peers.open(2)) {
        (void)rank.peers.make(0);
        rank.peers.make(1).pid_fd = process;
        measure("look-for-death", rounds, 100, [&] { (void)peer_gone(rank, 1); });
        rank.peers.close();
        (void)close(process);
    }
}

}  // namespace

int main(int argc, char **argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 101;
    const std::vector<int> cpus = processors();
    if (rounds < 1 || cpus.empty()) {
        std::fprintf(stderr, "usage: waiting_figures [ROUNDS]\n");
        return 2;
    }
    pin(cpus[0]);
    parts(rounds);
    bounces(rounds, cpus);
    return 0;
}
