// One rank of a job in which something goes wrong. Started by faults_test.py under `sennit run`;
// the argument names the fault. A rank prints "as promised" if its part went as promised.
#include <sennit/sennit.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <dirent.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../support/system_calls.hpp"
#include "scenes.hpp"

namespace {

using sennit::test::expect;
using sennit::test::fail;
using sennit::test::require;
using sennit::test::sleep_ms;

constexpr double kSoon = 1.0;  // the end of a rank must be noticed within this many seconds
constexpr std::size_t kMebi = std::size_t{1} << 20;

// The time of the victim's end, in memory that outlives the victim.
struct Scene {
    int victim = 0;
    sennit_gptr segment = SENNIT_GPTR_NULL;
    std::atomic<double> *ended_at = nullptr;
};

Scene open_scene() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    Scene scene;
    scene.victim = sennit_size() - 1;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 4096, 0, 0, &scene.segment), SENNIT_OK, "alloc");
    scene.ended_at =
        static_cast<std::atomic<double> *>(sennit_ptr(sennit_gptr_at(scene.segment, scene.victim)));
    require(scene.ended_at != nullptr, "the victim's memory is mapped");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "the first barrier");
    return scene;
}

[[noreturn]] void die(const Scene &scene) {
    *scene.ended_at = sennit_wtime();
    sennit::test::die();
}

// Expects that a survivor's call has returned PEER_LOST, in time, with the victim's rank.
void expect_lost(const Scene &scene, sennit_status status, const char *call) {
    const double now = sennit_wtime();
    expect(status, SENNIT_ERR_PEER_LOST, call);
    require(std::string(sennit_last_error()->operation) == call, "the error names the call");
    require(sennit_last_error()->peer == scene.victim, "the error names the rank that ended");
    require(*scene.ended_at > 0, "the victim had ended");
    if (now - *scene.ended_at > kSoon)
        fail("it took " + std::to_string(now - *scene.ended_at) + " s to notice");
}

// After a barrier has found a dead rank, the team's other collective calls report it too; they do
// not ask for a barrier, which is impossible.
void expect_no_more_collective_calls(const Scene &scene) {
    sennit_gptr made{5, 5, 5};
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 100, 0, 0, &made), SENNIT_ERR_PEER_LOST, "sennit_alloc");
    expect(sennit_free(scene.segment), SENNIT_ERR_PEER_LOST, "sennit_free");
    sennit_team team{77};
    expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), SENNIT_ERR_PEER_LOST,
           "sennit_team_split");
    int sum = 0;
    const int one = 1;
    expect(sennit_allreduce(SENNIT_TEAM_WORLD, &one, &sum,
                            sennit_reduction_of(1, SENNIT_INT32, SENNIT_SUM), SENNIT_FOREVER),
           SENNIT_ERR_PEER_LOST, "sennit_allreduce");
    require(sennit_last_error()->peer >= 0, "the error names a rank that is gone");
    require(made.segment == 5 && team.handle == 77 && sum == 0, "nothing was changed");
}

// The rest of the job still works: memory of all ranks can be used, and finalize ends in bounded
// time.
void leave(const Scene &scene) {
    std::uint64_t word = 7;
    for (int peer = 0; peer < sennit_size(); ++peer) {
        if (peer == scene.victim) continue;
        const sennit_gptr place =
            sennit_gptr_add(sennit_gptr_at(scene.segment, peer), 64 + 8 * sennit_rank());
        const sennit_status status = sennit_put(place, &word, sizeof word);
        // A faster survivor has already left.
        require(status == SENNIT_OK || status == SENNIT_ERR_NOT_REGISTERED ||
                    status == SENNIT_ERR_PEER_LOST,
                "memory of survivors can be used");
    }
    const double start = sennit_wtime();
    const sennit_status status = sennit_finalize();
    require(status == SENNIT_ERR_PEER_LOST || status == SENNIT_ERR_STATE, "finalize reports it");
    require(sennit_wtime() - start < 2 * kSoon, "finalize does not wait for a rank that ended");
}

