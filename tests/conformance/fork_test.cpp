// Children of a rank: a forked child cannot use Sennit and cannot affect its parent; a spawned one
// is an ordinary program. Ranks are processes here, because a fork in a process with many threads
// is restricted in any program.
#include "harness.hpp"

#include <csignal>
#include <cstdlib>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace conformance;

namespace {

// Runs `child` in a forked process; its result is the exit code, which must be below 100.
template <class Child>
int in_child(Ranks &test, Child child) {
    const pid_t made = fork();
    if (made == 0) _exit(child());
    test.require(made > 0, "fork works");
    int state = 0;
    test.require(waitpid(made, &state, 0) == made, "the child ends");
    return WIFEXITED(state) ? WEXITSTATUS(state) : 100 + WTERMSIG(state);
}

void exit_on_fault(int) {
    _exit(55);
}

}  // namespace

// Broken by a child that believes that it is its parent's rank.
RANK_TEST(fork, every_call_in_a_forked_child_returns_state, kProcesses) {
    const sennit_gptr segment = test.allocate(64);
    const int failed_at = in_child(test, [&] {
        std::uint64_t word = 1;
        sennit_gptr other = segment;
        sennit_request request = SENNIT_REQUEST_NULL;
        int done = 0;
        int step = 0;
        const auto refused = [&](sennit_status status) {
            ++step;
            return status == SENNIT_ERR_STATE &&
                   std::strstr(sennit_last_error()->text, "fork") != nullptr;
        };
        if (sennit_rank() != -1 || sennit_size() != -1 || sennit_initialized() != 0) return 90;
        if (!refused(sennit_init(nullptr))) return step;
        if (!refused(sennit_put(segment, &word, 8))) return step;
        if (!refused(sennit_get(&word, segment, 8))) return step;
        if (!refused(sennit_put_nbi(segment, &word, 8))) return step;
        if (!refused(sennit_alloc_local(8, 0, 0, &other))) return step;
        if (!refused(sennit_alloc(SENNIT_TEAM_WORLD, 8, 0, 0, &other))) return step;
        if (!refused(sennit_free(segment))) return step;
        if (!refused(sennit_barrier(SENNIT_TEAM_WORLD, 0))) return step;
        if (!refused(sennit_flush_all(0))) return step;
        if (!refused(sennit_wait(&request, 0))) return step;
        if (!refused(sennit_test(&request, &done))) return step;
        if (!refused(sennit_thread_attach(0))) return step;
        if (!refused(sennit_finalize())) return step;
        if (sennit_ptr(segment) != nullptr) return 91;
        return 0;
    });
    test.equal(failed_at, 0);
    test.barrier();
    test.free(segment);
}

// Broken by a short way of a call that does not check the process and finds the parent's tables,
// whose shared lines are absent in the child.
RANK_TEST(fork, channels_signals_and_teams_of_the_parent_are_invalid_in_a_child, kProcesses) {
    const int self = test.rank;
    void *const buffer = nullptr;
    const std::size_t no_bytes = 0;
    const sennit_channel_ends ends{1, &self, &buffer, &no_bytes};
    void *there = nullptr;
    sennit_channel channel = SENNIT_CHANNEL_NULL;
    test.ok(sennit_channel_open(SENNIT_TEAM_WORLD, &ends, 0, SENNIT_FOREVER, &there, &channel));
    sennit_signal signal = SENNIT_SIGNAL_NULL;
    test.ok(sennit_signal_create(1, 1, 0, &signal));
    sennit_team team{};
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, test.rank % 2, 0, &team));
    const int failed_at = in_child(test, [&] {
        int can = 0;
        std::uint64_t word = 0;
        sennit_signal another = signal;
        sennit_team part = team;
        sennit_region region = SENNIT_REGION_NULL;
        sennit_channel second = channel;
        const sennit_status found[] = {
            sennit_channel_can_write(channel, &can),
            sennit_channel_have_written(channel),
            sennit_channel_can_read(channel, &can),
            sennit_channel_have_read(channel),
            sennit_channel_wait_write(channel, 0),
            sennit_channel_wait_read(channel, 0),
            sennit_channel_open(SENNIT_TEAM_WORLD, &ends, 0, 0, &there, &second),
            sennit_channel_close(&channel, 1, 0),
            sennit_signal_create(1, 1, 0, &another),
            sennit_signal_wait(signal, 0),
            sennit_signal_reset(signal),
            sennit_signal_destroy(signal),
            sennit_team_split(team, 0, 0, &part),
            sennit_barrier(team, 0),
            sennit_broadcast(team, 0, &word, sizeof word, 0),
            sennit_team_destroy(team),
            sennit_register(&word, sizeof word, 0, &region),
        };
        int step = 0;
        for (const sennit_status status : found) {
            ++step;
            if (status != SENNIT_ERR_STATE) return step;
        }
        return 0;
    });
    test.equal(failed_at, 0);
    test.ok(sennit_channel_close(&channel, 1, SENNIT_FOREVER));
    test.ok(sennit_signal_destroy(signal));
    test.ok(sennit_team_destroy(team));
    test.barrier();
}

