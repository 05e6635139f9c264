// The end of channels: in every order, with unread messages, by the thousand, and with a failed
// call.
#include <dirent.h>
#include <sys/mman.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "channels.hpp"

using namespace conformance;

// Broken by a close that waits for the other side's close, or loses a message.
RANK_TEST(channel, close_waits_until_its_messages_are_read_and_not_for_the_other_close, kTwoRanks) {
    if (!channels_lead_everywhere(test)) return;
    const sennit_gptr memory = test.allocate(24);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    if (takes_part(test)) {
        const int peer = 1 - test.rank;
        const Opened opened = open(test, {{peer, own, 8}, {peer, own + 1, 8}, {peer, own + 2, 8}});
        const Opened flags = open(test, {{peer, nullptr, 0}});
        if (test.rank == 0) {
            send_word(test, opened, 0, 11);
            send_word(test, opened, 1, 12);
            // Unread messages remain: nothing is closed, and all channels work.
            test.is(sennit_channel_close(opened.channels.data(), 3, 2 * kMillisecond),
                    SENNIT_ERR_TIMEOUT);
            test.equal(flag_of(test, sennit_channel_can_write, opened[2]), 1);
            send_word(test, opened, 2, 13);
            test.ok(sennit_channel_have_written(flags[0]));
            close(test, opened);  // while the other reads
            test.is(sennit_channel_have_read(opened[0]), SENNIT_ERR_ARG);
            test.ok(sennit_channel_wait_read(flags[0], SENNIT_FOREVER));
        } else {
            test.ok(sennit_channel_wait_read(flags[0], SENNIT_FOREVER));
            for (std::size_t i = 0; i < 3; ++i)
                expect_word(test, opened[i], own[i], 11 + i);
            test.is(sennit_channel_wait_read(opened[1], SENNIT_FOREVER), SENNIT_ERR_STATE);
            int flag = 0;
            test.is(sennit_channel_can_read(opened[1], &flag), SENNIT_ERR_STATE);
            test.is(sennit_channel_can_write(opened[1], &flag), SENNIT_ERR_STATE);
            test.is(sennit_channel_wait_write(opened[1], SENNIT_FOREVER), SENNIT_ERR_STATE);
            test.is(sennit_channel_have_written(opened[1]), SENNIT_ERR_STATE);
            test.is(sennit_channel_have_read(opened[1]), SENNIT_ERR_STATE);
            test.ok(sennit_channel_have_read(flags[0]));
            test.ok(sennit_channel_have_written(flags[0]));
            close(test, opened);
        }
        close(test, flags);
    }
    test.barrier();
    test.free(memory);
}

// Broken by two closing ranks that wait for each other to read.
RANK_TEST(channel, two_closing_ranks_with_unread_messages_do_not_wait, kTwoRanks) {
    if (!channels_lead_everywhere(test)) return;
    const sennit_gptr memory = test.allocate(8);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    for (int round = 0; takes_part(test) && round < (test.quick ? 20 : 200); ++round) {
        const Opened opened = open(test, {{1 - test.rank, own, 8}});
        send_word(test, opened, 0, 1);
        if (test.own.one_in(2)) test.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
        close(test, opened);
    }
    test.barrier();
    test.free(memory);
}

// Broken by a wait or a drain that does not see the other's mark while it sleeps.
RANK_TEST(channel, a_waiting_rank_learns_that_the_other_has_closed, kTwoRanks | kFreeThreads) {
    if (!channels_lead_everywhere(test)) return;
    if (takes_part(test)) {
        const Opened opened = open(test, {{1 - test.rank, nullptr, 0}}, 0);
        if (test.rank == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            test.ok(sennit_channel_have_written(opened[0]));
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        } else {
            test.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
            test.ok(sennit_channel_have_read(opened[0]));
            test.is(sennit_channel_wait_read(opened[0], SENNIT_FOREVER), SENNIT_ERR_STATE);
            test.equal(sennit_last_error()->peer, 0);
        }
        close(test, opened);
    }
    test.barrier();
}

// One target opens and another does not. Broken by an error that leaves the first channel open
// here, or its target unaware. Rank 1 may be late on a busy machine: rank 0 repeats until rank 1
// reports that they met.
RANK_TEST(channel, a_failed_open_closes_the_channels_that_had_met, kTwoRanks) {
    if (!channels_lead_everywhere(test)) return;
    if (test.size < 3) return;
    const sennit_gptr memory = test.allocate(16);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    own[1] = 0;
    test.barrier();
    const sennit_gptr has_met = sennit_gptr_add(sennit_gptr_at(memory, 0), 8);
    if (test.rank == 0) {
        std::uint64_t met = 0;
        while (met == 0) {
            Opened opened;
            test.is(try_open({{2, own, 8}, {1, own, 8}}, kFlags, 30 * kMillisecond, &opened),
                    SENNIT_ERR_TIMEOUT);
            test.ok(sennit_get(&met, has_met, sizeof met));
        }
    }
    if (test.rank == 1) {
        const Opened opened = open(test, {{0, own, 8}});
        test.is(sennit_channel_wait_read(opened[0], SENNIT_FOREVER), SENNIT_ERR_STATE);
        close(test, opened);
        const std::uint64_t yes = 1;
        test.ok(sennit_put(has_met, &yes, sizeof yes));
    }
    test.barrier();
    test.free(memory);
}