// ---------------------------------------------------------------- a rank ends, the others wait

void others_wait_in_a_barrier(int victim_sleeps_ms) {
    const Scene scene = open_scene();
    if (sennit_rank() == scene.victim) {
        sleep_ms(victim_sleeps_ms);
        die(scene);
    }
    expect_lost(scene, sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "sennit_barrier");
    expect_no_more_collective_calls(scene);
    leave(scene);
}

// All waits have timeouts, and each is too short to check for dead peers.
void others_wait_shortly_again_and_again() {
    const Scene scene = open_scene();
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        die(scene);
    }
    constexpr std::int64_t kShort_ns = 20'000;
    const double start = sennit_wtime();
    sennit_status status = SENNIT_ERR_TIMEOUT;
    while (status == SENNIT_ERR_TIMEOUT && sennit_wtime() - start < 10)
        status = sennit_barrier(SENNIT_TEAM_WORLD, kShort_ns);
    expect_lost(scene, status, "sennit_barrier");
    leave(scene);
}

void others_wait_in_an_allocation() {
    const Scene scene = open_scene();
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        die(scene);
    }
    sennit_gptr made{5, 5, 5};
    expect_lost(scene, sennit_alloc(SENNIT_TEAM_WORLD, 100, 0, 0, &made), "sennit_alloc");
    require(made.segment == 5, "an allocation that failed gives nothing");
    leave(scene);
}

// The death happens in one of many calls, when each rank is at another point. All ranks learn of
// it, also those that only hear of it from others, and no later call of the team waits.
void others_wait_in_a_collective(bool with_request, std::size_t bytes) {
    const Scene scene = open_scene();
    std::vector<double> mine(bytes / sizeof(double), 1.0);
    std::vector<double> sum(mine.size());
    const sennit_reduction what = sennit_reduction_of(mine.size(), SENNIT_DOUBLE, SENNIT_SUM);
    for (int round = 0; round < 10; ++round)
        expect(sennit_allreduce(SENNIT_TEAM_WORLD, mine.data(), sum.data(), what, SENNIT_FOREVER),
               SENNIT_OK, "sennit_allreduce");
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        die(scene);
    }
    sennit_status status = SENNIT_OK;
    sennit_request request = SENNIT_REQUEST_NULL;
    if (with_request) {
        expect(sennit_broadcast_nb(SENNIT_TEAM_WORLD, scene.victim, mine.data(), bytes, &request),
               SENNIT_OK, "sennit_broadcast_nb");
        expect_lost(scene, sennit_wait(&request, SENNIT_FOREVER), "sennit_wait");
        require(request.handle == 0, "the request is over");
    } else {
        // A root may have sent its data before it learns of the death.
        for (int round = 0; round < 100 && status == SENNIT_OK; ++round)
            status = sennit_broadcast(SENNIT_TEAM_WORLD, 0, mine.data(), bytes, SENNIT_FOREVER);
        expect_lost(scene, status, "sennit_broadcast");
    }
    expect_lost(scene,
                sennit_allreduce(SENNIT_TEAM_WORLD, mine.data(), sum.data(), what, SENNIT_FOREVER),
                "sennit_allreduce");
    leave(scene);
}

void others_wait_in_a_free() {
    Scene scene = open_scene();
    sennit_gptr other;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 100, 0, 0, &other), SENNIT_OK, "alloc");
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        die(scene);
    }
    expect_lost(scene, sennit_free(other), "sennit_free");
    leave(scene);
}

