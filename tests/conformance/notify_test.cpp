// Blocks, and notified puts and gets.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "signals.hpp"
#include "threads.hpp"

using namespace conformance;

namespace {

sennit_block make_block(Ranks &test, sennit_region region, std::size_t offset, std::size_t bytes,
                        sennit_signal on_send = SENNIT_SIGNAL_NULL,
                        sennit_signal on_recv = SENNIT_SIGNAL_NULL) {
    sennit_block made;
    test.ok(sennit_block_init(region, offset, bytes, on_send, on_recv, &made));
    return made;
}

sennit_peer_block attach(Ranks &test, const sennit_block &block) {
    sennit_peer_block attached = SENNIT_PEER_BLOCK_NULL;
    test.ok(sennit_block_attach(&block, &attached));
    test.require(attached.handle != 0, "there is a handle");
    return attached;
}

std::uint64_t salt_of(int from, std::uint64_t epoch) {
    return epoch * 64 + static_cast<std::uint64_t>(from);
}

}  // namespace

// Broken by an event that overtakes its data, a message in the wrong epoch, or a default epoch that
// does not advance. Two halves take turns, so senders may run an epoch ahead without any other
// wait.
RANK_TEST(notify, data_of_all_ranks_is_there_when_the_signal_fires, kAnything) {
    const std::size_t part = 1024;
    const auto size = static_cast<std::size_t>(test.size);
    const std::size_t half = part * size;
    const sennit_gptr memory = test.allocate(2 * half);
    auto *own = static_cast<std::uint8_t *>(sennit_ptr(memory));
    const sennit_signal arrived = make_signal(test, static_cast<std::uint32_t>(test.size));
    const sennit_region region{sennit_gptr_at(memory, test.rank), 2 * half};
    const auto blocks =
        test.tell_all(make_block(test, region, 0, 2 * half, SENNIT_SIGNAL_NULL, arrived));
    std::vector<sennit_peer_block> peers;
    for (const sennit_block &block : blocks)
        peers.push_back(attach(test, block));
    std::vector<std::uint8_t> data(part);
    for (std::uint64_t epoch = 0; epoch < (test.quick ? 8u : 200u); ++epoch) {
        const std::size_t bytes = test.common.one_in(4) ? 8 : test.common.between(0, part);
        const std::size_t begin = epoch % 2 * half;
        fill(data.data(), bytes, salt_of(test.rank, epoch));
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t peer = (static_cast<std::size_t>(test.rank) + i) % size;
            const std::size_t place = begin + part * static_cast<std::size_t>(test.rank);
            when_taken(test,
                       [&] { return sennit_put_notify(peers[peer], place, data.data(), bytes); });
        }
        test.ok(sennit_signal_wait(arrived, SENNIT_FOREVER));
        for (int from = 0; from < test.size; ++from)
            check_pattern(test, own + begin + part * static_cast<std::size_t>(from), bytes,
                          salt_of(from, epoch));
        test.ok(sennit_signal_reset(arrived));
    }
    test.barrier();
    for (const sennit_peer_block peer : peers)
        test.ok(sennit_block_detach(peer));
    test.ok(sennit_signal_destroy(arrived));
    test.free(memory);
}

