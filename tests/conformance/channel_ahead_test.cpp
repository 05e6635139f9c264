// Channels whose writer may be some messages ahead of the reader (SENNIT_CHANNEL_AHEAD).
#include <algorithm>

#include "channels.hpp"

using namespace conformance;

namespace {

std::uint32_t messages_of(Ranks &it, sennit_channel channel, std::uint32_t least) {
    std::uint32_t messages = 0;
    it.ok(sennit_channel_wait_messages(channel, least, SENNIT_FOREVER, &messages));
    return messages;
}

void write_one(Ranks &it, sennit_channel channel) {
    it.ok(sennit_channel_wait_write(channel, SENNIT_FOREVER));
    it.ok(sennit_channel_have_written(channel));
}

}  // namespace

// Broken by a writer that is let one message further ahead, or one less; by a reader that sees more
// or fewer than there are; or by messages that are given back without having been read.
RANK_TEST(channel, as_many_messages_are_under_way_as_the_flag_says, kAnything) {
    if (!channels_lead_everywhere(it)) return;
    const int peer = (it.rank ^ 1) < it.size ? it.rank ^ 1 : it.rank;
    for (const std::uint32_t ahead : {1u, 2u, 5u, 127u, 128u}) {
        const Opened opened = open(it, {{peer, nullptr, 0}}, SENNIT_CHANNEL_AHEAD(ahead));
        const sennit_channel channel = opened[0];
        std::uint32_t messages = 77;
        it.is(sennit_channel_wait_messages(channel, 1, 0, &messages), SENNIT_ERR_TIMEOUT);
        it.is(sennit_channel_wait_messages(channel, 0, 0, &messages), SENNIT_ERR_ARG);
        it.is(sennit_channel_wait_messages(channel, ahead + 1, 0, &messages), SENNIT_ERR_ARG);
        it.equal(messages, 77u);
        it.is(sennit_channel_have_read(channel), SENNIT_ERR_STATE);
        it.barrier();
        // Both ranks write and read, each in its direction.
        const auto read_one = [&] {
            it.equal(messages_of(it, channel, ahead), ahead);
            it.equal(messages_of(it, channel, 1), ahead);
            it.ok(sennit_channel_have_read(channel));
        };
        for (std::uint32_t i = 0; i < ahead; ++i)
            write_one(it, channel);
        it.barrier();
        it.equal(flag_of(it, sennit_channel_can_write, channel), 0);
        it.is(sennit_channel_have_written(channel), SENNIT_ERR_STATE);
        it.is(sennit_channel_wait_write(channel, kMillisecond), SENNIT_ERR_TIMEOUT);
        it.barrier();
        read_one();
        it.barrier();
        write_one(it, channel);
        it.equal(flag_of(it, sennit_channel_can_write, channel), 0);
        it.barrier();
        for (std::uint32_t left = ahead; left != 0; --left) {
            it.equal(messages_of(it, channel, left), left);
            it.ok(sennit_channel_have_read(channel));
        }
        it.is(sennit_channel_have_read(channel), SENNIT_ERR_STATE);
        it.is(sennit_channel_wait_messages(channel, 1, 0, &messages), SENNIT_ERR_TIMEOUT);
        it.barrier();
        close(it, opened);
    }
}

// Broken by a count that comes round too early, or by a part that is written while it is read.
RANK_TEST(channel, parts_used_in_turn_carry_each_message_once, kTwoRanks) {
    if (!channels_lead_everywhere(it) || !it.load_store) return;
    constexpr std::uint64_t kMost = SENNIT_CHANNEL_AHEAD_MOST;
    const sennit_gptr memory = it.allocate(kMost * 8);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    for (const std::uint64_t ahead : {std::uint64_t{3}, kMost}) {
        if (!takes_part(it)) continue;
        const Opened opened =
            open(it, {{1 - it.rank, own, ahead * 8}}, SENNIT_CHANNEL_AHEAD(ahead));
        const std::uint64_t count = it.quick ? 1000 : 20000;
        std::uint32_t ready = 0;
        for (std::uint64_t number = 0; number < count; ++number) {
            if (it.rank == 0) {
                it.ok(sennit_channel_wait_write(opened[0], SENNIT_FOREVER));
                opened.words(0)[number % ahead] = number + 1;
                it.ok(sennit_channel_have_written(opened[0]));
                continue;
            }
            // At times all that may come is waited for, so that the writer is kept waiting.
            const std::uint64_t least = number % 7 == 0 ? std::min(ahead, count - number) : 1;
            if (ready < least)
                ready = messages_of(it, opened[0], static_cast<std::uint32_t>(least));
            it.require(ready <= ahead, "no more than may be are unread");
            it.equal(own[number % ahead], number + 1);
            it.ok(sennit_channel_have_read(opened[0]));
            --ready;
        }
        close(it, opened);
    }
    it.barrier();
    it.free(memory);
}

