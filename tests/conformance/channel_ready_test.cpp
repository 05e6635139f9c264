// Channels that may not be written before their reader is ready (SENNIT_CHANNEL_NOT_READY).
#include <chrono>
#include <thread>

#include "channels.hpp"
#include "threads.hpp"

using namespace conformance;

namespace {

constexpr unsigned kNotReady = SENNIT_CHANNEL_NOT_READY;

// Longer than a wait polls, so that a peer that waits for this rank sleeps.
void pass_time() {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

void read_one(Ranks &test, sennit_channel channel) {
    test.ok(sennit_channel_wait_read(channel, SENNIT_FOREVER));
    test.ok(sennit_channel_have_read(channel));
}

void nothing_may_be_written(Ranks &test, sennit_channel channel) {
    test.equal(flag_of(test, sennit_channel_can_write, channel), 0);
    test.is(sennit_channel_wait_write(channel, 0), SENNIT_ERR_TIMEOUT);
    test.is(sennit_channel_wait_write(channel, kMillisecond), SENNIT_ERR_TIMEOUT);
    test.is(sennit_channel_have_written(channel), SENNIT_ERR_STATE);
    test.require(std::strstr(sennit_last_error()->text, "ready") != nullptr,
                 "the error says that the reader is not ready");
}

void nothing_may_be_read(Ranks &test, sennit_channel channel) {
    std::uint32_t messages = 77;
    test.equal(flag_of(test, sennit_channel_can_read, channel), 0);
    test.is(sennit_channel_wait_read(channel, 0), SENNIT_ERR_TIMEOUT);
    test.is(sennit_channel_wait_messages(channel, 1, 0, &messages), SENNIT_ERR_TIMEOUT);
    test.equal(messages, 77u);
}

void counts_are(Ranks &test, sennit_channel channel, std::uint64_t written, std::uint64_t read) {
    sennit_channel_info info{};
    test.ok(sennit_channel_query(channel, &info));
    test.equal(info.written, written);
    test.equal(info.read, read);
}

}  // namespace

// Broken by a new channel that is writable at once, a ready call that counts as a message, or one
// that gives the writer a wrong number of messages.
RANK_TEST(channel, a_new_channel_is_written_only_when_its_reader_is_ready, kAnything) {
    if (!channels_lead_everywhere(test)) return;
    const int peer = (test.rank ^ 1) < test.size ? test.rank ^ 1 : test.rank;
    for (const std::uint32_t ahead : {1u, 2u, 5u, 128u}) {
        const Opened opened =
            open(test, {{peer, nullptr, 0}}, kNotReady | SENNIT_CHANNEL_AHEAD(ahead));
        const sennit_channel channel = opened[0];
        nothing_may_be_written(test, channel);
        nothing_may_be_read(test, channel);
        counts_are(test, channel, 0, 0);
        test.barrier();
        test.ok(sennit_channel_have_read(channel));
        test.is(sennit_channel_have_read(channel), SENNIT_ERR_STATE);
        counts_are(test, channel, 0, 0);
        nothing_may_be_read(test, channel);
        test.barrier();
        test.equal(flag_of(test, sennit_channel_can_write, channel), 1);
        for (std::uint32_t i = 0; i < ahead; ++i)
            write_one(test, channel);
        test.is(sennit_channel_have_written(channel), SENNIT_ERR_STATE);
        test.barrier();
        for (std::uint32_t i = 0; i < ahead; ++i)
            read_one(test, channel);
        // More than the counter holds before it wraps.
        for (int i = 0; i < 300; ++i) {
            write_one(test, channel);
            read_one(test, channel);
        }
        counts_are(test, channel, ahead + 300, ahead + 300);
        close(test, opened);
        test.barrier();
    }
}

// Broken by a writer that gets in while the reader still uses its buffer, with pointers and with
// both kinds of mirrors.
RANK_TEST(channel, the_reader_has_left_its_buffer_when_the_writer_gets_in, kAnything) {
    if (!channels_lead_everywhere(test)) return;
    constexpr std::size_t kWords = 512;
    const std::size_t bytes = kWords * sizeof(std::uint64_t);
    const sennit_gptr memory = test.allocate(bytes);
    const int peer = (test.rank ^ 1) < test.size ? test.rank ^ 1 : test.rank;
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    for (int round = 0; round < (test.quick ? 20 : 200); ++round) {
        const unsigned flags =
            kNotReady | kFlags | (test.common.one_in(2) ? SENNIT_CHANNEL_PULL : 0u);
        const Opened opened = open(test, {{peer, own, bytes}}, flags);
        const auto fill_own = [&](std::uint64_t value) {
            for (std::size_t i = 0; i < kWords; ++i)
                own[i] = value + i;
        };
        const auto check_own = [&](std::uint64_t value) {
            for (std::size_t i = 0; i < kWords; ++i)
                test.equal(own[i], value + i);
        };
        // Each rank is first a reader with a buffer in use, and then a writer.
        fill_own(7000);
        if (test.own.one_in(4)) pass_time();
        check_own(7000);
        fill_own(8000);
        check_own(8000);
        test.ok(sennit_channel_have_read(opened[0]));
        // With PULL a mirror copies from the writer's buffer, otherwise to the reader's.
        const bool may_pull = (flags & SENNIT_CHANNEL_PULL) != 0;
        sennit_channel_info info{};
        test.ok(sennit_channel_query(opened[0], &info));
        const bool pulls = may_pull && info.is_mirror != 0;
        test.ok(sennit_channel_wait_write(opened[0], SENNIT_FOREVER));
        auto *to = pulls ? own : opened.words(0);
        for (std::size_t i = 0; i < kWords; ++i)
            to[i] = 9000 + i;
        test.ok(sennit_channel_have_written(opened[0]));
        test.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
        const std::uint64_t *from = pulls ? opened.words(0) : own;
        for (std::size_t i = 0; i < kWords; ++i)
            test.equal(from[i], 9000 + i);
        test.ok(sennit_channel_have_read(opened[0]));
        close(test, opened);
    }
    test.barrier();
    test.free(memory);
}

// Broken by a write or read in one direction that makes the other direction ready.
RANK_TEST(channel, each_direction_has_a_reader_that_is_ready_or_not, kTwoRanks) {
    if (!channels_lead_everywhere(test) || !takes_part(test)) return;
    const Opened flags = open(test, {{1 - test.rank, nullptr, 0}}, 0);
    for (const std::uint32_t ahead : {1u, 3u}) {
        const Opened opened =
            open(test, {{1 - test.rank, nullptr, 0}}, kNotReady | SENNIT_CHANNEL_AHEAD(ahead));
        const sennit_channel channel = opened[0];
        if (test.rank == 0) {
            pass_time();
            test.ok(sennit_channel_have_read(channel));
            for (int i = 0; i < 3; ++i)
                read_one(test, channel);
            nothing_may_be_written(test, channel);
            write_one(test, flags[0]);
            write_one(test, channel);
        } else {
            for (int i = 0; i < 3; ++i)
                write_one(test, channel);
            nothing_may_be_read(test, channel);
            read_one(test, flags[0]);
            pass_time();
            test.ok(sennit_channel_have_read(channel));
            read_one(test, channel);
        }
        counts_are(test, channel, test.rank == 0 ? 1 : 3, test.rank == 0 ? 3 : 1);
        close(test, opened);
    }
    close(test, flags);
}

// Broken by a store of the writing thread that undoes the reading thread's call that it is ready.
RANK_TEST(channel, one_thread_may_write_while_the_other_says_that_it_is_ready,
          kTwoRanks | kFreeThreads) {
    if (!channels_lead_everywhere(test) || !takes_part(test)) return;
    for (int round = 0; round < (test.quick ? 10 : 100); ++round) {
        const unsigned ahead = SENNIT_CHANNEL_AHEAD(1 + test.common.below(3));
        const Opened opened = open(test, {{1 - test.rank, nullptr, 0}}, kNotReady | ahead);
        in_threads(test, 2, [&](Ranks &mine, int thread) {
            if (thread == 1) mine.ok(sennit_channel_have_read(opened[0]));
            for (int i = 0; i < 50; ++i) {
                if (thread == 0) write_one(mine, opened[0]);
                if (thread == 1) read_one(mine, opened[0]);
            }
        });
        counts_are(test, opened[0], 50, 50);
        close(test, opened);
    }
}

// Broken by a close that waits for a reader without messages, a wait that continues after the other
// side has closed, or a half that still has the state of an earlier channel.
RANK_TEST(channel, a_channel_whose_readers_never_were_ready_closes_like_any_other, kTwoRanks) {
    if (!channels_lead_everywhere(test) || !takes_part(test)) return;
    for (int round = 0; round < (test.quick ? 10 : 100); ++round) {
        const Opened opened = open(test, {{1 - test.rank, nullptr, 0}}, kNotReady);
        if (test.rank == 0) {
            int can = 5;
            test.is(sennit_channel_wait_write(opened[0], SENNIT_FOREVER), SENNIT_ERR_STATE);
            test.is(sennit_channel_can_write(opened[0], &can), SENNIT_ERR_STATE);
            test.is(sennit_channel_have_written(opened[0]), SENNIT_ERR_STATE);
            test.is(sennit_channel_have_read(opened[0]), SENNIT_ERR_STATE);
            test.equal(can, 5);
        } else if (test.own.one_in(2)) {
            pass_time();
        }
        close(test, opened);
        const Opened plain = open(test, {{1 - test.rank, nullptr, 0}}, 0);
        test.equal(flag_of(test, sennit_channel_can_write, plain[0]), 1);
        test.ok(sennit_channel_have_written(plain[0]));
        read_one(test, plain[0]);
        close(test, plain);
    }
}

// Broken by an end that mistakes the other end's flags for its own.
RANK_TEST(channel, both_ends_say_whether_readers_are_ready_at_first, kTwoRanks) {
    if (!channels_lead_everywhere(test) || !takes_part(test)) return;
    Opened opened;
    test.is(try_open({{1 - test.rank, nullptr, 0}}, test.rank == 0 ? kNotReady : 0, SENNIT_FOREVER,
                     &opened),
            SENNIT_ERR_ARG);
}
