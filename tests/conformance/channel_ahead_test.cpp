// Channels whose writer may run several messages ahead of the reader (SENNIT_CHANNEL_AHEAD).
#include <algorithm>

#include "channels.hpp"

using namespace conformance;

namespace {

std::uint32_t messages_of(Ranks &test, sennit_channel channel, std::uint32_t least) {
    std::uint32_t messages = 0;
    test.ok(sennit_channel_wait_messages(channel, least, SENNIT_FOREVER, &messages));
    return messages;
}

}  // namespace

// Broken by a writer that may run one message too far, or one too few; by a reader that sees a
// wrong number of messages; or by messages that are released without having been read.
RANK_TEST(channel, the_flag_limits_the_messages_under_way, kAnything) {
    if (!channels_lead_everywhere(test)) return;
    const int peer = (test.rank ^ 1) < test.size ? test.rank ^ 1 : test.rank;
    for (const std::uint32_t ahead : {1u, 2u, 5u, 127u, 128u}) {
        const Opened opened = open(test, {{peer, nullptr, 0}}, SENNIT_CHANNEL_AHEAD(ahead));
        const sennit_channel channel = opened[0];
        std::uint32_t messages = 77;
        test.is(sennit_channel_wait_messages(channel, 1, 0, &messages), SENNIT_ERR_TIMEOUT);
        test.is(sennit_channel_wait_messages(channel, 0, 0, &messages), SENNIT_ERR_ARG);
        test.is(sennit_channel_wait_messages(channel, ahead + 1, 0, &messages), SENNIT_ERR_ARG);
        test.equal(messages, 77u);
        test.is(sennit_channel_have_read(channel), SENNIT_ERR_STATE);
        test.barrier();
        // Both ranks write and read, each in its own direction.
        const auto read_one = [&] {
            test.equal(messages_of(test, channel, ahead), ahead);
            test.equal(messages_of(test, channel, 1), ahead);
            test.ok(sennit_channel_have_read(channel));
        };
        for (std::uint32_t i = 0; i < ahead; ++i)
            write_one(test, channel);
        test.barrier();
        test.equal(flag_of(test, sennit_channel_can_write, channel), 0);
        test.is(sennit_channel_have_written(channel), SENNIT_ERR_STATE);
        test.is(sennit_channel_wait_write(channel, kMillisecond), SENNIT_ERR_TIMEOUT);
        test.barrier();
        read_one();
        test.barrier();
        write_one(test, channel);
        test.equal(flag_of(test, sennit_channel_can_write, channel), 0);
        test.barrier();
        for (std::uint32_t left = ahead; left != 0; --left) {
            test.equal(messages_of(test, channel, left), left);
            test.ok(sennit_channel_have_read(channel));
        }
        test.is(sennit_channel_have_read(channel), SENNIT_ERR_STATE);
        test.is(sennit_channel_wait_messages(channel, 1, 0, &messages), SENNIT_ERR_TIMEOUT);
        test.barrier();
        close(test, opened);
    }
}

// Broken by a count that wraps too early, or by a part that is written while it is read.
RANK_TEST(channel, parts_used_in_turn_carry_each_message_once, kTwoRanks) {
    if (!channels_lead_everywhere(test) || !test.load_store) return;
    constexpr std::uint64_t kMost = SENNIT_CHANNEL_AHEAD_MOST;
    const sennit_gptr memory = test.allocate(kMost * 8);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    for (const std::uint64_t ahead : {std::uint64_t{3}, kMost}) {
        if (!takes_part(test)) continue;
        const Opened opened =
            open(test, {{1 - test.rank, own, ahead * 8}}, SENNIT_CHANNEL_AHEAD(ahead));
        const std::uint64_t count = test.quick ? 1000 : 20000;
        std::uint32_t ready = 0;
        for (std::uint64_t number = 0; number < count; ++number) {
            if (test.rank == 0) {
                test.ok(sennit_channel_wait_write(opened[0], SENNIT_FOREVER));
                opened.words(0)[number % ahead] = number + 1;
                test.ok(sennit_channel_have_written(opened[0]));
                continue;
            }
            // Sometimes the reader waits for all possible messages, so that the writer must wait.
            const std::uint64_t least = number % 7 == 0 ? std::min(ahead, count - number) : 1;
            if (ready < least)
                ready = messages_of(test, opened[0], static_cast<std::uint32_t>(least));
            test.require(ready <= ahead, "at most `ahead` messages are unread");
            test.equal(own[number % ahead], number + 1);
            test.ok(sennit_channel_have_read(opened[0]));
            --ready;
        }
        close(test, opened);
    }
    test.barrier();
    test.free(memory);
}