// The exchange of registered memory fails; the caller's own region stays registered.
void others_wait_in_the_exchange_of_regions() {
    const Scene scene = open_scene();
    const auto size = static_cast<std::size_t>(sennit_size());
    std::vector<std::uint64_t> memory(1000, 7);
    sennit_region mine = SENNIT_REGION_NULL;
    std::vector<sennit_region> regions(size, SENNIT_REGION_NULL);
    expect(sennit_register(memory.data(), 8000, 0, &mine), SENNIT_OK, "register");
    expect(sennit_region_attach(SENNIT_TEAM_WORLD, mine, regions.data()), SENNIT_OK, "attach");
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        die(scene);
    }
    regions.assign(size, SENNIT_REGION_NULL);
    expect_lost(scene, sennit_region_attach(SENNIT_TEAM_WORLD, mine, regions.data()),
                "sennit_region_attach");
    for (const sennit_region &region : regions)
        require(region.bytes == 0, "an exchange that failed gives nothing");
    expect(sennit_deregister(mine), SENNIT_OK, "deregister the caller's region");
    require(memory[0] == 7 && memory[999] == 7, "its memory is as it was");
    leave(scene);
}

void others_wait_in_the_creation_of_a_lock() {
    const Scene scene = open_scene();
    sennit_lock lock{77, 77};
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        die(scene);
    }
    expect_lost(scene, sennit_lock_create(SENNIT_TEAM_WORLD, &lock), "sennit_lock_create");
    require(lock.segment == 77 && lock.team == 77, "a creation that failed gives nothing");
    leave(scene);
}

void others_wait_in_the_destruction_of_a_lock() {
    const Scene scene = open_scene();
    sennit_lock lock = SENNIT_LOCK_NULL;
    expect(sennit_lock_create(SENNIT_TEAM_WORLD, &lock), SENNIT_OK, "lock_create");
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        die(scene);
    }
    expect_lost(scene, sennit_lock_destroy(lock), "sennit_lock_destroy");
    leave(scene);
}

void others_wait_in_finalize() {
    const Scene scene = open_scene();
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        die(scene);
    }
    const double begin = sennit_wtime();
    const sennit_status status = sennit_finalize();
    const double now = sennit_wtime();
    expect(status, SENNIT_ERR_PEER_LOST, "sennit_finalize");
    require(sennit_last_error()->peer == scene.victim, "the error names the rank that ended");
    require(sennit_initialized() == 0, "the survivor is no rank any more");
    require(now < begin + 0.05 + kSoon, "the death was noticed in time");
}

// Rank 1 is busy and will come; rank 0 must learn of the death without waiting for it.
void a_third_rank_is_late() {
    const Scene scene = open_scene();
    require(sennit_size() == 3, "for three ranks");
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        die(scene);
    }
    if (sennit_rank() == 1) sleep_ms(3000);
    const double start = sennit_wtime();
    const sennit_status status = sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
    if (sennit_rank() == 0) {
        expect_lost(scene, status, "sennit_barrier");
    } else {
        expect(status, SENNIT_ERR_PEER_LOST, "sennit_barrier");
        require(sennit_wtime() - start < kSoon, "a late rank learns of the death at once");
    }
    leave(scene);
}

void a_rank_exits_without_finalize() {
    const Scene scene = open_scene();
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        *scene.ended_at = sennit_wtime();
        _exit(0);
    }
    expect_lost(scene, sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), "sennit_barrier");
    leave(scene);
}

// The victim leaves while the others start another barrier.
void a_rank_finalizes_early() {
    const Scene scene = open_scene();
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        *scene.ended_at = sennit_wtime();
        (void)sennit_finalize();
        sleep_ms(1500);  // stays alive: the others must notice its leaving
        return;
    }
    // The first barrier may meet the victim's last one.
    const double start = sennit_wtime();
    sennit_status status = sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
    if (status == SENNIT_OK) status = sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
    expect(status, SENNIT_ERR_PEER_LOST, "sennit_barrier");
    require(sennit_last_error()->peer == scene.victim, "the error names the rank that left");
    require(sennit_wtime() - start < kSoon + 0.1, "it was noticed in time");
    (void)sennit_finalize();
}

