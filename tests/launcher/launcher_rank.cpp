// A rank that uses only the launcher's bootstrap and nothing of the library above it. Started by
// launcher_test.py under `sennit run`; exits with 0 if the test that its first argument names
// passes.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../support/system_calls.hpp"
#include "base/fail.hpp"
#include "bootstrap/bootstrap.hpp"

namespace {

using sennit::runtime::kSennitLauncher;

constexpr std::int64_t kTimeoutNs = 20'000'000'000;

[[noreturn]] void wrong(const char *what) {
    std::fprintf(stderr, "wrong: %s: %s\n", what, sennit::thread_error()->text);
    std::exit(10);
}

sennit_bootstrap open_or_exit() {
    char why[256];
    if (!kSennitLauncher.present(why, sizeof why)) {
        std::fprintf(stderr, "absent: %s\n", why);
        std::exit(11);
    }
    sennit_bootstrap bootstrap{};
    if (kSennitLauncher.open(kTimeoutNs, &bootstrap) != SENNIT_OK) {
        std::fprintf(stderr, "refused: %s\n", sennit::thread_error()->text);
        std::exit(12);
    }
    return bootstrap;
}

void gather_and_check(const sennit_bootstrap &bootstrap, std::size_t bytes, int round) {
    const auto letter = [&](int rank) { return static_cast<char>(rank * 7 + round); };
    const std::vector<char> mine(bytes, letter(bootstrap.rank));
    std::vector<char> all(bytes * static_cast<std::size_t>(bootstrap.size));
    if (bootstrap.allgather(bootstrap.context, mine.data(), all.data(), bytes, kTimeoutNs) != 0) {
        wrong("allgather");
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i] != letter(static_cast<int>(i / bytes))) wrong("a part of another rank");
    }
}

// exchange ROUNDS BYTES GATHERS: claims, uses and releases the rank ROUNDS times.
int exchange(int rounds, std::size_t bytes, int gathers) {
    for (int round = 0; round < rounds; ++round) {
        const sennit_bootstrap bootstrap = open_or_exit();
        for (int i = 0; i < gathers; ++i)
            gather_and_check(bootstrap, bytes, round + i);
        if (bootstrap.barrier(bootstrap.context, kTimeoutNs) != 0) wrong("barrier");
        bootstrap.release(bootstrap.context);
    }
    return 0;
}

// start_another PROGRAM ARGS...: claims the rank, then executes another program with its
// environment.
int start_another(char **command) {
    const sennit_bootstrap bootstrap = open_or_exit();
    if (bootstrap.barrier(bootstrap.context, kTimeoutNs) != 0) wrong("barrier");
    execv(command[0], command);
    wrong("execv");
}

// missing HOW: rank 1 goes away in the way HOW (release, exit, kill, unequal); all others are told
// at once.
int missing(const std::string &how) {
    const sennit_bootstrap bootstrap = open_or_exit();
    gather_and_check(bootstrap, 8, 0);
    if (bootstrap.rank == 1 && how == "release") {
        bootstrap.release(bootstrap.context);
        return 0;
    }
    if (bootstrap.rank == 1 && how == "exit") _exit(0);
    if (bootstrap.rank == 1 && how == "kill") raise(SIGKILL);
    const std::size_t bytes = bootstrap.rank == 1 && how == "unequal" ? 16 : 8;
    std::vector<char> all(bytes * static_cast<std::size_t>(bootstrap.size));
    const std::vector<char> mine(bytes);
    const int result =
        bootstrap.allgather(bootstrap.context, mine.data(), all.data(), bytes, kTimeoutNs);
    if (result != SENNIT_ERR_PEER_LOST) wrong("the status is not PEER_LOST");
    // Ranks that fail leave too, so the error may name any of the ranks that left.
    if (sennit::thread_error()->peer < 0) wrong("no rank is named");
    bootstrap.release(bootstrap.context);
    return 0;
}

// leave HOW: rank 1 ends with 0 without leaving the job in order (exit), or after leaving it
// (release), or after its wait has timed out (timeout); the others stay for a while.
int leave(const std::string &how) {
    const sennit_bootstrap bootstrap = open_or_exit();
    if (bootstrap.barrier(bootstrap.context, kTimeoutNs) != 0) wrong("barrier");
    if (bootstrap.rank == 1 && how == "exit") std::exit(0);
    if (bootstrap.rank == 1 && how == "timeout" &&
        bootstrap.barrier(bootstrap.context, 100'000'000) != SENNIT_ERR_TIMEOUT)
        wrong("no TIMEOUT");
    if (bootstrap.rank != 1) sleep(2);
    bootstrap.release(bootstrap.context);
    return 0;
}

// late: rank 1 never comes to the barrier; the others' wait ends at its timeout.
int late() {
    constexpr std::int64_t kShortNs = 300'000'000;
    const sennit_bootstrap bootstrap = open_or_exit();
    if (bootstrap.rank == 1) {
        sleep(2);
        bootstrap.release(bootstrap.context);
        return 0;
    }
    if (bootstrap.barrier(bootstrap.context, kShortNs) != SENNIT_ERR_TIMEOUT) wrong("no TIMEOUT");
    if (bootstrap.barrier(bootstrap.context, kTimeoutNs) != SENNIT_ERR_BOOTSTRAP)
        wrong("usable after TIMEOUT");
    bootstrap.release(bootstrap.context);
    return 0;
}

// hold: claims the rank, prints "held", and stays.
int hold() {
    (void)open_or_exit();
    std::puts("held");
    std::fflush(stdout);
    for (;;)
        pause();
}

// without_limits PROGRAM ARGS...: executes a program that may not read its limits.
int without_limits(char **command) {
    sennit::test::refuse_system_calls({__NR_prlimit64, __NR_getrlimit}, EPERM);
    execv(command[0], command);
    wrong("execv");
}

}  // namespace

int main(int argc, char **argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "exchange" && argc == 5) {
        return exchange(std::atoi(argv[2]), std::strtoul(argv[3], nullptr, 10), std::atoi(argv[4]));
    }
    if (what == "start_another" && argc > 2) return start_another(argv + 2);
    if (what == "missing" && argc == 3) return missing(argv[2]);
    if (what == "without_limits" && argc > 2) return without_limits(argv + 2);
    if (what == "leave" && argc == 3) return leave(argv[2]);
    if (what == "late") return late();
    if (what == "hold") return hold();
    std::fprintf(stderr, "usage: see the comments in launcher_rank.cpp\n");
    return 2;
}
