// The number of operations that a notified put starts towards another node, under `sennit run -n 2
// --nodes 2`, if it needs no question about the owner's epoch: one for few bytes, with data and
// event together; two for a longer put and for a get; the same for a put with an operation on a
// word. An unchecked signal needs no question, not even for the first put. The answer reports an
// owner that is two epochs behind, that has all its events, or that has no such signal; then no
// data has moved.
#include <sennit/sennit.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "op/engine_state.hpp"
#include "rank/process.hpp"

namespace {

constexpr std::int64_t kLimit = 30'000'000'000;
constexpr std::size_t kBytes = 100'000;
constexpr int kRounds = 200;

void expect(bool is_good, const char *what) {
    if (is_good) return;
    std::fprintf(stderr, "rank %d: %s: %s\n", sennit_rank(), what, sennit_last_error()->text);
    std::exit(1);
}

std::uint64_t started(sennit::op::Direction direction) {
    return sennit::current_rank()->engine->started[static_cast<std::size_t>(direction)];
}

struct Side {
    unsigned char *memory;
    sennit_region region;
    sennit_signal received;
    sennit_signal sent;
    sennit_peer_block other;
};

// In each round both ranks put, wait, check the data, and reset. The halves of the memory take
// turns: a rank that is ahead writes to the other half.
template <class Send>
void exchange(const Side &side, std::size_t bytes, Send send) {
    static unsigned char mine[kBytes];
    for (int round = 0; round < kRounds; ++round) {
        std::memset(mine, round + 1, bytes);
        const std::size_t half = round % 2 == 0 ? 0 : kBytes;
        expect(send(mine, bytes, half) == SENNIT_OK, "notified put");
        expect(sennit_signal_wait(side.received, kLimit) == SENNIT_OK, "wait");
        for (std::size_t i = 0; i < bytes; ++i)
            expect(side.memory[half + i] == round + 1, "other data arrived than was put");
        expect(sennit_signal_reset(side.received) == SENNIT_OK, "reset");
    }
}

// Operations per call, times 100.
struct Counted {
    std::uint64_t puts, gets, tasks;
};
template <class Call>
Counted count(Call call) {
    using sennit::op::Direction;
    const std::uint64_t puts = started(Direction::put);
    const std::uint64_t gets = started(Direction::get);
    const std::uint64_t tasks = started(Direction::execute);
    call();
    return {(started(Direction::put) - puts) * 100 / kRounds,
            (started(Direction::get) - gets) * 100 / kRounds,
            (started(Direction::execute) - tasks) * 100 / kRounds};
}

// Additional tasks are questions, when the owner's answer to the last event has not come yet.
void compare(const char *what, const Counted &counted, const Counted &wanted,
             std::uint64_t questions = 10) {
    std::printf("rank %d: 100 of %s: %llu puts, %llu gets, %llu tasks\n", sennit_rank(), what,
                static_cast<unsigned long long>(counted.puts),
                static_cast<unsigned long long>(counted.gets),
                static_cast<unsigned long long>(counted.tasks));
    expect(counted.puts == wanted.puts && counted.gets == wanted.gets &&
               counted.tasks <= wanted.tasks + questions && counted.tasks >= wanted.tasks,
           what);
}

// Long puts that name a signal about which nothing is known yet.
void test_unchecked(Side side) {
    const int other = 1 - sennit_rank();
    sennit_signal signals[2];
    expect(sennit_signal_create(1, 1, SENNIT_SIGNAL_UNCHECKED, &side.received) == SENNIT_OK,
           "unchecked signal");
    expect(sennit_allgather(SENNIT_TEAM_WORLD, &side.received, signals, sizeof side.received,
                            kLimit) == SENNIT_OK,
           "allgather");
    sennit_notice notice{signals[other], SENNIT_SIGNAL_NULL, 0, 0};
    const auto put = [&](const unsigned char *from, std::size_t bytes, std::size_t half) {
        const sennit_status status = sennit_put_notify_with(side.other, half, from, bytes, &notice);
        ++notice.epoch;
        return status;
    };
    compare("put_notify of 49153 bytes, unchecked", count([&] { exchange(side, 49153, put); }),
            {100, 0, 100}, 0);
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "barrier");
    expect(sennit_signal_destroy(side.received) == SENNIT_OK, "destroy");
}

// Data with an operation on a word that announces it.
void test_words(const Side &side, sennit_region there) {
    static const unsigned char mine[kBytes] = {};
    std::uint64_t sum = 0;
    std::memset(side.memory, 0, 2 * kBytes);
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "barrier");
    const sennit_gptr word = sennit_gptr_add(there.gptr, 8);
    const sennit_gptr room = sennit_gptr_add(there.gptr, kBytes);
    const auto put = [&](std::size_t bytes) {
        return [&, bytes] {
            for (int round = 0; round < kRounds; ++round) {
                // With much copied data pending, the library would use a put instead.
                constexpr int kMostOpen = 50;
                if (round % kMostOpen == 0)
                    expect(sennit_flush(1 - sennit_rank(), kLimit) == SENNIT_OK, "flush");
                expect(sennit_put_word(room, mine, bytes, word, SENNIT_SUM, 1) == SENNIT_OK,
                       "put_word");
            }
            sum += kRounds;
        };
    };
    compare("put_word of 8 bytes", count(put(8)), {0, 0, 100}, 0);
    compare("put_word of 49152 bytes", count(put(49152)), {0, 0, 100}, 0);
    compare("put_word of 49153 bytes", count(put(49153)), {100, 0, 100}, 0);
    expect(sennit_flush(1 - sennit_rank(), kLimit) == SENNIT_OK, "flush");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "barrier");
    std::uint64_t seen = 0;
    std::memcpy(&seen, side.memory + 8, sizeof seen);
    expect(seen == sum, "not each put has added once");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "barrier");
}

