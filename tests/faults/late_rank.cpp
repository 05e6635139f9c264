// One rank of a job in which rank 0 is alive but late for sennit_init or sennit_finalize. Started
// by faults_test.py under `sennit run`.
#include <sennit/sennit.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "scenes.hpp"

namespace {

using sennit::test::expect;
using sennit::test::require;
using sennit::test::sleep_ms;

constexpr int kLong_ms = 10'700;  // longer than the library waits before it warns

bool is_first() {
    return std::strcmp(std::getenv("SENNIT_RANK"), "0") == 0;
}

std::string logged;

void keep(void *, sennit_log_level level, const char *text) {
    if (level == SENNIT_LOG_WARNING) logged += std::string(text) + "\n";
}

// Only the lowest waiting rank has warned, and once.
void expect_warning(int rank, const char *about) {
    if (rank != 1) return require(logged.empty(), "one rank warns for all");
    require(logged.find(about) != std::string::npos, "the warning names the late rank");
    require(logged.find(about) == logged.rfind(about), "there is one warning");
}

// Broken by a time limit that nobody set: the launcher would kill rank 0 during its work.
void late_for_finalize() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    if (is_first()) sleep_ms(kLong_ms);
    const int rank = sennit_rank();
    expect(sennit_finalize(), SENNIT_OK, "finalize");
    expect_warning(rank, "in sennit_finalize for rank 0 (process");
}

void late_for_init() {
    if (is_first()) sleep_ms(kLong_ms);
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    expect_warning(sennit_rank(), "rank 0 did not call sennit_init");
    expect(sennit_finalize(), SENNIT_OK, "finalize");
}

void expect_one_warning(const std::string &text) {
    if (logged != text + "\n") std::fprintf(stderr, "logged:\n%s", logged.c_str());
    require(logged == text + "\n", "the wait has warned once: " + text);
}

// Rank 5 puts into this rank's only message twice, and the second put waits for the reset.
struct Target {
    sennit_signal arrived = SENNIT_SIGNAL_NULL;
    sennit_block block{};

    void make() {
        sennit_gptr memory = SENNIT_GPTR_NULL;
        expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &memory), SENNIT_OK, "alloc");
        if (is_first())
            expect(sennit_signal_create(1, 1, SENNIT_SIGNAL_STRICT, &arrived), SENNIT_OK, "create");
        expect(sennit_block_init({memory, 64}, 0, 8, SENNIT_SIGNAL_NULL, arrived, &block),
               SENNIT_OK, "block_init");
        expect(sennit_broadcast(SENNIT_TEAM_WORLD, 0, &block, sizeof block, SENNIT_FOREVER),
               SENNIT_OK, "broadcast");
    }
    void take_both() const {
        for (int i = 0; i < 2; ++i) {
            expect(sennit_signal_wait(arrived, SENNIT_FOREVER), SENNIT_OK, "signal_wait");
            expect(sennit_signal_reset(arrived), SENNIT_OK, "reset");
        }
    }
    void put_twice() const {
        sennit_peer_block there;
        expect(sennit_block_attach(&block, &there), SENNIT_OK, "attach");
        const std::uint64_t data = 1;
        sennit_notice notice{};
        notice.epoch = SENNIT_EPOCH_NEXT;
        notice.wait_ns = SENNIT_FOREVER;
        for (int i = 0; i < 2; ++i)
            expect(sennit_put_notify_with(there, 0, &data, sizeof data, &notice), SENNIT_OK, "put");
    }
};