// Broken by a close that mistakes permission to write for the end of all reads, or by a wait for
// messages that will not come.
RANK_TEST(channel, a_close_waits_for_all_messages_that_are_under_way, kTwoRanks) {
    if (!channels_lead_everywhere(test) || !takes_part(test)) return;
    const Opened opened = open(test, {{1 - test.rank, nullptr, 0}}, SENNIT_CHANNEL_AHEAD(8));
    const Opened flags = open(test, {{1 - test.rank, nullptr, 0}}, 0);
    std::uint32_t messages = 0;
    if (test.rank == 0) {
        for (int i = 0; i < 3; ++i)
            write_one(test, opened[0]);
        test.is(sennit_channel_close(opened.channels.data(), 1, 2 * kMillisecond),
                SENNIT_ERR_TIMEOUT);
        write_one(test, flags[0]);
        close(test, opened);
    } else {
        test.equal(messages_of(test, flags[0], 1), 1u);
        test.ok(sennit_channel_have_read(flags[0]));
        test.equal(messages_of(test, opened[0], 3), 3u);
        // The writer closes, so a fourth message will not come; the three messages remain readable.
        test.is(sennit_channel_wait_messages(opened[0], 4, SENNIT_FOREVER, &messages),
                SENNIT_ERR_STATE);
        for (std::uint32_t left = 3; left != 0; --left) {
            test.equal(messages_of(test, opened[0], 1), left);
            test.ok(sennit_channel_have_read(opened[0]));
        }
        test.is(sennit_channel_wait_messages(opened[0], 1, SENNIT_FOREVER, &messages),
                SENNIT_ERR_STATE);
        test.is(sennit_channel_wait_read(opened[0], SENNIT_FOREVER), SENNIT_ERR_STATE);
        test.is(sennit_channel_wait_write(opened[0], SENNIT_FOREVER), SENNIT_ERR_STATE);
        close(test, opened);
    }
    close(test, flags);
}

// Broken by a cached count of messages that the other calls do not update.
RANK_TEST(channel, messages_are_counted_without_the_flag_too, kTwoRanks) {
    if (!channels_lead_everywhere(test) || !takes_part(test)) return;
    const Opened opened = open(test, {{1 - test.rank, nullptr, 0}});
    for (int i = 0; i < 300; ++i) {
        if (test.rank == 0) {
            write_one(test, opened[0]);
            continue;
        }
        if (i % 3 == 0) {
            test.equal(messages_of(test, opened[0], 1), 1u);
        } else {
            test.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
        }
        test.ok(sennit_channel_have_read(opened[0]));
        if (i % 3 != 2) continue;
        std::uint32_t messages = 0;
        const sennit_status status = sennit_channel_wait_messages(opened[0], 1, 0, &messages);
        test.require(status == SENNIT_ERR_TIMEOUT || status == SENNIT_ERR_STATE || messages == 1,
                     "there is one message at most");
    }
    close(test, opened);
}

// Broken by a number cut to the bits of its field, or a mirror copied over unread messages.
RANK_TEST(channel, impossible_numbers_of_messages_are_refused, kTwoRanks) {
    if (!channels_lead_everywhere(test) || !takes_part(test)) return;
    const int peer = 1 - test.rank;
    for (const unsigned flags :
         {SENNIT_CHANNEL_AHEAD(129), SENNIT_CHANNEL_AHEAD(255), SENNIT_CHANNEL_AHEAD(257),
          SENNIT_CHANNEL_AHEAD(-1), SENNIT_CHANNEL_AHEAD(2) | SENNIT_CHANNEL_MIRROR}) {
        Opened opened;
        test.is(try_open({{peer, nullptr, 0}}, flags, SENNIT_FOREVER, &opened), SENNIT_ERR_ARG);
    }
    // AHEAD(1) is a channel without the flag, and may have a mirror.
    const unsigned one = SENNIT_CHANNEL_MIRROR | SENNIT_CHANNEL_AHEAD(1);
    close(test, open(test, {{peer, nullptr, 0}}, test.rank == 0 ? one : SENNIT_CHANNEL_MIRROR));
}
