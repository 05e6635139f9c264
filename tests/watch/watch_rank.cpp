// One rank of a job on two nodes in which ranks die or stop. Started by watch_test.py:
//
//     watch_rank SCENE RANK:MILLISECONDS...
//
// names the wait of the survivors, the ranks that kill themselves, and when. Each rank prints its
// events, with the time.
#include <sennit/sennit.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

#include "events.hpp"

namespace {

int self = -1;

void sleep_ms(long ms) {
    (void)usleep(static_cast<useconds_t>(ms * 1000));
}

// Expects PEER_LOST and prints the lost rank; ends this rank after anything else.
void say_lost(sennit_status status, const char *call) {
    if (status != SENNIT_ERR_PEER_LOST) {
        must(status, call);
        std::printf("rank %d: %s is over without an error\n", self, call);
        std::fflush(stdout);
        std::_Exit(1);
    }
    say(self, "lost", sennit_last_error()->peer);
}

struct Job {
    sennit_gptr memory = SENNIT_GPTR_NULL;  // a page of each rank
    sennit_lock lock = SENNIT_LOCK_NULL;
    int last = 0;
    double end_s = 0;  // the end of the scene, if it has one
};

void wait_for_signal(const Job &) {
    sennit_signal signal{};
    must(sennit_signal_create(1, 1, 0, &signal), "signal_create");
    say(self, "waits", getpid());
    say_lost(sennit_signal_wait(signal, SENNIT_FOREVER), "signal_wait");
}

void wait_in_barrier(const Job &) {
    say_lost(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "barrier");
}

void wait_for_lock(const Job &job) {
    if (sennit_lock_acquire(job.lock, SENNIT_FOREVER) == SENNIT_ERR_OWNER_DIED)
        return say(self, "lost", job.last);
    must(sennit_last_error()->status, "lock_acquire");
}

void wait_in_collective(const Job &) {
    const double mine = 1;
    double sum = 0;
    say_lost(sennit_allreduce(SENNIT_TEAM_WORLD, &mine, &sum,
                              sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_SUM), SENNIT_FOREVER),
             "allreduce");
}

void put_for_ever(const Job &job) {
    const std::uint64_t value = 1;
    sennit_status status = SENNIT_OK;
    while (status == SENNIT_OK)
        status = sennit_put(sennit_gptr_at(job.memory, job.last), &value, sizeof value);
    say_lost(status, "put");
}

// Two deaths, one after the other. In between the other ranks go on.
void hear_of_both(const Job &job) {
    wait_for_signal(job);
    if (sennit_rank() == 0) {
        std::uint64_t value = 0;
        must(sennit_get(&value, sennit_gptr_at(job.memory, job.last), sizeof value), "get");
        sennit_status status = SENNIT_OK;
        while (status == SENNIT_OK) {
            status = sennit_get(&value, sennit_gptr_at(job.memory, job.last), sizeof value);
            sleep_ms(1);
        }
        say_lost(status, "get");
    } else {
        sleep_ms(3000);
    }
}

// The last rank stops itself; then the script tells rank 0 to put. That put must never land.
void put_to_a_stopped_rank(const Job &job) {
    auto *own = static_cast<std::atomic<std::uint64_t> *>(sennit_ptr(job.memory));
    const sennit_gptr there = sennit_gptr_at(job.memory, job.last);
    std::uint64_t value = 7;
    if (sennit_rank() == 0) must(sennit_put(there, &value, sizeof value), "put");
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "barrier");
    if (sennit_rank() == 0) {
        (void)std::getchar();
        value = 9;
        say(self, "puts", 9);
        say_lost(sennit_put(there, &value, sizeof value), "put");
    } else {
        say(self, "waits", getpid());
        (void)raise(SIGSTOP);
        for (int i = 0; i < 100; ++i)
            sleep_ms(10);  // a put on its way would land now
        say(self, "word", static_cast<long>(own->load()));
        say_lost(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "barrier");
    }
}

// One of many ranks stops itself. A rank without a connection to it then puts there; the others
// wait.
void hear_of_one_of_many(const Job &job) {
    const int silent = sennit_size() / 2;
    auto *own = static_cast<std::atomic<std::uint64_t> *>(sennit_ptr(job.memory));
    if (sennit_rank() == silent) {
        own->store(7);
        say(self, "stops", getpid());
        (void)raise(SIGSTOP);
        for (int i = 0; i < 100; ++i)
            sleep_ms(10);  // a put on its way would land now
        say(self, "word", static_cast<long>(own->load()));
        std::_Exit(0);
    }
    if (sennit_rank() != 0) return wait_for_signal(job);
    (void)std::getchar();
    const std::uint64_t value = 9;
    say_lost(sennit_put(sennit_gptr_at(job.memory, silent), &value, sizeof value), "put");
}

// The script stops the last rank, and its neighbour goes on. Rank 0 starts more operations to it
// than may be posted at a time.
void put_beside_a_stopped_rank(const Job &job) {
    constexpr int kMany = 2000;
    const std::uint64_t value = 1;
    say(self, "waits", getpid());
    if (sennit_rank() == job.last) return sleep_ms(1000);
    if (sennit_rank() != 0) return sleep_ms(3000);
    (void)std::getchar();
    for (int i = 0; i < kMany; ++i)
        must(sennit_put_nbi(sennit_gptr_at(job.memory, job.last), &value, sizeof value), "put_nbi");
    say(self, "posted", kMany);
    must(sennit_put(sennit_gptr_at(job.memory, 1), &value, sizeof value), "put");
    say(self, "put", 1);
    must(sennit_flush(job.last, SENNIT_FOREVER), "flush");
    say(self, "flushed", kMany);
}