// Each rank waits for rank 0 in a different call.
void late_for_waits() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    const int rank = sennit_rank();
    sennit_team team[5];
    for (int i = 1; i < 5; ++i) {
        const bool is_member = rank == 0 || rank == i;
        expect(sennit_team_split(SENNIT_TEAM_WORLD, is_member ? 0 : SENNIT_COLOR_NONE, 0, &team[i]),
               SENNIT_OK, "split");
    }
    Target target;
    target.make();
    sennit_signal signal = SENNIT_SIGNAL_NULL;
    sennit_signal signals[6] = {};
    if (rank == 4) expect(sennit_signal_create(2, 2, 0, &signal), SENNIT_OK, "create");
    expect(sennit_allgather(SENNIT_TEAM_WORLD, &signal, signals, sizeof signal, SENNIT_FOREVER),
           SENNIT_OK, "allgather");
    const std::uint64_t one = 1;
    std::uint64_t sum = 0;
    const sennit_reduction reduction = sennit_reduction_of(1, SENNIT_UINT64, SENNIT_SUM);
    const auto start = [&](int i, sennit_request *request) {
        return sennit_barrier_nb(team[i], request);
    };
    sennit_request request = SENNIT_REQUEST_NULL;
    if (rank == 0) {
        expect(sennit_signal_notify(signals[4], 0), SENNIT_OK, "notify");
        sleep_ms(kLong_ms);
        expect(sennit_barrier(team[1], SENNIT_FOREVER), SENNIT_OK, "barrier");
        expect(sennit_allreduce(team[2], &one, &sum, reduction, SENNIT_FOREVER), SENNIT_OK, "sum");
        expect(start(3, &request), SENNIT_OK, "barrier_nb");
        expect(sennit_wait(&request, SENNIT_FOREVER), SENNIT_OK, "wait");
        expect(sennit_signal_notify(signals[4], 0), SENNIT_OK, "notify");
        target.take_both();
        require(logged.empty(), "nobody is late for rank 0");
    } else if (rank == 1) {
        expect(sennit_barrier(team[1], SENNIT_FOREVER), SENNIT_OK, "barrier");
        expect_one_warning("sennit_barrier has waited for 10 s: rank 0 has not arrived");
    } else if (rank == 2) {
        expect(sennit_allreduce(team[2], &one, &sum, reduction, SENNIT_FOREVER), SENNIT_OK, "sum");
        expect_one_warning("sennit_allreduce has waited for 10 s: rank 0 has not arrived");
    } else if (rank == 3) {
        expect(start(3, &request), SENNIT_OK, "barrier_nb");
        expect(sennit_wait(&request, SENNIT_FOREVER), SENNIT_OK, "wait");
        expect_one_warning(
            "the request of sennit_barrier_nb has waited for 10 s: rank 0 has not arrived");
    } else if (rank == 5) {
        target.put_twice();
        require(logged.find("a notified put or get has waited for 10 s: ") == 0 &&
                    logged.find("rank 0 has not reset epoch 0") != std::string::npos,
                "the warning says what is missing: " + logged);
    } else {
        expect(sennit_signal_wait(signal, SENNIT_FOREVER), SENNIT_OK, "signal_wait");
        require(logged.find("sennit_signal_wait has waited for 10 s: signal 0x") == 0 &&
                    logged.find("has not fired: 1 of 2 events of epoch 0 is missing\n") !=
                        std::string::npos,
                "the warning says what is missing: " + logged);
    }
    expect(sennit_finalize(), SENNIT_OK, "finalize");
}