void test_refusals(const Side &side, sennit_signal others) {
    unsigned char byte = 77;
    std::uint64_t epoch = 0;
    expect(sennit_signal_epoch(side.received, &epoch) == SENNIT_OK, "epoch");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "barrier");
    side.memory[5] = 1;
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "barrier");
    const auto put = [&](std::uint64_t of) {
        const sennit_notice notice{others, SENNIT_SIGNAL_NULL, of, 0};
        return sennit_put_notify_with(side.other, 5, &byte, 1, &notice);
    };
    const auto told = [](sennit_status status) {
        return status == SENNIT_OK ? sennit_flush(1 - sennit_rank(), kLimit) : status;
    };
    expect(put(epoch + 2) == SENNIT_ERR_SIGNAL_EARLY, "an early put is not refused");
    expect(told(put(epoch - 1)) == SENNIT_ERR_SIGNAL_OVERFLOW, "a late put is not refused");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "barrier");
    expect(side.memory[5] == 1, "a put that was refused has moved data");
    // Otherwise a rank that leaves the barrier first would put into memory that the other still
    // reads.
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "barrier");
    expect(put(epoch) == SENNIT_OK, "a put is refused");
    byte = 78;
    expect(told(put(epoch)) == SENNIT_ERR_SIGNAL_OVERFLOW, "a surplus put is not refused");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "barrier");
    expect(side.memory[5] == 77, "a surplus put has moved data");
    int done = 0;
    expect(sennit_signal_test(side.received, &done) == SENNIT_ERR_SIGNAL_OVERFLOW,
           "the owner does not hear of a surplus put");
    expect(sennit_signal_wait(side.received, kLimit) == SENNIT_OK, "wait");
    expect(sennit_signal_reset(side.received) == SENNIT_OK, "reset");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "barrier");
    expect(sennit_signal_destroy(side.received) == SENNIT_OK, "destroy");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "barrier");
    expect(told(put(epoch + 1)) == SENNIT_ERR_NOT_REGISTERED, "a destroyed signal takes an event");
    expect(sennit_barrier(SENNIT_TEAM_WORLD, kLimit) == SENNIT_OK, "barrier");
    expect(side.memory[5] == 77, "a put to a destroyed signal has moved data");
}

}  // namespace

int main() {
    expect(sennit_init(nullptr) == SENNIT_OK, "init");
    Side side{};
    side.memory = static_cast<unsigned char *>(std::calloc(2, kBytes));
    expect(sennit_register(side.memory, 2 * kBytes, 0, &side.region) == SENNIT_OK, "register");
    expect(sennit_signal_create(1, 1, 0, &side.received) == SENNIT_OK, "signal");
    expect(sennit_signal_create(1, 1, 0, &side.sent) == SENNIT_OK, "signal");
    sennit_block block;
    sennit_block blocks[2];
    expect(sennit_block_init(side.region, 0, 2 * kBytes, side.sent, side.received, &block) ==
               SENNIT_OK,
           "block");
    expect(sennit_allgather(SENNIT_TEAM_WORLD, &block, blocks, sizeof block, kLimit) == SENNIT_OK,
           "allgather");
    const int other = 1 - sennit_rank();
    expect(sennit_block_attach(&blocks[other], &side.other) == SENNIT_OK, "attach");
    sennit_signal signals[2];
    expect(sennit_allgather(SENNIT_TEAM_WORLD, &side.received, signals, sizeof side.received,
                            kLimit) == SENNIT_OK,
           "allgather");
    const auto put = [&](const unsigned char *from, std::size_t bytes, std::size_t half) {
        return sennit_put_notify(side.other, half, from, bytes);
    };
    compare("put_notify of 8 bytes", count([&] { exchange(side, 8, put); }), {0, 0, 100});
    compare("put_notify of 49152 bytes", count([&] { exchange(side, 49152, put); }), {0, 0, 100});
    compare("put_notify of 49153 bytes", count([&] { exchange(side, 49153, put); }), {100, 0, 100},
            25);
    compare("put_notify of 100000 bytes", count([&] { exchange(side, kBytes, put); }),
            {100, 0, 100}, 25);
    compare("put_notify of no bytes", count([&] { exchange(side, 0, put); }), {0, 0, 100});
    std::uint64_t epoch = 0;
    expect(sennit_signal_epoch(side.received, &epoch) == SENNIT_OK, "epoch");
    const auto notify = [&](const unsigned char *, std::size_t, std::size_t) {
        return sennit_signal_notify(signals[other], epoch++);
    };
    compare("signal_notify", count([&] { exchange(side, 0, notify); }), {0, 0, 100});
    sennit_region regions[2];
    expect(sennit_allgather(SENNIT_TEAM_WORLD, &side.region, regions, sizeof side.region, kLimit) ==
               SENNIT_OK,
           "allgather");
    test_words(side, regions[other]);
    test_unchecked(side);
    test_refusals(side, signals[other]);
    expect(sennit_finalize() == SENNIT_OK, "finalize");
    std::free(side.memory);
    return 0;
}