// Broken by an event that reports a read before its end.
RANK_TEST(notify, a_get_notifies_the_owner_after_the_read, kAnything) {
    const std::size_t bytes = 3000;
    const sennit_gptr memory = test.allocate(bytes);
    auto *own = static_cast<std::uint8_t *>(sennit_ptr(memory));
    const sennit_signal read = make_signal(test, 1);
    const sennit_signal ready = make_signal(test, 1);
    const auto blocks =
        test.tell_all(make_block(test, {sennit_gptr_at(memory, test.rank), bytes}, 0, bytes, read));
    const auto readies = test.tell_all(ready);
    const auto previous = static_cast<std::size_t>(test.previous());
    const sennit_peer_block peer = attach(test, blocks[previous]);
    std::vector<std::uint8_t> got(bytes);
    for (std::uint64_t epoch = 0; epoch < (test.quick ? 8u : 200u); ++epoch) {
        fill(own, bytes, salt_of(test.rank, epoch));
        add_when_taken(test, readies[static_cast<std::size_t>(test.next())], epoch);
        test.ok(sennit_signal_wait(ready, SENNIT_FOREVER));
        test.ok(sennit_signal_reset(ready));
        test.ok(sennit_get_notify(got.data(), peer, 0, bytes));
        check_pattern(test, got.data(), bytes, salt_of(test.previous(), epoch));
        test.ok(sennit_signal_wait(read, SENNIT_FOREVER));
        test.ok(sennit_signal_reset(read));
    }
    test.barrier();
    test.ok(sennit_block_detach(peer));
    test.ok(sennit_signal_destroy(read));
    test.ok(sennit_signal_destroy(ready));
    test.free(memory);
}

// Broken by a notice that changes the block's own signals, or by mixed-up epochs.
RANK_TEST(notify, signals_and_epochs_are_given_in_the_call, kAnything) {
    const sennit_gptr memory = test.allocate(64);
    const sennit_signal bound = make_signal(test, 1);
    const sennit_signal other = make_signal(test, 2);
    const sennit_signal local = make_signal(test, 3);
    const auto blocks = test.tell_all(
        make_block(test, {sennit_gptr_at(memory, test.rank), 64}, 8, 48, bound, bound));
    const auto others = test.tell_all(other);
    const auto next = static_cast<std::size_t>(test.next());
    const sennit_peer_block peer = attach(test, blocks[next]);
    const std::uint64_t word = 77 + static_cast<std::uint64_t>(test.rank);
    sennit_notice notice{others[next], local, 1, 0};
    test.ok(sennit_put_notify_with(peer, 0, &word, 8, &notice));
    test.ok(sennit_put_notify_with(peer, 8, &word, 8, &notice));
    test.equal(left_of(test, local), 1u);
    notice.epoch = 2;
    test.is(sennit_put_notify_with(peer, 16, &word, 8, &notice), SENNIT_ERR_SIGNAL_EARLY);
    notice.epoch = SENNIT_EPOCH_NEXT;
    test.is(sennit_put_notify_with(peer, 16, &word, 8, &notice), SENNIT_ERR_ARG);
    notice.remote = SENNIT_SIGNAL_NULL;  // the block's own, epoch 0
    test.ok(sennit_put_notify_with(peer, 24, &word, 8, &notice));
    test.require(is_fired(test, local), "the local signal has counted each call that succeeded");
    // The receiver also sees a surplus event for a moment, so the barrier comes after the last
    // wait.
    test.ok(sennit_signal_wait(bound, SENNIT_FOREVER));
    test.barrier();
    test.is(sennit_put_notify_with(peer, 24, &word, 8, &notice), SENNIT_ERR_SIGNAL_OVERFLOW);
    notice.local = SENNIT_SIGNAL_NULL;
    notice.epoch = 0;
    std::uint64_t got = 0;
    test.is(told(sennit_get_notify_with(&got, peer, 24, 8, &notice), test.next()),
            SENNIT_ERR_SIGNAL_OVERFLOW);
    test.barrier();
    const auto *own = static_cast<const std::uint64_t *>(sennit_ptr(memory));
    const std::uint64_t wanted = 77 + static_cast<std::uint64_t>(test.previous());
    test.equal(own[1], wanted);
    test.equal(own[2], wanted);
    test.equal(own[3], 0u);
    test.equal(own[4], wanted);
    test.equal(left_of(test, other), 2u);
    notice = sennit_notice{local, SENNIT_SIGNAL_NULL, 0, 0};
    if (test.size > 1) test.is(sennit_put_notify_with(peer, 0, &word, 8, &notice), SENNIT_ERR_ARG);
    if (test.size > 1) {
        notice = sennit_notice{others[next], others[next], 0, 0};
        test.is(sennit_put_notify_with(peer, 0, &word, 8, &notice), SENNIT_ERR_ARG);
    }
    test.barrier();
    for (const sennit_signal signal : {bound, other, local})
        test.ok(sennit_signal_destroy(signal));
    test.barrier();
    test.is(told(sennit_put_notify(peer, 0, &word, 8), test.next()), SENNIT_ERR_NOT_REGISTERED);
    test.ok(sennit_block_detach(peer));
    test.barrier();
    test.free(memory);
}