// Rank 1 is stopped and takes no data: rank 0 waits for a request, rank 2 for a plan.
void stopped_for_waits() {
    constexpr std::size_t kBytes = std::size_t{64} << 20;
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    const int rank = sennit_rank();
    sennit_gptr memory = SENNIT_GPTR_NULL;
    expect(sennit_alloc(SENNIT_TEAM_WORLD, 2 * kBytes, 0, 0, &memory), SENNIT_OK, "alloc");
    sennit_block block;
    expect(sennit_block_init({memory, 2 * kBytes}, 0, 2 * kBytes, SENNIT_SIGNAL_NULL,
                             SENNIT_SIGNAL_NULL, &block),
           SENNIT_OK, "block_init");
    sennit_block blocks[3];
    const pid_t own = getpid();
    pid_t processes[3];
    expect(sennit_allgather(SENNIT_TEAM_WORLD, &block, blocks, sizeof block, SENNIT_FOREVER),
           SENNIT_OK, "allgather");
    expect(sennit_allgather(SENNIT_TEAM_WORLD, &own, processes, sizeof own, SENNIT_FOREVER),
           SENNIT_OK, "allgather");
    const std::vector<char> data(kBytes);
    sennit_request request = SENNIT_REQUEST_NULL;
    sennit_plan plan = SENNIT_PLAN_NULL;
    if (rank == 2) {
        sennit_peer_block there;
        expect(sennit_block_attach(&blocks[1], &there), SENNIT_OK, "attach");
        expect(sennit_plan_create(&plan), SENNIT_OK, "create");
        expect(sennit_plan_put(plan, there, kBytes, data.data(), kBytes), SENNIT_OK, "plan_put");
        expect(sennit_plan_commit(plan, 0, 1), SENNIT_OK, "commit");
    }
    expect(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER), SENNIT_OK, "barrier");
    if (rank == 1) {
        (void)raise(SIGSTOP);
    } else {
        while (sennit::test::state_of(processes[1]) != 'T')
            sleep_ms(1);
        constexpr std::int64_t kLimit_ns = std::int64_t{kLong_ms} * 1'000'000;
        const sennit_gptr there = sennit_gptr_at(memory, 1);
        if (rank == 0) {
            expect(sennit_put_nb(there, data.data(), kBytes, &request), SENNIT_OK, "put_nb");
            expect(sennit_wait(&request, kLimit_ns), SENNIT_ERR_TIMEOUT, "wait");
            expect_one_warning(
                "a wait for a request has lasted 10 s: the operation with rank 1 is not complete");
            require(kill(processes[1], SIGCONT) == 0, "rank 1 goes on");
            expect(sennit_wait(&request, SENNIT_FOREVER), SENNIT_OK, "wait");
        } else {
            expect(sennit_plan_start(plan), SENNIT_OK, "start");
            expect(sennit_plan_wait(plan, SENNIT_FOREVER), SENNIT_OK, "plan_wait");
            expect_one_warning(
                "sennit_plan_wait has waited for 10 s: operations with rank 1 are not complete");
            expect(sennit_plan_destroy(plan), SENNIT_OK, "destroy");
        }
    }
    expect(sennit_finalize(), SENNIT_OK, "finalize");
}

// Broken by an error that does not name the late rank and the limit.
void too_late_for_init() {
    if (is_first()) return sleep_ms(1500);
    (void)setenv("SENNIT_INIT_TIMEOUT", "0.5", 1);
    expect(sennit_init(nullptr), SENNIT_ERR_TIMEOUT, "init");
    const std::string text = sennit_last_error()->text;
    require(sennit_last_error()->peer == 0, "the error has the late rank");
    require(text.find("rank 0 did not call sennit_init in time") == 0, text.c_str());
    require(text.find("SENNIT_INIT_TIMEOUT") != std::string::npos, "the error names the knob");
}

void too_late_for_finalize() {
    (void)setenv("SENNIT_FINALIZE_TIMEOUT", "0.5", 1);
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    if (is_first()) {
        sleep_ms(1500);
        (void)sennit_finalize();
        return;
    }
    expect(sennit_finalize(), SENNIT_ERR_TIMEOUT, "finalize");
    const std::string text = sennit_last_error()->text;
    require(sennit_last_error()->peer == 0, "the error has the late rank");
    require(text.find("rank 0 (process") == 0, text.c_str());
    require(text.find("SENNIT_FINALIZE_TIMEOUT") != std::string::npos, "the error names the knob");
}

// The ranks wait for each other in different teams when the launcher is killed.
void launcher_ends() {
    expect(sennit_init(nullptr), SENNIT_OK, "init");
    sennit_team team;
    expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), SENNIT_OK, "split");
    std::printf("ready\n");
    (void)std::fflush(stdout);
    expect(sennit_barrier(is_first() ? SENNIT_TEAM_WORLD : team, SENNIT_FOREVER),
           SENNIT_ERR_PEER_LOST, "barrier");
    require(std::strstr(sennit_last_error()->text, "the launcher has ended") != nullptr,
            sennit_last_error()->text);
    (void)sennit_finalize();
}

void run(const std::string &scene) {
    if (scene == "launcher_ends") return launcher_ends();
    (void)sennit_log_set(keep, nullptr, SENNIT_LOG_WARNING);
    if (scene == "for_finalize") return late_for_finalize();
    if (scene == "for_init") return late_for_init();
    if (scene == "for_waits") return late_for_waits();
    if (scene == "stopped_for_waits") return stopped_for_waits();
    if (scene == "too_late_for_init") return too_late_for_init();
    if (scene == "too_late_for_finalize") return too_late_for_finalize();
    std::fprintf(stderr, "no scene %s\n", scene.c_str());
    std::exit(2);
}

}  // namespace

int main(int count, char **words) {
    return sennit::test::play(count, words, run);
}