// The victim lives and never comes: the others leave when their time is over. Rank 0 continues
// the victim when the others' processes have ended.
void finalize_beside_a_stopped_rank() {
    (void)setenv("SENNIT_FINALIZE_TIMEOUT", "0.5", 1);
    const Scene scene = open_scene();
    const auto size = static_cast<std::size_t>(sennit_size());
    const pid_t own = getpid();
    std::vector<pid_t> processes(size);
    expect(sennit_allgather(SENNIT_TEAM_WORLD, &own, processes.data(), sizeof own, SENNIT_FOREVER),
           SENNIT_OK, "allgather");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
    const bool is_first = sennit_rank() == 0;
    if (sennit_rank() == scene.victim) {
        (void)raise(SIGSTOP);
        (void)sennit_finalize();  // the others came and left, so the result does not matter
        return;
    }
    sleep_ms(50);  // the victim is stopped by now
    const double start = sennit_wtime();
    const sennit_status status = sennit_finalize();
    const double seconds = sennit_wtime() - start;
    // A survivor whose time ended a moment earlier has left, which the next survivor notices at
    // once.
    if (size == 2 || status != SENNIT_ERR_PEER_LOST) {
        expect(status, SENNIT_ERR_TIMEOUT, "sennit_finalize");
        require(seconds > 0.45, "finalize waits until its limit");
    }
    require(seconds < 2, "finalize is bounded");
    require(std::string(sennit_last_error()->operation) == "sennit_finalize",
            "the error names the call");
    require(sennit_initialized() == 0, "the caller is no rank any more");
    for (std::size_t peer = 1; is_first && peer + 1 < size; ++peer)
        for (int i = 0; kill(processes[peer], 0) == 0 && i < 5000; ++i)
            sleep_ms(1);
    if (is_first) (void)kill(processes[size - 1], SIGCONT);
}

// ---------------------------------------------------------------- teams

void others_wait_in_the_creation_of_a_team() {
    const Scene scene = open_scene();
    const bool mine = sennit_rank() == scene.victim;
    if (mine) {
        sleep_ms(50);
        die(scene);
    }
    // The victim names no color, but it is a member of the parent, so the call needs it.
    sennit_team team{77};
    const sennit_status status = sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team);
    expect_lost(scene, status, "sennit_team_split");
    require(team.handle == 77, "a creation that failed gives nothing");
    leave(scene);
}

void others_wait_in_the_destruction_of_a_team() {
    const Scene scene = open_scene();
    sennit_team team;
    expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), SENNIT_OK, "split");
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        die(scene);
    }
    expect_lost(scene, sennit_team_destroy(team), "sennit_team_destroy");
    expect(sennit_team_destroy(team), SENNIT_ERR_ARG, "this rank's part is gone all the same");
    leave(scene);
}

// The team's barrier found the death, and that barrier stays open forever: this rank's part of the
// team is still freed.
void a_team_that_lost_a_rank_can_be_destroyed() {
    const Scene scene = open_scene();
    sennit_team team;
    expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), SENNIT_OK, "split");
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        die(scene);
    }
    expect_lost(scene, sennit_barrier(team, SENNIT_FOREVER), "sennit_barrier");
    expect(sennit_team_destroy(team), SENNIT_ERR_PEER_LOST, "destroy");
    expect(sennit_team_destroy(team), SENNIT_ERR_ARG, "this rank's part is gone all the same");
    leave(scene);
}

