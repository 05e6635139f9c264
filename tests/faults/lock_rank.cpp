// One rank of a job in which a rank dies or leaves while it holds a lock, or dies while it waits
// for the lock or does anything in between. Started by faults_test.py under `sennit run`; the
// argument names the scene. A rank prints "as promised" if its part went as promised.
#include <sennit/sennit.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "scenes.hpp"

namespace {

using sennit::test::die;
using sennit::test::expect;
using sennit::test::fail;
using sennit::test::require;
using sennit::test::sleep_ms;
using sennit::test::state_of;

constexpr std::int64_t kLong = 20'000'000'000;

// Words in the memory of a rank that survives.
struct Shared {
    std::atomic<std::uint64_t> ready;     // ranks that are where the scene wants them
    std::atomic<std::uint64_t> inside;    // rank + 1 of the holder
    std::atomic<std::uint64_t> entered;   // times the lock was taken
    std::atomic<std::uint64_t> told;      // times a call returned OWNER_DIED
    std::atomic<std::uint64_t> finished;  // ranks that are done
    std::atomic<std::uint64_t> left;      // ranks that have read that all are done
    std::atomic<int> victim_process;      // of a victim that leaves instead of dying
    std::uint64_t plain;                  // changed under the lock only
};

struct Scene {
    int victim = 0;
    sennit_lock lock = SENNIT_LOCK_NULL;
    sennit_gptr segment = SENNIT_GPTR_NULL;
    Shared *shared = nullptr;
};

Scene open_scene(int victim) {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    Scene scene;
    scene.victim = victim < 0 ? sennit_size() - 1 : victim;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 4096, 0, 0, &scene.segment), SENNIT_OK, "alloc");
    const int keeper = (scene.victim + 1) % sennit_size();
    scene.shared = static_cast<Shared *>(sennit_ptr(sennit_gptr_at(scene.segment, keeper)));
    require(scene.shared != nullptr, "the segment is mapped");
    expect(sennit_lock_create(SENNIT_TEAM_WORLD, &scene.lock), SENNIT_OK, "lock_create");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "the first barrier");
    return scene;
}

void wait_for(const std::atomic<std::uint64_t> &word, std::uint64_t least) {
    for (int i = 0; word < least; ++i) {
        require(i < 20000, "the others come");
        sleep_ms(1);
    }
}

// Survivors leave only when nobody uses their memory any more; the owner of the words leaves last.
void leave(const Scene &scene) {
    const auto survivors = static_cast<std::uint64_t>(sennit_size()) - 1;
    ++scene.shared->finished;
    wait_for(scene.shared->finished, survivors);
    ++scene.shared->left;
    if (sennit_rank() == (scene.victim + 1) % sennit_size())
        wait_for(scene.shared->left, survivors);
    (void)sennit_finalize();
}

// All but the victim take the lock that the victim held: the first gets OWNER_DIED, and only the
// first.
void one_is_told(const Scene &scene) {
    Shared &shared = *scene.shared;
    const auto others = static_cast<std::uint64_t>(sennit_size()) - 1;
    const sennit_status status = sennit_lock_acquire(scene.lock, kLong);
    if (status == SENNIT_ERR_OWNER_DIED) {
        ++shared.told;
        require(shared.plain == 1, "the first rank after the victim is told");
        require(std::string(sennit_last_error()->operation) == "sennit_lock_acquire",
                "the error names the call");
    } else {
        expect(status, SENNIT_OK, "an acquire after the victim");
        require(shared.told == 1, "another rank was told before");
    }
    ++shared.plain;
    sleep_ms(2);
    expect(sennit_lock_release(scene.lock), SENNIT_OK, "release");
    ++shared.entered;
    wait_for(shared.entered, others);
    require(shared.told == 1, "one rank was told");
    require(shared.plain == 1 + others, "one rank at a time was under the lock");
}

// The others queue behind a holder that dies: one is told, all get the lock.
void the_holder_dies() {
    const Scene scene = open_scene(-1);
    Shared &shared = *scene.shared;
    const auto others = static_cast<std::uint64_t>(sennit_size()) - 1;
    if (sennit_rank() == scene.victim) {
        expect(sennit_lock_acquire(scene.lock, kLong), SENNIT_OK, "the victim's acquire");
        shared.plain = 1;
        ++shared.ready;
        wait_for(shared.ready, others + 1);
        sleep_ms(20);
        die();
    }
    wait_for(shared.ready, 1);
    ++shared.ready;
    one_is_told(scene);
    leave(scene);
}