// Broken by a check value that does not cover a byte, or a record that is not checked.
RANK_TEST(notify, a_changed_block_or_one_of_another_job_is_refused, kAnything) {
    const sennit_gptr memory = test.allocate(256);
    const sennit_signal signal = make_signal(test, 1);
    const sennit_gptr mine = sennit_gptr_at(memory, test.rank);
    const auto blocks =
        test.tell_all(make_block(test, {mine, 256}, 100, 56, SENNIT_SIGNAL_NULL, signal));
    const sennit_block &block = blocks[static_cast<std::size_t>(test.next())];
    sennit_block_info info{};
    test.ok(sennit_block_query(&block, &info));
    test.equal(info.gptr.rank, test.next());
    test.equal(info.gptr.offset, 100u);
    test.equal(info.bytes, 56u);
    test.equal(info.on_send.handle, 0u);
    test.equal(info.on_recv.rank, test.next());
    sennit_peer_block attached{99};
    for (std::size_t bit = 0; bit < 8 * sizeof block; bit += test.quick ? 37 : 1) {
        sennit_block changed = block;
        changed.words[bit / 64] ^= std::uint64_t{1} << bit % 64;
        test.is(sennit_block_attach(&changed, &attached), SENNIT_ERR_ARG);
        test.is(sennit_block_query(&changed, &info), SENNIT_ERR_ARG);
    }
    test.equal(attached.handle, 99u);
    const sennit_block zeros = SENNIT_BLOCK_NULL;
    test.equal(sennit_block_is_null(&zeros), 1);
    test.equal(sennit_block_is_null(nullptr), 1);
    test.equal(sennit_block_is_null(&block), 0);
    for (std::size_t byte = 0; byte < sizeof zeros; ++byte) {
        sennit_block one = zeros;
        reinterpret_cast<unsigned char *>(&one)[byte] = 1;
        test.equal(sennit_block_is_null(&one), 0);
    }
    test.equal(sizeof zeros, 64u);
    test.is(sennit_block_attach(&zeros, &attached), SENNIT_ERR_ARG);
    test.require(std::strstr(sennit_last_error()->text, "SENNIT_BLOCK_NULL") != nullptr,
                 "the error names the null block");
    test.is(sennit_block_query(&zeros, &info), SENNIT_ERR_ARG);
    sennit_block out = zeros;
    test.is(sennit_block_init(SENNIT_REGION_NULL, 0, 0, SENNIT_SIGNAL_NULL, signal, &out),
            SENNIT_ERR_ARG);
    test.is(sennit_block_init({mine, 256}, 200, 57, SENNIT_SIGNAL_NULL, signal, &out),
            SENNIT_ERR_RANGE);
    test.is(sennit_block_init({mine, 257}, 0, 8, SENNIT_SIGNAL_NULL, signal, &out),
            SENNIT_ERR_RANGE);
    test.is(sennit_block_init({mine, 256}, SIZE_MAX, 2, SENNIT_SIGNAL_NULL, signal, &out),
            SENNIT_ERR_RANGE);
    if (test.size > 1) {
        test.is(sennit_block_init({sennit_gptr_at(memory, test.next()), 256}, 0, 8,
                                  SENNIT_SIGNAL_NULL, signal, &out),
                SENNIT_ERR_ARG);
    }
    test.equal(out.words[0], 0u);
    test.barrier();
    test.ok(sennit_signal_destroy(signal));
    test.barrier();
    test.is(sennit_block_attach(&block, &attached), SENNIT_ERR_NOT_REGISTERED);
    test.barrier();
    test.free(memory);
}

