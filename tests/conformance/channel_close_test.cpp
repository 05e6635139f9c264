// Channels that end: in every order, with messages unread, by the thousand, and with a call that
// failed.
#include <chrono>
#include <set>
#include <thread>

#include "channels.hpp"

using namespace conformance;

// Broken by a close that waits for the other's, or forgets a message.
RANK_TEST(channel, close_waits_until_its_messages_are_read_and_not_for_the_other_close, kTwoRanks) {
    if (!channels_lead_everywhere(it)) return;
    const sennit_gptr memory = it.allocate(24);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    if (takes_part(it)) {
        const int peer = 1 - it.rank;
        const Opened opened = open(it, {{peer, own, 8}, {peer, own + 1, 8}, {peer, own + 2, 8}});
        const Opened flags = open(it, {{peer, nullptr, 0}});
        if (it.rank == 0) {
            send_word(it, opened, 0, 11);
            send_word(it, opened, 1, 12);
            // Not all is read: nothing is closed, and everything works.
            it.is(sennit_channel_close(opened.channels.data(), 3, 2 * kMillisecond),
                  SENNIT_ERR_TIMEOUT);
            it.equal(flag_of(it, sennit_channel_can_write, opened[2]), 1);
            send_word(it, opened, 2, 13);
            it.ok(sennit_channel_have_written(flags[0]));
            close(it, opened);  // while the other reads
            it.is(sennit_channel_have_read(opened[0]), SENNIT_ERR_ARG);
            it.ok(sennit_channel_wait_read(flags[0], SENNIT_FOREVER));
        } else {
            it.ok(sennit_channel_wait_read(flags[0], SENNIT_FOREVER));
            for (std::size_t i = 0; i < 3; ++i)
                expect_word(it, opened[i], own[i], 11 + i);
            it.is(sennit_channel_wait_read(opened[1], SENNIT_FOREVER), SENNIT_ERR_STATE);
            int flag = 0;
            it.is(sennit_channel_can_read(opened[1], &flag), SENNIT_ERR_STATE);
            it.is(sennit_channel_can_write(opened[1], &flag), SENNIT_ERR_STATE);
            it.is(sennit_channel_wait_write(opened[1], SENNIT_FOREVER), SENNIT_ERR_STATE);
            it.is(sennit_channel_have_written(opened[1]), SENNIT_ERR_STATE);
            it.is(sennit_channel_have_read(opened[1]), SENNIT_ERR_STATE);
            it.ok(sennit_channel_have_read(flags[0]));
            it.ok(sennit_channel_have_written(flags[0]));
            close(it, opened);
        }
        close(it, flags);
    }
    it.barrier();
    it.free(memory);
}

// Broken by two that wait for each other to read.
RANK_TEST(channel, two_that_close_with_messages_unread_do_not_wait_for_each_other, kTwoRanks) {
    if (!channels_lead_everywhere(it)) return;
    const sennit_gptr memory = it.allocate(8);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    for (int round = 0; takes_part(it) && round < (it.quick ? 20 : 200); ++round) {
        const Opened opened = open(it, {{1 - it.rank, own, 8}});
        send_word(it, opened, 0, 1);
        if (it.own.one_in(2)) it.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
        close(it, opened);
    }
    it.barrier();
    it.free(memory);
}

// Broken by a wait or a drain that does not see the other's mark while it sleeps.
RANK_TEST(channel, who_waits_is_told_that_the_other_has_closed, kTwoRanks | kFreeThreads) {
    if (!channels_lead_everywhere(it)) return;
    if (takes_part(it)) {
        const Opened opened = open(it, {{1 - it.rank, nullptr, 0}}, 0);
        if (it.rank == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            it.ok(sennit_channel_have_written(opened[0]));
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
        } else {
            it.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
            it.ok(sennit_channel_have_read(opened[0]));
            it.is(sennit_channel_wait_read(opened[0], SENNIT_FOREVER), SENNIT_ERR_STATE);
            it.equal(sennit_last_error()->peer, 0);
        }
        close(it, opened);
    }
    it.barrier();
}

// One target comes and another does not. Broken by an error that leaves the first one open here, or
// unaware there.
RANK_TEST(channel, a_target_that_had_met_finds_the_channel_of_a_failed_call_closed, kTwoRanks) {
    if (!channels_lead_everywhere(it)) return;
    if (it.size < 3) return;
    const sennit_gptr memory = it.allocate(8);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    if (it.rank == 0) {
        Opened opened;
        it.is(try_open({{2, own, 8}, {1, own, 8}}, kFlags, 30 * kMillisecond, &opened),
              SENNIT_ERR_TIMEOUT);
    }
    if (it.rank == 1) {
        const Opened opened = open(it, {{0, own, 8}});
        it.is(sennit_channel_wait_read(opened[0], SENNIT_FOREVER), SENNIT_ERR_STATE);
        close(it, opened);
    }
    it.barrier();
    it.free(memory);
}

// Broken by halves, places or registrations that are not given back, or handles that come back.
RANK_TEST(channel, channels_come_and_go_by_the_thousand, kOnce) {
    if (!channels_lead_everywhere(it)) return;
    const int peer = it.rank ^ 1;
    if (peer < it.size) {
        std::uint64_t word = 0;
        std::set<std::uint32_t> handles;
        Opened probe;
        const sennit_status reached = try_open({{peer, &word, 8}}, kFlags, SENNIT_FOREVER, &probe);
        if (reached == SENNIT_OK) close(it, probe);
        const std::size_t bytes = reached == SENNIT_OK ? 8 : 0;
        const int rounds = it.quick ? 20 : 100;
        const std::size_t many = 20;
        for (int round = 0; round < rounds; ++round) {
            std::vector<End> ends(many, End{peer, &word, bytes});
            const Opened opened = open(it, ends);
            for (const sennit_channel channel : opened.channels)
                it.require(handles.insert(channel.handle).second, "a handle comes once");
            it.ok(sennit_channel_have_written(opened[many - 1]));
            it.ok(sennit_channel_wait_read(opened[many - 1], SENNIT_FOREVER));
            it.ok(sennit_channel_have_read(opened[many - 1]));
            close(it, opened);
        }
        it.is(sennit_channel_have_written({*handles.begin()}), SENNIT_ERR_ARG);
    }
    it.barrier();
}

// Broken by memory, mappings or registrations that only closing gives back, or by handles that
// outlive their rank.
RANK_TEST(channel, a_rank_may_end_with_channels_open, kNoWorld) {
    sennit_channel left = SENNIT_CHANNEL_NULL;
    for (int world = 0; world < 3; ++world) {
        it.start();
        std::uint64_t word = 0;
        std::vector<End> ends{{it.rank, &word, 8}};
        if (channels_lead_everywhere(it) && it.size > 1 && (it.rank ^ 1) < it.size)
            ends.push_back({it.rank ^ 1, nullptr, 0});
        const Opened opened = open(it, ends, 0);
        it.ok(sennit_channel_have_written(opened[0]));
        int can = 0;
        it.is(sennit_channel_can_read({opened[0].handle + 1}, &can), SENNIT_ERR_ARG);
        left = opened[0];
        it.stop();
        it.is(sennit_channel_have_read(left), SENNIT_ERR_STATE);
    }
}