void expect_keeper_lost(sennit_status status, const char *what) {
    expect(status, SENNIT_ERR_PEER_LOST, what);
    require(sennit_last_error()->peer == 0, "the error names the keeper");
}

// The holder calls finalize. Its process lives until the others are done, so they see that it
// left, not that it died. `in_queue`: the others wait for the lock, and the holder leaves when its
// time is over. Otherwise they are in a barrier, which matches finalize's barrier and is reported,
// and only then come to the lock.
void the_holder_leaves(bool in_queue) {
    if (in_queue) (void)setenv("SENNIT_FINALIZE_TIMEOUT", "0.1", 1);
    sigset_t told;
    sigemptyset(&told);
    sigaddset(&told, SIGUSR1);
    (void)pthread_sigmask(SIG_BLOCK, &told, nullptr);
    const Scene scene = open_scene(-1);
    Shared &shared = *scene.shared;
    if (sennit_rank() == scene.victim) {
        expect(sennit_lock_acquire(scene.lock, kLong), SENNIT_OK, "the victim's acquire");
        shared.plain = 1;
        shared.victim_process = getpid();
        ++shared.ready;
        if (in_queue) wait_for(shared.ready, static_cast<std::uint64_t>(sennit_size()));
        if (in_queue) sleep_ms(20);
        expect(sennit_finalize(), in_queue ? SENNIT_ERR_TIMEOUT : SENNIT_ERR_ARG,
               "the end of the holder");
        const timespec most{60, 0};
        require(sigtimedwait(&told, nullptr, &most) == SIGUSR1, "the others were through first");
        return;
    }
    wait_for(shared.ready, 1);
    ++shared.ready;
    if (!in_queue)
        expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), SENNIT_OK, "the holder's last barrier");
    one_is_told(scene);
    if (sennit_rank() == (scene.victim + 1) % sennit_size())
        require(kill(shared.victim_process, SIGUSR1) == 0, "the victim's process lives");
    leave(scene);
}

// Rank 0, which keeps the lock's memory, finalizes. `it_holds`: it holds the lock itself;
// otherwise rank 1 does.
void the_keeper_leaves(bool it_holds) {
    const Scene scene = open_scene(0);
    const int holder = it_holds ? 0 : 1;
    if (sennit_rank() == holder)
        expect(sennit_lock_acquire(scene.lock, kLong), SENNIT_OK, "the first acquire");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), SENNIT_OK, "barrier");
    if (sennit_rank() == 0) {
        expect(sennit_finalize(), SENNIT_ERR_ARG, "the end of the keeper");
        return;
    }
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), SENNIT_OK, "the keeper's last barrier");
    std::uint64_t word = 0;
    for (int i = 0; sennit_get(&word, sennit_gptr_at(scene.segment, 0), 8) == SENNIT_OK; ++i) {
        require(i < 20000, "the keeper leaves");
        sleep_ms(1);
    }
    int got = 9;
    if (sennit_rank() == holder) {
        expect_keeper_lost(sennit_lock_release(scene.lock), "release");
    } else {
        expect_keeper_lost(sennit_lock_acquire(scene.lock, kLong), "acquire");
        expect_keeper_lost(sennit_lock_acquire(scene.lock, 0), "acquire without time");
        expect_keeper_lost(sennit_lock_try(scene.lock, &got), "try");
    }
    require(got == 9, "a failed try changes nothing");
    leave(scene);
}

// Nobody waits when the holder dies; the next rank that calls try or acquire is told.
void the_holder_dies_alone() {
    const Scene scene = open_scene(-1);
    Shared &shared = *scene.shared;
    if (sennit_rank() == scene.victim) {
        expect(sennit_lock_acquire(scene.lock, kLong), SENNIT_OK, "the victim's acquire");
        ++shared.ready;
        die();
    }
    if (sennit_rank() == 0) {
        wait_for(shared.ready, 1);
        int got = 0;
        sennit_status status = SENNIT_OK;
        // The death becomes visible some milliseconds later.
        for (int i = 0; got == 0; ++i) {
            require(i < 5000, "the death is noticed");
            status = sennit_lock_try(scene.lock, &got);
            sleep_ms(1);
        }
        expect(status, SENNIT_ERR_OWNER_DIED, "the try that got the lock");
        expect(sennit_lock_try(scene.lock, &got), SENNIT_ERR_STATE, "a try by the holder");
        expect(sennit_lock_release(scene.lock), SENNIT_OK, "release");
        expect(sennit_lock_acquire(scene.lock, 0), SENNIT_OK, "the status comes once");
        expect(sennit_lock_release(scene.lock), SENNIT_OK, "release");
        ++shared.ready;
    }
    wait_for(shared.ready, 2);
    expect(sennit_lock_acquire(scene.lock, kLong), SENNIT_OK, "an acquire later");
    expect(sennit_lock_release(scene.lock), SENNIT_OK, "release");
    leave(scene);
}