// Broken by an offset that is checked against the segment, or a sum that wraps.
RANK_TEST(notify, messages_beyond_the_block_are_refused_and_empty_ones_count, kAnything) {
    const sennit_gptr memory = test.allocate(256);
    const sennit_signal signal = make_signal(test, 3);
    const sennit_region region{sennit_gptr_at(memory, test.rank), 256};
    const auto blocks =
        test.tell_all(make_block(test, region, 64, 100, SENNIT_SIGNAL_NULL, signal));
    const sennit_peer_block peer = attach(test, blocks[static_cast<std::size_t>(test.next())]);
    std::uint8_t data[256] = {1};
    const struct {
        std::size_t offset, bytes;
    } outside[] = {{0, 101},          {100, 1},         {101, 0},      {99, 2},
                   {SIZE_MAX, 0},     {SIZE_MAX, 1},    {SIZE_MAX, 8}, {1, SIZE_MAX},
                   {8, SIZE_MAX - 7}, {SIZE_MAX - 7, 8}};
    for (const auto &one : outside) {
        test.is(sennit_put_notify(peer, one.offset, data, one.bytes), SENNIT_ERR_RANGE);
        test.is(sennit_get_notify(data, peer, one.offset, one.bytes), SENNIT_ERR_RANGE);
    }
    test.is(sennit_put_notify(peer, 0, nullptr, 1), SENNIT_ERR_ARG);
    test.ok(sennit_put_notify(peer, 0, nullptr, 0));
    const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 0, 0};
    test.ok(sennit_put_notify_with(peer, 100, data, 0, &notice));
    test.ok(sennit_put_notify_with(peer, 92, data, 8, &notice));
    test.ok(sennit_get_notify(data, peer, 0, 100));  // no signal: a plain get
    test.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
    test.barrier();
    test.ok(sennit_block_detach(peer));
    test.is(sennit_block_detach(peer), SENNIT_ERR_ARG);
    test.is(sennit_put_notify(peer, 0, data, 8), SENNIT_ERR_ARG);
    test.ok(sennit_signal_destroy(signal));
    test.free(memory);
}

// Broken by a segment's handle that becomes valid for the next segment in its slot, or by a write
// to memory because it is still mapped.
RANK_TEST(notify, a_block_is_refused_when_its_region_has_ended_and_its_memory_is_used_again,
          kAnything) {
    const sennit_signal signal = make_signal(test, 1);
    // Each rank gets the address again in most rounds, but another rank of the process may take it
    // first.
    bool used_again = false;
    const int least = test.quick ? 3 : 20;
    // Too large for a window of the rank's file, where addresses are not reused.
    const std::uint64_t bytes = std::uint64_t{17} << 20;
    for (int round = 0; round < least || (!used_again && round < 10 * least); ++round) {
        sennit_gptr first = SENNIT_GPTR_NULL;
        test.ok(sennit_alloc_local(bytes, 0, 0, &first));
        const void *place = sennit_ptr(first);
        const auto blocks =
            test.tell_all(make_block(test, {first, 128}, 0, 128, SENNIT_SIGNAL_NULL, signal));
        const sennit_block &block = blocks[static_cast<std::size_t>(test.next())];
        const sennit_peer_block peer = attach(test, block);
        test.barrier();
        test.ok(sennit_free(first));
        // The kernel chooses the address: other gaps may be used first, or another thread may be
        // faster.
        std::vector<sennit_gptr> seconds;
        do {
            seconds.push_back(SENNIT_GPTR_NULL);
            test.ok(sennit_alloc_local(bytes, 0, 0, &seconds.back()));
        } while (sennit_ptr(seconds.back()) != place && seconds.size() < 20);
        const bool is_used_again = sennit_ptr(seconds.back()) == place;
        const auto all = test.tell_all(is_used_again ? 1 : 0);
        used_again = used_again || *std::max_element(all.begin(), all.end()) > 0;
        test.barrier();
        const std::uint64_t word = 5;
        test.is(told(sennit_put_notify(peer, 0, &word, 8), test.next()), SENNIT_ERR_NOT_REGISTERED);
        sennit_peer_block again = SENNIT_PEER_BLOCK_NULL;
        test.is(sennit_block_attach(&block, &again), SENNIT_ERR_NOT_REGISTERED);
        test.ok(sennit_block_detach(peer));
        test.barrier();
        if (is_used_again) test.equal(*static_cast<const std::uint64_t *>(place), 0u);
        test.require(!is_fired(test, signal), "a refused message is not counted");
        for (const sennit_gptr second : seconds)
            test.ok(sennit_free(second));
    }
    // An emulator chooses the address, and never reuses one.
    constexpr bool kIsEmulated = SENNIT_TEST_IS_EMULATED;
    if (!used_again && kIsEmulated)
        std::fprintf(stderr, "left out: the emulator does not use memory again\n");
    else
        test.require(used_again, "the memory is used again");
    test.barrier();
    test.ok(sennit_signal_destroy(signal));
}