// Broken by halves, slots or registrations that are not given back, or handles used again.
RANK_TEST(channel, channels_come_and_go_by_the_thousand, kOnce) {
    if (!channels_lead_everywhere(test)) return;
    const int peer = test.rank ^ 1;
    if (peer < test.size) {
        std::uint64_t word = 0;
        std::set<std::uint32_t> handles;
        Opened probe;
        const sennit_status reached = try_open({{peer, &word, 8}}, kFlags, SENNIT_FOREVER, &probe);
        if (reached == SENNIT_OK) close(test, probe);
        const std::size_t bytes = reached == SENNIT_OK ? 8 : 0;
        const int rounds = test.quick ? 20 : 100;
        const std::size_t many = 20;
        for (int round = 0; round < rounds; ++round) {
            std::vector<End> ends(many, End{peer, &word, bytes});
            const Opened opened = open(test, ends);
            for (const sennit_channel channel : opened.channels)
                test.require(handles.insert(channel.handle).second, "no handle is given twice");
            test.ok(sennit_channel_have_written(opened[many - 1]));
            test.ok(sennit_channel_wait_read(opened[many - 1], SENNIT_FOREVER));
            test.ok(sennit_channel_have_read(opened[many - 1]));
            close(test, opened);
        }
        test.is(sennit_channel_have_written({*handles.begin()}), SENNIT_ERR_ARG);
    }
    test.barrier();
}

namespace {

// Descriptors and mappings of the process, as the kernel counts them.
struct Held {
    int descriptors = 0;
    int mappings = 0;  // of memory files
};

Held look() {
    Held held;
    DIR *const folder = opendir("/proc/self/fd");
    while (readdir(folder) != nullptr)
        ++held.descriptors;
    (void)closedir(folder);
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        held.mappings += line.find("memfd:sennit") != std::string::npos ? 1 : 0;
    return held;
}

// One rank after the other, when all have arrived: counting itself opens a file. Collective.
Held held_now(Ranks &test) {
    Held held;
    test.barrier();
    for (int rank = 0; rank < test.size; ++rank) {
        if (rank == test.rank) held = look();
        test.barrier();
    }
    return held;
}

// Buffers for many attempts: one that is adopted where possible, and one that never is.
struct Buffers {
    static constexpr std::size_t kBytes = 4096;
    void *own = std::aligned_alloc(kBytes, kBytes);
    void *shared = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    void *at(std::size_t offset) const { return static_cast<char *>(own) + offset; }