// A rank dies in the queue: it is skipped, and no call reports anything.
void a_waiter_dies() {
    const Scene scene = open_scene(-1);
    Shared &shared = *scene.shared;
    if (sennit_rank() == 0) {
        expect(sennit_lock_acquire(scene.lock, kLong), SENNIT_OK, "the first acquire");
        ++shared.ready;
        wait_for(shared.ready, static_cast<std::uint64_t>(sennit_size()));
        sleep_ms(100);  // by now the victim has died in the queue
        expect(sennit_lock_release(scene.lock), SENNIT_OK, "release");
        leave(scene);
        return;
    }
    wait_for(shared.ready, 1);
    if (sennit_rank() == scene.victim) {
        std::thread([] {
            sleep_ms(30);
            die();
        }).detach();
    }
    ++shared.ready;
    expect(sennit_lock_acquire(scene.lock, kLong), SENNIT_OK, "an acquire");
    require(sennit_rank() != scene.victim, "the victim had died before");
    expect(sennit_lock_release(scene.lock), SENNIT_OK, "release");
    leave(scene);
}

// One round under the lock, if the call got it.
void visit(const Scene &scene, sennit_status status) {
    Shared &shared = *scene.shared;
    const std::uint64_t mark = static_cast<std::uint64_t>(sennit_rank()) + 1;
    const std::uint64_t before = shared.inside.exchange(mark);
    const auto victim_mark = static_cast<std::uint64_t>(scene.victim) + 1;
    if (status == SENNIT_ERR_OWNER_DIED) {
        ++shared.told;
        require(before == 0 || before == victim_mark, "only the dead one was inside");
    } else {
        expect(status, SENNIT_OK, "an acquire");
        require(before == 0, "nobody else is under the lock, and no death was hidden");
    }
    ++shared.plain;
    if (shared.plain % 16 == 0) sched_yield();
    require(shared.inside.exchange(0) == mark, "nobody came in meanwhile");
    expect(sennit_lock_release(scene.lock), SENNIT_OK, "release");
}

// All ranks take the lock with time limits of all lengths; the victim is killed at a random
// moment.
void any_moment(unsigned seed, int victim) {
    const Scene scene = open_scene(victim);
    const bool is_victim = sennit_rank() == scene.victim;
    std::mt19937_64 random(seed * 1000u + static_cast<unsigned>(sennit_rank()));
    if (is_victim) {
        const auto delay = std::chrono::microseconds(random() % 20000);
        std::thread([delay] {
            std::this_thread::sleep_for(delay);
            die();
        }).detach();
    }
    const double end = sennit_wtime() + 0.15;
    while (is_victim || sennit_wtime() < end) {
        sennit_status status = SENNIT_OK;
        int got = 0;
        const std::uint64_t form = random() % 4;
        if (form == 0) {
            status = sennit_lock_try(scene.lock, &got);
        } else {
            const std::int64_t limits[] = {0, 2000, 200000, kLong};
            status = sennit_lock_acquire(scene.lock, limits[form]);
            got = status == SENNIT_OK || status == SENNIT_ERR_OWNER_DIED ? 1 : 0;
            if (status == SENNIT_ERR_TIMEOUT) continue;
        }
        if (got != 0) {
            visit(scene, status);
        } else {
            expect(status, SENNIT_OK, "a try");
        }
    }
    // In whatever state the victim died, the lock works.
    visit(scene, sennit_lock_acquire(scene.lock, kLong));
    require(scene.shared->told <= 1, "a death is reported at most once");
    leave(scene);
}