// Broken by a check of only the segment's id, which repeats after 255 others.
RANK_TEST(notify, a_block_is_refused_when_another_region_has_got_the_id_of_its_own, kOnce) {
    const sennit_signal signal = make_signal(test, 1);
    const sennit_gptr old = test.allocate(64);
    const auto blocks = test.tell_all(
        make_block(test, {sennit_gptr_at(old, test.rank), 64}, 0, 64, SENNIT_SIGNAL_NULL, signal));
    const sennit_block &block = blocks[static_cast<std::size_t>(test.next())];
    const sennit_peer_block peer = attach(test, block);
    const std::uint64_t word = 5;
    sennit_plan plan = SENNIT_PLAN_NULL;
    test.ok(sennit_plan_create(&plan));
    test.ok(sennit_plan_put(plan, peer, 0, &word, 8));
    test.ok(sennit_plan_commit(plan, 0, 1));
    test.free(old);
    sennit_gptr now = test.allocate(64);
    for (int tenants = 1; now.segment != old.segment && tenants < 300; ++tenants) {
        test.free(now);
        now = test.allocate(64);
    }
    test.equal(now.segment, old.segment);
    sennit_peer_block again = SENNIT_PEER_BLOCK_NULL;
    test.is(sennit_block_attach(&block, &again), SENNIT_ERR_NOT_REGISTERED);
    test.is(told(sennit_put_notify(peer, 0, &word, 8), test.next()), SENNIT_ERR_NOT_REGISTERED);
    test.is(sennit_plan_start(plan), SENNIT_ERR_NOT_REGISTERED);
    test.ok(sennit_plan_destroy(plan));
    test.ok(sennit_block_detach(peer));
    test.barrier();
    test.equal(*static_cast<const std::uint64_t *>(sennit_ptr(now)), 0u);
    test.require(!is_fired(test, signal), "a refused message is not counted");
    test.barrier();
    test.ok(sennit_signal_destroy(signal));
    test.free(now);
}