// The script stops the last rank for longer than the timeout; another rank of its node lives.
void ask_a_stopped_rank(const Job &job) {
    say(self, "waits", getpid());
    if (sennit_rank() == 0) {
        (void)std::getchar();
        const sennit_gptr there = sennit_gptr_at(job.memory, job.last);
        std::uint64_t value = 1;
        sennit_request request = SENNIT_REQUEST_NULL;
        must(sennit_put_nb(there, &value, sizeof value, &request), "put_nb");
        must(sennit_atomic_fetch_add_u64(sennit_gptr_add(there, 8), 1, &value), "atomic");
        must(sennit_wait(&request, SENNIT_FOREVER), "wait");
        say(self, "asked", 1);
    }
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "barrier");
    say(self, "done", 0);
}

// Computes and communicates until the scene's time is over.
void work(const Job &job) {
    say(self, "waits", getpid());
    double sum = 0;
    for (unsigned long round = 0;; ++round) {
        double one = 1;
        for (unsigned long i = 0; i < (round * 7919 + 1) % 2'000'000; ++i)
            one = one * 1.0000001 + 1e-9;
        sum += one;
        const int next = static_cast<int>(round % static_cast<unsigned>(sennit_size()));
        must(sennit_put(sennit_gptr_at(job.memory, next), &sum, sizeof sum), "put");
        must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "barrier");
        long ends = sennit_rank() == 0 && now_s() > job.end_s ? 1 : 0;
        must(sennit_broadcast(SENNIT_TEAM_WORLD, 0, &ends, sizeof ends, SENNIT_FOREVER),
             "broadcast");
        if (ends != 0) return say(self, "done", static_cast<long>(round));
    }
}

// The script stops a rank for a while.
void go_on(const Job &) {
    say(self, "waits", getpid());
    for (int i = 0; i < 300; ++i) {
        must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "barrier");
        sleep_ms(10);
    }
    say(self, "done", 0);
}

struct Scene {
    const char *name;
    void (*play)(const Job &job);
};
constexpr Scene kScenes[] = {{"signal", wait_for_signal},
                             {"barrier", wait_in_barrier},
                             {"lock", wait_for_lock},
                             {"collective", wait_in_collective},
                             {"put", put_for_ever},
                             {"both", hear_of_both},
                             {"late", put_to_a_stopped_rank},
                             {"on", go_on},
                             {"child", wait_for_signal},
                             {"many", hear_of_one_of_many},
                             {"share", put_beside_a_stopped_rank},
                             {"hold", ask_a_stopped_rank},
                             {"work", work}};

// Kills this rank if the word names it: RANK:MILLISECONDS.
void die_in_time(const char *scene, const char *word) {
    char *rest = nullptr;
    if (std::strtol(word, &rest, 10) != self) return;
    sleep_ms(std::strtol(rest + 1, nullptr, 10));
    if (std::strcmp(scene, "child") == 0 && fork() == 0) {
        (void)close(1);  // the script reads until the end of the output
        (void)close(2);
        sleep_ms(4000);
        std::_Exit(0);
    }
    say(self, "dies", getpid());
    (void)raise(SIGKILL);
}

// One rank dies while the others are in sennit_init.
int start_without_one(const char *word) {
    self = std::atoi(std::getenv("SENNIT_RANK"));
    die_in_time("start", word);
    const sennit_status status = sennit_init(nullptr);
    if (status == SENNIT_OK) return 1;
    say(self, "lost", sennit_last_error()->peer);
    return 0;
}

// The script stops one rank somewhere in sennit_init.
int start_with_a_limit() {
    self = std::atoi(std::getenv("SENNIT_RANK"));
    say(self, "begins", getpid());
    const sennit_status status = sennit_init(nullptr);
    say(self,
        status == SENNIT_OK              ? "ready"
        : status == SENNIT_ERR_PEER_LOST ? "lost"
                                         : sennit_status_string(status),
        sennit_last_error()->peer);
    if (status != SENNIT_OK) std::printf("rank %d: init: %s\n", self, sennit_last_error()->text);
    std::fflush(stdout);
    std::_Exit(0);
}

}  // namespace

int main(int count, char **words) {
    if (std::strcmp(words[1], "start") == 0) return start_without_one(words[2]);
    if (std::strcmp(words[1], "limit") == 0) return start_with_a_limit();
    must(sennit_init(nullptr), "init");
    self = sennit_rank();
    Job job;
    job.last = sennit_size() - 1;
    must(sennit_alloc(SENNIT_TEAM_WORLD, 4096, 0, 0, &job.memory), "alloc");
    must(sennit_lock_create(SENNIT_TEAM_WORLD, &job.lock), "lock_create");
    // The rank that dies holds the lock.
    if (sennit_rank() == job.last) must(sennit_lock_acquire(job.lock, SENNIT_FOREVER), "acquire");
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "barrier");
    if (std::strcmp(words[1], "work") == 0) job.end_s = now_s() + std::atof(words[2]);
    for (int i = 2; i < count; ++i)
        die_in_time(words[1], words[i]);
    for (const Scene &scene : kScenes)
        if (std::strcmp(scene.name, words[1]) == 0) scene.play(job);
    sleep_ms(700);  // or a late rank would learn of this rank's leaving first
    (void)sennit_finalize();
    say(self, "ended", 0);
    return 0;
}