// The victim dies between two elements of an array whose updates take turns. The update is written
// out here, so that it stops at exactly this point; the lock follows at a multiple of 128 bytes.
void an_accumulate_dies_in_the_middle() {
    const Scene scene = open_scene(-1);
    Shared &shared = *scene.shared;
    constexpr std::size_t kWords = 100;
    const auto others = static_cast<std::uint64_t>(sennit_size()) - 1;
    sennit_gptr array = SENNIT_GPTR_NULL;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, kWords * 8, 0, SENNIT_ALLOC_ACCUMULATE, &array),
           SENNIT_OK, "alloc");
    array = sennit_gptr_at(array, (scene.victim + 1) % sennit_size());
    auto *const words = static_cast<std::int64_t *>(sennit_ptr(array));
    require(words != nullptr, "the array is mapped");
    if (sennit_rank() == scene.victim) {
        reinterpret_cast<std::atomic<std::uint32_t> *>(words + (kWords * 8 + 127) / 128 * 16)
            ->store(static_cast<std::uint32_t>(scene.victim) + 1);
        for (std::size_t i = 0; i < kWords / 2; ++i)
            ++words[i];
        ++shared.ready;
        die();
    }
    wait_for(shared.ready, 1);
    const std::vector<std::int64_t> ones(kWords, 1);
    expect(sennit_accumulate(array, ones.data(), kWords, SENNIT_INT64, SENNIT_SUM), SENNIT_OK,
           "an accumulate after the victim");
    ++shared.entered;
    wait_for(shared.entered, others);
    for (std::size_t i = 0; i < kWords; ++i) {
        std::int64_t found = 0;
        expect(sennit_atomic_fetch_i64(sennit_gptr_add(array, static_cast<std::int64_t>(i * 8)),
                                       &found),
               SENNIT_OK, "fetch");
        require(found == static_cast<std::int64_t>(others) + (i < kWords / 2 ? 1 : 0),
                "each element has what the survivors added, and what the victim stored");
    }
    leave(scene);
}

// The holder of the array's lock is stopped between two elements and continues later: the others
// wait for it, and every addition counts once.
void an_accumulate_is_stopped_in_the_middle() {
    const Scene scene = open_scene(-1);
    Shared &shared = *scene.shared;
    constexpr std::size_t kWords = 100;
    const int keeper = (scene.victim + 1) % sennit_size();
    sennit_gptr array = SENNIT_GPTR_NULL;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, kWords * 8, 0, SENNIT_ALLOC_ACCUMULATE, &array),
           SENNIT_OK, "alloc");
    array = sennit_gptr_at(array, keeper);
    auto *const words = static_cast<std::int64_t *>(sennit_ptr(array));
    require(words != nullptr, "the array is mapped");
    if (sennit_rank() == scene.victim) {
        auto &lock =
            *reinterpret_cast<std::atomic<std::uint32_t> *>(words + (kWords * 8 + 127) / 128 * 16);
        lock = static_cast<std::uint32_t>(scene.victim) + 1;
        for (std::size_t i = 0; i < kWords; ++i) {
            if (i == kWords / 2) {
                shared.victim_process = getpid();
                ++shared.ready;
                (void)raise(SIGSTOP);
            }
            ++words[i];
        }
        lock = 0;
    } else {
        wait_for(shared.ready, 1);
        static const pid_t victim = shared.victim_process;
        while (state_of(victim) != 'T')
            sleep_ms(1);
        static std::atomic<bool> goes_on{false};
        std::thread other([&] {
            sleep_ms(100);
            goes_on = true;
            if (sennit_rank() == keeper) (void)kill(victim, SIGCONT);
        });
        const std::vector<std::int64_t> ones(kWords, 1);
        expect(sennit_accumulate(array, ones.data(), kWords, SENNIT_INT64, SENNIT_SUM), SENNIT_OK,
               "an accumulate that waits for the lock");
        require(goes_on || sennit_rank() != keeper, "the lock of a stopped rank is not taken over");
        other.join();
    }
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), SENNIT_OK, "barrier");
    for (std::size_t i = 0; i < kWords; ++i)
        require(words[i] == sennit_size(), "each rank has added once to each element");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
}

void run(const std::string &what) {
    if (what == "accumulate") return an_accumulate_dies_in_the_middle();
    if (what == "accumulate_stopped") return an_accumulate_is_stopped_in_the_middle();
    if (what == "holder") return the_holder_dies();
    if (what == "holder_alone") return the_holder_dies_alone();
    if (what == "waiter") return a_waiter_dies();
    if (what == "holder_leaves") return the_holder_leaves(false);
    if (what == "holder_leaves_a_queue") return the_holder_leaves(true);
    if (what == "keeper_leaves") return the_keeper_leaves(false);
    if (what == "keeper_leaves_and_holds") return the_keeper_leaves(true);
    // Form: any_moment:SEED:VICTIM
    if (what.rfind("any_moment:", 0) == 0) {
        const std::size_t colon = what.find(':', 11);
        return any_moment(static_cast<unsigned>(std::stoul(what.substr(11))),
                          std::stoi(what.substr(colon + 1)));
    }
    fail("there is no scene " + what);
}

}  // namespace

int main(int count, char **words) {
    return sennit::test::play(count, words, run);
}