    Buffers() = default;
    ~Buffers() {
        std::free(own);
        (void)munmap(shared, kBytes);
    }
    Buffers(const Buffers &) = delete;
    Buffers &operator=(const Buffers &) = delete;
};

constexpr int kKindsOfAttempts = 6;

// One attempt between two ranks, by kind: a channel that is opened, used and closed; a peer that
// does not come; a buffer without a pointer; different flags on the two sides; channels to itself
// and twice to the peer, over unaligned, overlapping, empty and unequal buffers; a valid target
// followed by one that does not exist.
void attempt(Ranks &test, const Buffers &buffers, int kind) {
    const int peer = 1 - test.rank;
    const unsigned copies = test.rank == 0 ? SENNIT_CHANNEL_MIRROR : 0;
    Opened opened;
    sennit_status status = SENNIT_OK;
    switch (kind) {
        case 0:
            opened = open(test, {{peer, buffers.own, 8}});
            test.ok(sennit_channel_have_written(opened[0]));
            test.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
            test.ok(sennit_channel_have_read(opened[0]));
            return close(test, opened);
        case 1:
            // Sometimes the peer is here too, and it gives up as well.
            status = try_open({{peer, buffers.own, 8}}, kFlags, 0, &opened);
            if (status == SENNIT_OK) return close(test, opened);
            return test.is(status, SENNIT_ERR_TIMEOUT);
        case 2:
            status = try_open({{peer, buffers.shared, 8}}, 0, SENNIT_FOREVER, &opened);
            if (status == SENNIT_OK) return close(test, opened);
            return test.is(status, SENNIT_ERR_UNSUPPORTED);
        case 4:
            opened = open(test, {{test.rank, buffers.at(3), 5},
                                 {peer, buffers.at(1), 30 + static_cast<std::size_t>(test.rank)},
                                 {peer, buffers.at(9), 8},
                                 {peer, nullptr, 0},
                                 {test.rank, nullptr, 0}});
            test.ok(sennit_channel_have_written(opened[0]));
            test.ok(sennit_channel_have_written(opened[3]));
            test.ok(sennit_channel_wait_read(opened[3], SENNIT_FOREVER));
            test.ok(sennit_channel_have_read(opened[3]));
            return close(test, opened);
        case 5:
            return test.is(try_open({{test.rank, buffers.own, 8}, {test.size, buffers.own, 8}},
                                    kFlags, SENNIT_FOREVER, &opened),
                           SENNIT_ERR_RANGE);
        default:
            test.is(try_open({{peer, buffers.own, 8}}, copies, SENNIT_FOREVER, &opened),
                    SENNIT_ERR_ARG);
    }
}

void attempts(Ranks &test, const Buffers &buffers, int kind, int rounds) {
    for (int round = 0; takes_part(test) && round < rounds; ++round)
        attempt(test, buffers, kind);
    test.barrier();
}

// Some machines forbid copies between processes.
bool may_copy(Ranks &test, const Buffers &buffers) {
    Opened opened;
    sennit_status status = SENNIT_ERR_UNSUPPORTED;
    if (takes_part(test))
        status = try_open({{1 - test.rank, buffers.shared, 8}}, kFlags, SENNIT_FOREVER, &opened);
    if (status == SENNIT_OK) close(test, opened);
    return test.tell_all(status)[0] == SENNIT_OK;
}

// A peer beyond a network is refused before any resource is kept for it.
void check_refusals_of_far_peers(Ranks &test, int rounds) {
    const Buffers buffers;
    const Held before = held_now(test);
    for (int round = 0; round < rounds; ++round) {
        Opened opened;
        test.is(try_open({{test.rank, buffers.own, 8}, {far_peer(test), buffers.own, 8}}, kFlags,
                         SENNIT_FOREVER, &opened),
                SENNIT_ERR_OTHER_NODE);
    }
    const Held after = held_now(test);
    test.require(after.descriptors <= before.descriptors + kDescriptorsOfSleep,
                 "no descriptors are left behind");
    test.equal(after.mappings, before.mappings);
}

// Makes attempts of each kind; afterwards descriptors and mappings are as before.
void check_attempts(Ranks &test, int rounds) {
    const Buffers buffers;
    if (!may_copy(test, buffers)) return;
    attempts(test, buffers, 0, 5);
    const Held before = held_now(test);
    for (int kind = 0; kind < kKindsOfAttempts; ++kind) {
        attempts(test, buffers, kind, rounds);
        const Held after = held_now(test);
        test.require(after.descriptors <= before.descriptors + kDescriptorsOfSleep,
                     "no descriptors are left behind");
        test.equal(after.mappings, before.mappings);
    }
}

}  // namespace

// Broken by a descriptor, mapping, registration, half or slot that an attempt keeps: each kind of
// end has its own code. A chunk has 255 halves, so a loss of one per attempt shows.
RANK_TEST(channel, attempts_of_every_kind_leave_nothing_behind, kTwoRanks | kOnce) {
    const int rounds = test.quick ? 20 : 300;
    if (channels_lead_everywhere(test)) return check_attempts(test, rounds);
    check_refusals_of_far_peers(test, rounds);
}

// A rank has 16383 segments and as many channels. Broken by a leak of either, or a number that does
// not wrap.
RANK_TEST(channel_numbers, more_attempts_than_there_are_numbers_leave_nothing_behind,
          kTwoRanks | kOnlyNamed) {
    if (channels_lead_everywhere(test)) check_attempts(test, 17000);
}

// Broken by memory, mappings or registrations that only a close gives back, or by handles that
// outlive their rank.
RANK_TEST(channel, a_rank_may_end_with_channels_open, kNoWorld) {
    sennit_channel left = SENNIT_CHANNEL_NULL;
    for (int world = 0; world < 3; ++world) {
        test.start();
        std::uint64_t word = 0;
        std::vector<End> ends{{test.rank, &word, 8}};
        if (channels_lead_everywhere(test) && test.size > 1 && (test.rank ^ 1) < test.size)
            ends.push_back({test.rank ^ 1, nullptr, 0});
        const Opened opened = open(test, ends, 0);
        test.ok(sennit_channel_have_written(opened[0]));
        int can = 0;
        test.is(sennit_channel_can_read({opened[0].handle + 1}, &can), SENNIT_ERR_ARG);
        left = opened[0];
        test.stop();
        test.is(sennit_channel_have_read(left), SENNIT_ERR_STATE);
    }
}