// Broken by a registration that is mistaken for the previous one of the same memory.
RANK_TEST(notify, a_block_of_memory_that_is_registered_anew_is_refused, kAnything) {
    std::vector<std::uint64_t> memory(8192, 0);
    const std::size_t bytes = 8 * memory.size();
    const sennit_signal signal = make_signal(test, 1);
    for (std::uint64_t round = 0; round < (test.quick ? 2u : 6u); ++round) {
        sennit_region region = SENNIT_REGION_NULL;
        test.ok(sennit_register(memory.data(), bytes, 0, &region));
        const auto olds =
            test.tell_all(make_block(test, region, 0, bytes, SENNIT_SIGNAL_NULL, signal));
        const sennit_block &old = olds[static_cast<std::size_t>(test.next())];
        sennit_peer_block peer = SENNIT_PEER_BLOCK_NULL;
        const sennit_status reached = sennit_block_attach(&old, &peer);
        if (reached != SENNIT_OK) test.is(reached, SENNIT_ERR_UNSUPPORTED);
        test.barrier();
        test.ok(sennit_deregister(region));
        test.ok(sennit_register(memory.data(), bytes, 0, &region));
        const auto news =
            test.tell_all(make_block(test, region, 0, bytes, SENNIT_SIGNAL_NULL, signal));
        const std::uint64_t word = round + 1;
        sennit_peer_block again = SENNIT_PEER_BLOCK_NULL;
        test.is(sennit_block_attach(&old, &again), SENNIT_ERR_NOT_REGISTERED);
        if (reached == SENNIT_OK) {
            test.is(told(sennit_put_notify(peer, 8, &word, 8), test.next()),
                    SENNIT_ERR_NOT_REGISTERED);
            test.ok(sennit_block_detach(peer));
        }
        test.barrier();
        test.equal(memory[1], round);
        test.require(!is_fired(test, signal), "a refused message is not counted");
        test.barrier();
        const bool all_reach = [&] {
            bool all = true;
            for (const sennit_status theirs : test.tell_all(reached))
                all &= theirs == SENNIT_OK;
            return all;
        }();
        if (all_reach) {
            const sennit_peer_block now = attach(test, news[static_cast<std::size_t>(test.next())]);
            test.ok(sennit_put_notify(now, 8, &word, 8));
            test.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
            test.ok(sennit_signal_reset(signal));
            test.ok(sennit_block_detach(now));
        }
        test.barrier();
        memory[1] = word;
        test.ok(sennit_deregister(region));
    }
    test.barrier();
    test.ok(sennit_signal_destroy(signal));
}

// Sends the caller's block to the previous rank, and returns the next rank's block, by a file.
static sennit_block travel_by_file(Ranks &test, const sennit_block &mine) {
    const auto processes = test.tell_all(static_cast<std::int64_t>(getpid()));
    const auto path_of = [&](int rank) {
        return std::filesystem::temp_directory_path() /
               ("sennit-block." + std::to_string(processes[static_cast<std::size_t>(rank)]) + "." +
                std::to_string(rank));
    };
    std::ofstream(path_of(test.rank), std::ios::binary)
        .write(reinterpret_cast<const char *>(&mine), sizeof mine);
    test.barrier();
    sennit_block got{};
    std::ifstream file(path_of(test.next()), std::ios::binary);
    file.read(reinterpret_cast<char *>(&got), sizeof got);
    test.require(file.good() && file.gcount() == sizeof got, "the file has a block");
    test.barrier();
    std::filesystem::remove(path_of(test.rank));
    return got;
}

// Abstract socket names are valid in one network namespace; separate hosts have their own.
static bool have_one_network(Ranks &test) {
    struct stat space {};
    test.require(stat("/proc/self/ns/net", &space) == 0, "the network namespace has a number");
    const auto all = test.tell_all(static_cast<std::int64_t>(space.st_ino));
    return std::all_of(all.begin(), all.end(), [&](auto other) { return other == all.front(); });
}

// Like travel_by_file, by a socket.
static sennit_block travel_by_socket(Ranks &test, const sennit_block &mine) {
    const auto processes = test.tell_all(static_cast<std::int64_t>(getpid()));
    const auto name_of = [&](int rank) {
        // An abstract name: its first byte is 0, and it is not a file.
        sockaddr_un name{};
        name.sun_family = AF_UNIX;
        (void)std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "sennit-block.%lld.%d",
                            static_cast<long long>(processes[static_cast<std::size_t>(rank)]),
                            rank);
        return name;
    };
    const int end = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const sockaddr_un own = name_of(test.rank);
    test.require(end >= 0 && bind(end, reinterpret_cast<const sockaddr *>(&own), sizeof own) == 0,
                 "there is a socket");
    test.barrier();
    const sockaddr_un there = name_of(test.previous());
    test.equal(sendto(end, &mine, sizeof mine, 0, reinterpret_cast<const sockaddr *>(&there),
                      sizeof there),
               static_cast<ssize_t>(sizeof mine));
    test.barrier();
    sennit_block got{};
    test.equal(recv(end, &got, sizeof got, MSG_DONTWAIT), static_cast<ssize_t>(sizeof got));
    (void)close(end);
    return got;
}