// A team without the victim goes on, also if the victim dies during the team's calls.
void a_team_without_the_victim_goes_on() {
    const Scene scene = open_scene();
    const bool mine = sennit_rank() == scene.victim;
    sennit_team team;
    expect(sennit_team_split(SENNIT_TEAM_WORLD, mine ? 1 : 0, 0, &team), SENNIT_OK, "split");
    if (mine) {
        sleep_ms(20);
        die(scene);
    }
    const double start = sennit_wtime();
    for (int round = 0; round < 20 || sennit_wtime() - start < 0.3; ++round) {
        sennit_gptr made;
        expect(sennit_alloc(team, 100, 0, 0, &made), SENNIT_OK, "alloc among survivors");
        expect(sennit_barrier(team, SENNIT_FOREVER), SENNIT_OK, "barrier among survivors");
        expect(sennit_free(made), SENNIT_OK, "free among survivors");
        sennit_team inner;
        expect(sennit_team_split(team, 0, 0, &inner), SENNIT_OK, "split among survivors");
        expect(sennit_team_destroy(inner), SENNIT_OK, "destroy among survivors");
        double now = sennit_wtime();
        expect(sennit_alloc(team, sizeof now, 0, 0, &made), SENNIT_OK, "alloc");
        expect(sennit_put(made, &now, sizeof now), SENNIT_OK, "put");
        expect(sennit_barrier(team, SENNIT_FOREVER), SENNIT_OK, "barrier");
        // All ranks must end in the same round: the first member's clock decides.
        int first = 0;
        expect(sennit_team_world_rank(team, 0, &first), SENNIT_OK, "world rank");
        expect(sennit_get(&now, sennit_gptr_at(made, first), sizeof now), SENNIT_OK, "get");
        expect(sennit_free(made), SENNIT_OK, "free");
        if (round >= 20 && now - *scene.ended_at > 0.2 && *scene.ended_at > 0) break;
    }
    expect(sennit_team_destroy(team), SENNIT_OK, "destroy among survivors");
    leave(scene);
}

// One rank comes too late for a creation with the limit SENNIT_TIMEOUT. No rank hangs, no rank
// gets a team, and the next creation works.
void a_rank_is_late_for_a_team() {
    (void)setenv("SENNIT_TIMEOUT", "0.2", 1);
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    const bool late = sennit_rank() == sennit_size() - 1;
    sennit_team team{77};
    if (late) {
        sleep_ms(800);
        // The others have given their arguments and are in the next call by now.
        expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), SENNIT_ERR_ARG, "a late split");
    } else {
        const double start = sennit_wtime();
        expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), SENNIT_ERR_TIMEOUT, "a split");
        require(sennit_wtime() - start < 0.7, "the call ends soon after its limit");
        expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), SENNIT_ERR_STATE, "another");
        expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "the same meeting");
        expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "the late rank's");
    }
    require(team.handle == 77, "a creation that failed gives nothing");
    expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), SENNIT_OK, "the next split");
    expect(sennit_barrier(team, SENNIT_FOREVER), SENNIT_OK, "its barrier");
    expect(sennit_team_destroy(team), SENNIT_OK, "its end");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
}

void a_rank_is_late_for_an_allocation() {
    (void)setenv("SENNIT_TIMEOUT", "0.2", 1);
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    const bool late = sennit_rank() == sennit_size() - 1;
    sennit_gptr gptr{-7, 7, 7};
    if (late) {
        sleep_ms(800);
        expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), SENNIT_ERR_ARG, "a late alloc");
    } else {
        expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), SENNIT_ERR_TIMEOUT, "an alloc");
        expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), SENNIT_ERR_STATE, "another");
        expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "the same meeting");
        expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "the late rank's");
    }
    require(gptr.rank == -7 && gptr.segment == 7, "an allocation that failed gives nothing");
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), SENNIT_OK, "the next alloc");
    expect(sennit_free(gptr), SENNIT_OK, "its end");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
}

// Rank 1 never comes. The others come one after the other, and each one's error names rank 1, not
// a rank that gave up before.
void a_rank_dies_before_init() {
    const char *number = std::getenv("SENNIT_RANK");
    require(number != nullptr, "started by sennit run");
    const int rank = std::atoi(number);
    if (rank == 1) (void)kill(getpid(), SIGKILL);
    sleep_ms(200 * rank);
    const double start = sennit_wtime();
    expect(sennit_init(nullptr), SENNIT_ERR_PEER_LOST, "init");
    require(sennit_wtime() - start < 20, "it does not wait for its timeout");
    require(sennit_last_error()->peer == 1, "the rank that died is named");
    require(sennit_initialized() == 0, "the caller is no rank");
}