// Broken by a child that maps the segments and could write to them.
RANK_TEST(fork, segments_are_absent_in_a_forked_child, kProcesses | kLoadStore) {
    const sennit_gptr segment = test.allocate(64);
    for (int peer = 0; peer < test.size; ++peer) {
        auto *word =
            static_cast<std::atomic<std::uint64_t> *>(sennit_ptr(sennit_gptr_at(segment, peer)));
        const int code = in_child(test, [&] {
            struct sigaction action {};
            action.sa_handler = exit_on_fault;
            (void)sigaction(SIGSEGV, &action, nullptr);
            (void)sigaction(SIGBUS, &action, nullptr);
            word->store(77, std::memory_order_relaxed);
            return 0;
        });
        test.equal(code, 55);
    }
    test.barrier();
    std::uint64_t word = 1;
    test.ok(sennit_get(&word, segment, sizeof word));
    test.equal(word, 0u);
    test.barrier();
    test.free(segment);
}

// Broken by memory that parent and child share: one sees the other's stores, or a peer's store
// reaches both.
RANK_TEST(fork, registered_memory_is_a_private_copy_in_a_forked_child, kProcesses | kTwoRanks) {
    constexpr std::size_t kBytes = 100000;
    std::vector<std::uint8_t> memory(kBytes);
    fill(memory.data(), kBytes, static_cast<std::uint64_t>(test.rank));
    sennit_region mine = SENNIT_REGION_NULL;
    test.ok(sennit_register(memory.data(), kBytes, 0, &mine));
    const sennit_region theirs = test.tell_all(mine)[static_cast<std::size_t>(test.next())];
    const int code = in_child(test, [&] {
        for (std::size_t i = 0; i < kBytes; ++i)
            if (memory[i] != pattern_byte(static_cast<std::uint64_t>(test.rank), i)) return 1;
        std::memset(memory.data(), 7, kBytes);
        return sennit_deregister(mine) == SENNIT_ERR_STATE ? 0 : 2;
    });
    test.equal(code, 0);
    check_pattern(test, memory.data(), kBytes, static_cast<std::uint64_t>(test.rank));
    test.barrier();
    // Peers and the parent continue as before.
    const std::uint8_t byte = 200;
    test.ok(sennit_put(theirs.gptr, &byte, 1));
    test.barrier();
    test.equal(memory[0], 200u);
    test.barrier();
    test.ok(sennit_deregister(mine));
    test.equal(memory[kBytes - 1], pattern_byte(static_cast<std::uint64_t>(test.rank), kBytes - 1));
}

// Broken by a child whose end closes or unlocks something, or sends a message to the launcher.
RANK_TEST(fork, the_parent_goes_on_undisturbed, kProcesses) {
    const sennit_gptr segment = test.allocate(1000);
    for (int round = 0; round < 5; ++round) {
        test.equal(in_child(test, [] { return sennit_finalize() == SENNIT_ERR_STATE ? 7 : 8; }), 7);
        std::vector<std::uint8_t> data(1000);
        fill(data.data(), data.size(), static_cast<std::uint64_t>(test.rank + round));
        test.ok(sennit_put(sennit_gptr_at(segment, test.next()), data.data(), data.size()));
        test.barrier();
        test.ok(sennit_get(data.data(), segment, data.size()));
        check_pattern(test, data.data(), data.size(),
                      static_cast<std::uint64_t>(test.previous() + round));
        test.barrier();
    }
    test.free(segment);
}

// Broken by state of an earlier world that blocks a child although Sennit was not running.
RANK_TEST(fork, a_child_forked_between_two_worlds_can_start, kProcesses | kNoWorld) {
    const int code = in_child(test, [] {
        (void)setenv("SENNIT_BOOTSTRAP", "alone", 1);
        sennit_options options = SENNIT_OPTIONS_INIT;
        options.paths = "self";
        if (sennit_init(&options) != SENNIT_OK) return 1;
        if (sennit_size() != 1) return 2;
        sennit_gptr segment;
        if (sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &segment) != SENNIT_OK) return 3;
        return sennit_finalize() == SENNIT_OK ? 0 : 4;
    });
    test.equal(code, 0);
    test.start();
    test.barrier();
    test.stop();
}

// Broken by posix_spawn or vfork treated as a fork.
RANK_TEST(fork, a_spawned_program_runs_and_the_rank_goes_on, kProcesses) {
    for (int round = 0; round < 5; ++round) {
        pid_t made = 0;
        char name[] = "true";
        char *words[] = {name, nullptr};
        test.equal(posix_spawnp(&made, "true", nullptr, nullptr, words, environ), 0);
        int state = 0;
        test.require(waitpid(made, &state, 0) == made, "the program ends");
        test.require(WIFEXITED(state) && WEXITSTATUS(state) == 0, "the program worked");
        test.equal(sennit_rank(), test.rank);
        test.barrier();
    }
}