// Broken by a block that is valid only in the process, or for the rank, that made it.
// tests/signal/block_rank.c sends blocks by MPI.
RANK_TEST(notify, blocks_travel_by_files_and_sockets, kAnything) {
    const sennit_gptr memory = test.allocate(16);
    const sennit_signal signal = make_signal(test, 2);
    const sennit_block mine = make_block(test, {sennit_gptr_at(memory, test.rank), 16}, 0, 16,
                                         SENNIT_SIGNAL_NULL, signal);
    const sennit_peer_block by_file = attach(test, travel_by_file(test, mine));
    const sennit_peer_block by_socket = attach(
        test, have_one_network(test) ? travel_by_socket(test, mine) : travel_by_file(test, mine));
    const std::uint64_t words[2] = {100 + static_cast<std::uint64_t>(test.rank),
                                    200 + static_cast<std::uint64_t>(test.rank)};
    test.ok(sennit_put_notify(by_file, 0, &words[0], 8));
    test.ok(sennit_put_notify(by_socket, 8, &words[1], 8));
    test.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
    const auto *own = static_cast<const std::uint64_t *>(sennit_ptr(memory));
    test.equal(own[0], 100 + static_cast<std::uint64_t>(test.previous()));
    test.equal(own[1], 200 + static_cast<std::uint64_t>(test.previous()));
    test.barrier();
    test.ok(sennit_block_detach(by_file));
    test.ok(sennit_block_detach(by_socket));
    test.ok(sennit_signal_destroy(signal));
    test.free(memory);
}

// Broken by blocks that use the state of another block.
RANK_TEST(notify, thousands_of_blocks_lie_in_one_region, kOnce) {
    const std::size_t count = test.quick || !test.load_store ? 300 : 10000;
    const sennit_gptr memory = test.allocate(16 * count);
    const sennit_signal signal = make_signal(test, static_cast<std::uint32_t>(count));
    std::vector<sennit_block> mine;
    const sennit_region region{sennit_gptr_at(memory, test.rank), 16 * count};
    for (std::size_t i = 0; i < count; ++i)
        mine.push_back(make_block(test, region, 16 * i, 16, SENNIT_SIGNAL_NULL, signal));
    const sennit_gptr mail = test.allocate(sizeof(sennit_block) * count);
    std::memcpy(sennit_ptr(mail), mine.data(), sizeof(sennit_block) * count);
    test.barrier();
    std::vector<sennit_block> theirs(count);
    test.ok(
        sennit_get(theirs.data(), sennit_gptr_at(mail, test.next()), sizeof(sennit_block) * count));
    std::vector<sennit_peer_block> peers;
    for (const sennit_block &block : theirs)
        peers.push_back(attach(test, block));
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t word = i * 10 + epoch;
            test.ok(sennit_put_notify(peers[i], 8 * epoch, &word, 8));
        }
        test.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
        const auto *own = static_cast<const std::uint64_t *>(sennit_ptr(memory));
        for (std::uint64_t i = 0; i < count; ++i)
            test.equal(own[2 * i + epoch], i * 10 + epoch);
        test.barrier();
        test.ok(sennit_signal_reset(signal));
        test.barrier();
    }
    for (const sennit_peer_block peer : peers)
        test.ok(sennit_block_detach(peer));
    test.barrier();
    test.ok(sennit_signal_destroy(signal));
    test.free(mail);
    test.free(memory);
}