// Broken by a close that takes the leave to write for word that all was read, or by a wait for
// messages that will not come.
RANK_TEST(channel, a_close_waits_for_all_messages_that_are_under_way, kTwoRanks) {
    if (!channels_lead_everywhere(it) || !takes_part(it)) return;
    const Opened opened = open(it, {{1 - it.rank, nullptr, 0}}, SENNIT_CHANNEL_AHEAD(8));
    const Opened flags = open(it, {{1 - it.rank, nullptr, 0}}, 0);
    std::uint32_t messages = 0;
    if (it.rank == 0) {
        for (int i = 0; i < 3; ++i)
            write_one(it, opened[0]);
        it.is(sennit_channel_close(opened.channels.data(), 1, 2 * kMillisecond),
              SENNIT_ERR_TIMEOUT);
        write_one(it, flags[0]);
        close(it, opened);
    } else {
        it.equal(messages_of(it, flags[0], 1), 1u);
        it.ok(sennit_channel_have_read(flags[0]));
        it.equal(messages_of(it, opened[0], 3), 3u);
        // The other closes, so a fourth does not come; these three are there all the same.
        it.is(sennit_channel_wait_messages(opened[0], 4, SENNIT_FOREVER, &messages),
              SENNIT_ERR_STATE);
        for (std::uint32_t left = 3; left != 0; --left) {
            it.equal(messages_of(it, opened[0], 1), left);
            it.ok(sennit_channel_have_read(opened[0]));
        }
        it.is(sennit_channel_wait_messages(opened[0], 1, SENNIT_FOREVER, &messages),
              SENNIT_ERR_STATE);
        it.is(sennit_channel_wait_read(opened[0], SENNIT_FOREVER), SENNIT_ERR_STATE);
        it.is(sennit_channel_wait_write(opened[0], SENNIT_FOREVER), SENNIT_ERR_STATE);
        close(it, opened);
    }
    close(it, flags);
}

// Broken by a count of messages that was known and is not brought up to date by the other calls.
RANK_TEST(channel, messages_are_counted_where_one_is_under_way_too, kTwoRanks) {
    if (!channels_lead_everywhere(it) || !takes_part(it)) return;
    const Opened opened = open(it, {{1 - it.rank, nullptr, 0}});
    for (int i = 0; i < 300; ++i) {
        if (it.rank == 0) {
            write_one(it, opened[0]);
            continue;
        }
        if (i % 3 == 0) {
            it.equal(messages_of(it, opened[0], 1), 1u);
        } else {
            it.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
        }
        it.ok(sennit_channel_have_read(opened[0]));
        if (i % 3 != 2) continue;
        std::uint32_t messages = 0;
        const sennit_status status = sennit_channel_wait_messages(opened[0], 1, 0, &messages);
        it.require(status == SENNIT_ERR_TIMEOUT || status == SENNIT_ERR_STATE || messages == 1,
                   "there is one message at most");
    }
    close(it, opened);
}

// Broken by a number that is cut to the bits it has, or a mirror that is copied over what is
// unread.
RANK_TEST(channel, numbers_of_messages_that_can_not_be_are_refused, kTwoRanks) {
    if (!channels_lead_everywhere(it) || !takes_part(it)) return;
    const int peer = 1 - it.rank;
    for (const unsigned flags :
         {SENNIT_CHANNEL_AHEAD(129), SENNIT_CHANNEL_AHEAD(255), SENNIT_CHANNEL_AHEAD(257),
          SENNIT_CHANNEL_AHEAD(-1), SENNIT_CHANNEL_AHEAD(2) | SENNIT_CHANNEL_MIRROR}) {
        Opened opened;
        it.is(try_open({{peer, nullptr, 0}}, flags, SENNIT_FOREVER, &opened), SENNIT_ERR_ARG);
    }
    // One message is a channel without the flag, and may have a mirror.
    const unsigned one = SENNIT_CHANNEL_MIRROR | SENNIT_CHANNEL_AHEAD(1);
    close(it, open(it, {{peer, nullptr, 0}}, it.rank == 0 ? one : SENNIT_CHANNEL_MIRROR));
}