// A rank dies in a team that reuses the slot of a team whose collective calls were given up. Old
// contents of the slot do not hide the death.
void death_in_a_team_after_one_that_was_given_up() {
    const Scene scene = open_scene();
    std::vector<char> data(kMebi);
    sennit_team team;
    expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), SENNIT_OK, "split");
    const std::size_t bytes = sennit_rank() == 0 ? 20000 : kMebi;
    // The root may have sent everything before it learns that the others expect more data.
    sennit_status status = SENNIT_OK;
    for (int round = 0; round < 100 && status == SENNIT_OK; ++round)
        status = sennit_broadcast(team, 0, data.data(), bytes, SENNIT_FOREVER);
    require(status != SENNIT_OK, "a broadcast of two sizes fails");
    expect(sennit_team_destroy(team), SENNIT_OK, "destroy");
    expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), SENNIT_OK, "split");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
    if (sennit_rank() == scene.victim) {
        sleep_ms(50);
        die(scene);
    }
    const double mine = 1;
    double sum = 0;
    expect_lost(scene,
                sennit_allreduce(team, &mine, &sum,
                                 sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_SUM), SENNIT_FOREVER),
                "sennit_allreduce");
    leave(scene);
}

// The same happens under valgrind and before Linux 5.3.
void death_where_the_kernel_has_no_pidfd() {
    sennit::test::refuse_system_calls({__NR_pidfd_open}, ENOSYS);
    others_wait_in_a_barrier(20);
}

void run(const std::string &what) {
    if (what == "death_without_pidfd") return death_where_the_kernel_has_no_pidfd();
    if (what == "death_in_barrier") return others_wait_in_a_barrier(20);
    if (what == "death_in_long_barrier") return others_wait_in_a_barrier(400);
    if (what == "death_in_short_waits") return others_wait_shortly_again_and_again();
    if (what == "death_in_alloc") return others_wait_in_an_allocation();
    if (what == "death_in_small_collective") return others_wait_in_a_collective(false, 64);
    if (what == "death_in_large_collective") return others_wait_in_a_collective(false, 1 << 20);
    if (what == "death_in_request") return others_wait_in_a_collective(true, 5000);
    if (what == "death_in_free") return others_wait_in_a_free();
    if (what == "death_in_region_attach") return others_wait_in_the_exchange_of_regions();
    if (what == "death_in_lock_create") return others_wait_in_the_creation_of_a_lock();
    if (what == "death_in_lock_destroy") return others_wait_in_the_destruction_of_a_lock();
    if (what == "death_in_finalize") return others_wait_in_finalize();
    if (what == "late_third") return a_third_rank_is_late();
    if (what == "exit") return a_rank_exits_without_finalize();
    if (what == "early_finalize") return a_rank_finalizes_early();
    if (what == "stopped") return finalize_beside_a_stopped_rank();
    if (what == "death_in_team_creation") return others_wait_in_the_creation_of_a_team();
    if (what == "death_in_team_destruction") return others_wait_in_the_destruction_of_a_team();
    if (what == "death_before_team_destruction") return a_team_that_lost_a_rank_can_be_destroyed();
    if (what == "team_of_survivors") return a_team_without_the_victim_goes_on();
    if (what == "death_before_init") return a_rank_dies_before_init();
    if (what == "late_for_an_allocation") return a_rank_is_late_for_an_allocation();
    if (what == "late_for_a_team") return a_rank_is_late_for_a_team();
    if (what == "death_after_giving_up") return death_in_a_team_after_one_that_was_given_up();
    fail("there is no scene " + what);
}

}  // namespace

int main(int count, char **words) {
    return sennit::test::play(count, words, run);
}