// Broken by a path to registered memory that copies after the event.
RANK_TEST(notify, blocks_of_registered_memory_are_written_and_read, kAnything) {
    const std::size_t bytes = 40000;
    std::vector<std::uint8_t> memory(bytes, 0);
    sennit_region region = SENNIT_REGION_NULL;
    test.ok(sennit_register(memory.data(), bytes, 0, &region));
    const sennit_signal signal = make_signal(test, 1);
    const auto blocks = test.tell_all(make_block(test, region, 1, bytes - 1, signal, signal));
    sennit_peer_block peer = SENNIT_PEER_BLOCK_NULL;
    const sennit_status reached =
        sennit_block_attach(&blocks[static_cast<std::size_t>(test.next())], &peer);
    bool all_reach = true;
    for (const sennit_status theirs : test.tell_all(reached)) {
        if (theirs != SENNIT_OK) test.is(theirs, SENNIT_ERR_UNSUPPORTED);
        all_reach &= theirs == SENNIT_OK;
    }
    std::vector<std::uint8_t> data(bytes);
    for (std::uint64_t epoch = 0; all_reach && epoch < (test.quick ? 3u : 40u); ++epoch) {
        fill(data.data(), bytes - 1, salt_of(test.rank, epoch));
        const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch, 0};
        test.ok(epoch % 2 == 0 ? sennit_put_notify_with(peer, 0, data.data(), bytes - 1, &notice)
                               : sennit_get_notify_with(data.data(), peer, 0, bytes - 1, &notice));
        test.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
        if (epoch % 2 == 0) {
            check_pattern(test, memory.data() + 1, bytes - 1, salt_of(test.previous(), epoch));
        } else {
            check_pattern(test, data.data(), bytes - 1, salt_of(test.rank, epoch - 1));
        }
        test.ok(sennit_signal_reset(signal));
        test.barrier();
    }
    test.barrier();
    if (reached == SENNIT_OK) test.ok(sennit_block_detach(peer));
    test.ok(sennit_signal_destroy(signal));
    test.ok(sennit_deregister(region));
}

// Broken by an event of one thread that is lost among those of another.
RANK_TEST(notify, threads_of_a_rank_send_through_blocks_of_their_own, kFreeThreads) {
    const int threads = 3;
    const sennit_gptr memory = test.allocate(8 * threads * 2);
    const sennit_signal signal = make_signal(test, threads);
    const sennit_region region{sennit_gptr_at(memory, test.rank), 8 * threads * 2};
    const auto blocks =
        test.tell_all(make_block(test, region, 0, 8 * threads * 2, SENNIT_SIGNAL_NULL, signal));
    const sennit_block &block = blocks[static_cast<std::size_t>(test.next())];
    const std::uint64_t epochs = test.quick ? 20 : 150;
    in_threads(test, threads + 1, [&](Ranks &mine, int number) {
        if (number == threads) {
            const auto *own = static_cast<const std::uint64_t *>(sennit_ptr(memory));
            for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
                mine.ok(sennit_signal_wait(signal, SENNIT_FOREVER));
                for (int i = 0; i < threads; ++i)
                    mine.equal(own[epoch % 2 * threads + static_cast<std::size_t>(i)],
                               epoch * 10 + static_cast<std::uint64_t>(i));
                mine.ok(sennit_signal_reset(signal));
            }
            return;
        }
        const sennit_peer_block peer = attach(mine, block);
        for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
            const std::uint64_t word = epoch * 10 + static_cast<std::uint64_t>(number);
            const std::size_t place = 8 * (epoch % 2 * threads + static_cast<std::size_t>(number));
            when_taken(mine, [&] { return sennit_put_notify(peer, place, &word, 8); });
        }
        mine.ok(sennit_block_detach(peer));
    });
    test.barrier();
    test.ok(sennit_signal_destroy(signal));
    test.free(memory);
}
