// Channels: hand-overs, opening in every order, and refusals.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "channels.hpp"
#include "threads.hpp"

using namespace conformance;

// Broken by a count that is stored before its message, a hand-over that is lost or doubled, or
// directions that share a count.
RANK_TEST(channel, messages_arrive_once_and_in_order_in_both_directions, kAnything) {
    if (!channels_lead_everywhere(test)) return;
    const std::size_t bytes = 4096 + 64;
    const sennit_gptr memory = test.allocate(2 * bytes);
    auto *own = static_cast<std::uint8_t *>(sennit_ptr(memory));
    const Opened opened =
        open(test, {{test.next(), own, bytes}, {test.previous(), own + bytes, bytes}});
    // With one or two ranks both channels lead to the same rank, and the first channel of one side
    // is the first of the other. With more, the first leads to the next rank and the second back.
    const std::size_t back = test.size > 2 ? 1 : 0;
    std::vector<std::uint8_t> message(bytes);
    const std::uint64_t count = test.quick ? 50 : 400;
    for (std::uint64_t number = 0; number < count; ++number) {
        const std::uint64_t salt = number * 64 + static_cast<std::uint64_t>(test.rank);
        fill(message.data(), bytes, salt);
        send(test, opened[0], opened.peers[0], message.data(), bytes);
        test.ok(sennit_channel_wait_read(opened[back], SENNIT_FOREVER));
        check_pattern(test, own + back * bytes, bytes,
                      number * 64 + static_cast<std::uint64_t>(test.previous()));
        test.ok(sennit_channel_have_read(opened[back]));
        if (test.size > 2 && number % 8 == 0) {
            send(test, opened[1], opened.peers[1], &salt, sizeof salt);
            std::uint64_t got = 0;
            test.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
            std::memcpy(&got, own, sizeof got);
            test.equal(got, number * 64 + static_cast<std::uint64_t>(test.next()));
            test.ok(sennit_channel_have_read(opened[0]));
        }
    }
    close(test, opened);
    test.barrier();
    test.free(memory);
}

// Broken by a pointer to the start of the page or the segment, the caller's own size, or a write
// beside the buffer.
RANK_TEST(channel, the_pointer_is_the_peers_buffer_to_the_byte, kAnything) {
    if (!channels_lead_everywhere(test)) return;
    const auto bytes_of = [](int rank) { return static_cast<std::size_t>(17 + 13 * rank); };
    const auto place_of = [](int rank) { return static_cast<std::size_t>(101 + 7 * rank); };
    const sennit_gptr memory = test.allocate(1024);
    auto *own = static_cast<std::uint8_t *>(sennit_ptr(memory));
    std::memset(own, 0x5A, 1024);
    const int peer = test.rank ^ 1;
    if (peer < test.size) {
        const Opened opened = open(test, {{peer, own + place_of(test.rank), bytes_of(test.rank)}});
        sennit_channel_info info{};
        test.ok(sennit_channel_query(opened[0], &info));
        test.equal(info.peer, peer);
        test.equal(info.peer_bytes, bytes_of(peer));
        test.require(info.peer_buffer == opened.peers[0],
                     "the pointer of the query is that of open");
        if (test.load_store) {
            test.equal(info.is_mirror, 0);
            auto *segment = static_cast<std::uint8_t *>(sennit_ptr(sennit_gptr_at(memory, peer)));
            test.require(opened.peers[0] == segment + place_of(peer), "the buffer begins there");
        }
        test.ok(sennit_channel_wait_write(opened[0], SENNIT_FOREVER));
        fill(opened.peers[0], bytes_of(peer), static_cast<std::uint64_t>(test.rank));
        test.ok(sennit_channel_have_written(opened[0]));
        test.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
        check_pattern(test, own + place_of(test.rank), bytes_of(test.rank),
                      static_cast<std::uint64_t>(peer));
        test.equal(own[place_of(test.rank) - 1], 0x5A);
        test.equal(own[place_of(test.rank) + bytes_of(test.rank)], 0x5A);
        test.ok(sennit_channel_have_read(opened[0]));
        test.ok(sennit_channel_query(opened[0], &info));
        test.equal(info.written, 1u);
        test.equal(info.read, 1u);
        close(test, opened);
    }
    test.barrier();
    test.free(memory);
}

// Broken by handshakes that run one after the other: the test then never ends.
RANK_TEST(channel, targets_are_met_in_any_order, kAnything) {
    if (!channels_lead_everywhere(test)) return;
    const auto size = static_cast<std::size_t>(test.size);
    const sennit_gptr memory = test.allocate(8 * size);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    for (int round = 0; round < (test.quick ? 3 : 12); ++round) {
        std::vector<End> ends;
        for (int peer = 0; peer < test.size; ++peer)
            ends.push_back({peer, own + peer, 8});
        for (std::size_t i = size - 1; i > 0; --i)
            std::swap(ends[i], ends[test.own.below(i + 1)]);
        const Opened opened = open(test, ends);
        for (std::size_t i = 0; i < size; ++i)
            send_word(test, opened, i,
                      static_cast<std::uint64_t>(1000 * round + 10 * test.rank + ends[i].target));
        for (std::size_t i = 0; i < size; ++i)
            expect_word(test, opened[i], own[ends[i].target],
                        static_cast<std::uint64_t>(1000 * round + 10 * ends[i].target + test.rank));
        close(test, opened);
    }
    test.barrier();
    test.free(memory);
}

// Broken by a second handshake that starts before the first has ended, or takes its place.
RANK_TEST(channel, a_target_named_twice_has_two_channels_in_order, kAnything) {
    if (!channels_lead_everywhere(test)) return;
    const sennit_gptr memory = test.allocate(64);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    const int peer = test.rank ^ 1;
    if (peer < test.size) {
        const Opened opened =
            open(test, {{peer, own, 8}, {peer, own + 2, 16}, {peer, own + 4, 24}});
        for (std::size_t i = 0; i < 3; ++i) {
            sennit_channel_info info{};
            test.ok(sennit_channel_query(opened[i], &info));
            test.equal(info.peer_bytes, 8 * (i + 1));
            send_word(test, opened, i, 100 * i + static_cast<std::uint64_t>(test.rank));
        }
        for (std::size_t i = 3; i-- > 0;)
            expect_word(test, opened[i], own[2 * i], 100 * i + static_cast<std::uint64_t>(peer));
        close(test, opened);
    }
    test.barrier();
    test.free(memory);
}

// Broken by an attempt that leaves its number, half or registration behind.
RANK_TEST(channel, a_side_that_never_opens_is_a_timeout_and_meets_a_later_attempt, kTwoRanks) {
    if (!channels_lead_everywhere(test)) return;
    const sennit_gptr memory = test.allocate(8);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    // Rank 0 gives up several times, then rank 1 does, then both open.
    for (int late = 0; late < 2; ++late) {
        for (int attempt = 0; test.rank == late && attempt < 5; ++attempt) {
            Opened opened;
            const std::int64_t timeout_ns = attempt == 0 ? 0 : attempt * kMillisecond;
            test.is(try_open({{1 - test.rank, own, 8}}, kFlags, timeout_ns, &opened),
                    SENNIT_ERR_TIMEOUT);
            test.equal(sennit_last_error()->status, SENNIT_ERR_TIMEOUT);
            test.equal(sennit_last_error()->peer, 1 - test.rank);
            test.equal(opened[0].handle, 0u);
        }
        test.barrier();
    }
    if (takes_part(test)) {
        const Opened opened = open(test, {{1 - test.rank, own, 8}});
        send_word(test, opened, 0, 50 + static_cast<std::uint64_t>(test.rank));
        expect_word(test, opened[0], *own, 51 - static_cast<std::uint64_t>(test.rank));
        close(test, opened);
    }
    test.barrier();
    test.free(memory);
}

// Both sides give up and try again at random. If one side reports an open channel, so does the
// other, and it is the same channel. Broken by any step of the handshake that is not atomic.
RANK_TEST(channel, both_sides_agree_whether_a_channel_is_open, kTwoRanks | kOnce) {
    if (!channels_lead_everywhere(test)) return;
    const sennit_gptr memory = test.allocate(8);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    *own = 0;
    test.barrier();
    const int count = test.quick ? 40 : 400;
    for (int number = 1; takes_part(test) && number <= count;) {
        Opened opened;
        const auto timeout_ns = static_cast<std::int64_t>(test.own.below(60) * 1000);
        const sennit_status status =
            try_open({{1 - test.rank, own, 8}}, kFlags,
                     test.own.one_in(3) ? SENNIT_FOREVER : timeout_ns, &opened);
        if (status == SENNIT_ERR_TIMEOUT) continue;
        test.ok(status);
        send_word(test, opened, 0, static_cast<std::uint64_t>(number));
        expect_word(test, opened[0], *own, static_cast<std::uint64_t>(number));
        close(test, opened);
        ++number;
    }
    test.barrier();
    test.free(memory);
}

// Broken by a hand-over without permission, or by an error that changes a count.
RANK_TEST(channel, a_hand_over_needs_permission, kAnything) {
    if (!channels_lead_everywhere(test)) return;
    const sennit_gptr memory = test.allocate(8);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    const int peer = (test.rank ^ 1) < test.size ? test.rank ^ 1 : test.rank;
    const Opened opened = open(test, {{peer, own, 8}});
    const sennit_channel channel = opened[0];
    test.is(sennit_channel_have_read(channel), SENNIT_ERR_STATE);
    test.equal(sennit_last_error()->peer, peer);
    test.equal(flag_of(test, sennit_channel_can_read, channel), 0);
    test.equal(flag_of(test, sennit_channel_can_write, channel), 1);
    test.equal(flag_of(test, sennit_channel_can_write, channel), 1);
    test.barrier();
    send_word(test, opened, 0, 7);
    // Neither side has read, so neither may write.
    test.equal(flag_of(test, sennit_channel_can_write, channel), 0);
    test.is(sennit_channel_have_written(channel), SENNIT_ERR_STATE);
    test.is(sennit_channel_wait_write(channel, 0), SENNIT_ERR_TIMEOUT);
    test.is(sennit_channel_wait_write(channel, kMillisecond), SENNIT_ERR_TIMEOUT);
    test.ok(sennit_channel_wait_read(channel, SENNIT_FOREVER));
    test.equal(flag_of(test, sennit_channel_can_read, channel), 1);
    test.equal(*own, 7u);
    test.barrier();
    test.ok(sennit_channel_have_read(channel));
    test.is(sennit_channel_have_read(channel), SENNIT_ERR_STATE);
    test.equal(flag_of(test, sennit_channel_can_read, channel), 0);
    test.is(sennit_channel_wait_read(channel, 0), SENNIT_ERR_TIMEOUT);
    test.ok(sennit_channel_wait_write(channel, SENNIT_FOREVER));
    test.barrier();
    close(test, opened);
    test.barrier();
    test.free(memory);
}

// Broken by ends that are mixed up when one rank has both.
RANK_TEST(channel, a_channel_to_oneself_leads_back, kAnything) {
    std::uint64_t word = 0;
    const Opened opened = open(test, {{test.rank, &word, sizeof word}});
    test.require(opened.peers[0] == &word, "the peer's buffer is the rank's own");
    for (std::uint64_t number = 1; number < 100; ++number) {
        test.equal(flag_of(test, sennit_channel_can_read, opened[0]), 0);
        test.equal(flag_of(test, sennit_channel_can_write, opened[0]), 1);
        word = number;
        test.ok(sennit_channel_have_written(opened[0]));
        test.equal(flag_of(test, sennit_channel_can_write, opened[0]), 0);
        test.equal(flag_of(test, sennit_channel_can_read, opened[0]), 1);
        test.ok(sennit_channel_have_read(opened[0]));
    }
    test.ok(sennit_channel_have_written(opened[0]));
    // The caller is the only reader, and it closes.
    test.ok(sennit_channel_close(opened.channels.data(), 1, 0));
    test.is(sennit_channel_have_read(opened[0]), SENNIT_ERR_ARG);
}

// Broken by arithmetic with 0, or by a registration of 0 bytes.
RANK_TEST(channel, no_targets_and_no_bytes_are_legal, kAnything) {
    if (!channels_lead_everywhere(test)) return;
    const sennit_channel_ends none{0, nullptr, nullptr, nullptr};
    test.ok(sennit_channel_open(SENNIT_TEAM_WORLD, &none, 0, 0, nullptr, nullptr));
    test.ok(sennit_channel_close(nullptr, 0, 0));
    const int peer = test.rank ^ 1;
    if (peer >= test.size) return;
    const Opened opened = open(test, {{peer, nullptr, 0}}, 0);
    test.require(opened.peers[0] == nullptr, "there is nothing to point to");
    for (int i = 0; i < 20; ++i) {
        test.ok(sennit_channel_wait_write(opened[0], SENNIT_FOREVER));
        test.ok(sennit_channel_have_written(opened[0]));
        test.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
        test.ok(sennit_channel_have_read(opened[0]));
    }
    close(test, opened);
}

// Broken by a handle that outlives its channel or belongs to another rank, or by a failed call that
// closes a part of its list.
RANK_TEST(channel, invalid_channels_are_refused, kAnything) {
    const Opened opened = open(test, {{test.rank, nullptr, 0}, {test.rank, nullptr, 0}}, 0);
    test.require(opened[0].handle != opened[1].handle, "each has a handle of its own");
    test.require(opened[0].handle < 0x80000000u, "a handle is a positive int");
    const sennit_channel twice[] = {opened[0], opened[1], opened[0]};
    test.is(sennit_channel_close(twice, 3, SENNIT_FOREVER), SENNIT_ERR_ARG);
    const sennit_channel wrong[] = {opened[0], {opened[1].handle + 1}};
    test.is(sennit_channel_close(wrong, 2, SENNIT_FOREVER), SENNIT_ERR_ARG);
    test.equal(flag_of(test, sennit_channel_can_write, opened[0]), 1);
    close(test, opened);
    test.is(sennit_channel_close(opened.channels.data(), 2, 0), SENNIT_ERR_ARG);
    int flag = 0;
    test.is(sennit_channel_can_write(opened[0], &flag), SENNIT_ERR_ARG);
    test.is(sennit_channel_wait_read(opened[1], 0), SENNIT_ERR_ARG);
    const sennit_channel bad[] = {{0}, {1}, {0x7FFFFFFF}, {0xFFFFFFFF}, {0x80000000}, {0x4000}};
    for (const sennit_channel channel : bad)
        test.is(sennit_channel_have_written(channel), SENNIT_ERR_ARG);
}

// Broken by a side that mistakes its own flags for the other's, or by a refusal that leaves one
// side waiting.
RANK_TEST(channel, flags_that_differ_are_an_error_on_both_sides, kTwoRanks) {
    if (!channels_lead_everywhere(test)) return;
    if (takes_part(test)) {
        Opened opened;
        const unsigned flags =
            test.rank == 0 ? SENNIT_CHANNEL_MIRROR : SENNIT_CHANNEL_MIRROR | SENNIT_CHANNEL_PULL;
        test.is(try_open({{1 - test.rank, nullptr, 0}}, flags, SENNIT_FOREVER, &opened),
                SENNIT_ERR_ARG);
        // One side finds the error, the other is told.
        test.require(std::strstr(sennit_last_error()->text, "flags") != nullptr,
                     "the text says why");
        opened = open(test, {{1 - test.rank, nullptr, 0}}, 0);
        close(test, opened);
    }
    test.barrier();
}

// Private memory of the program: by load and store if possible, otherwise by copies. Broken by a
// mirror that is copied in the wrong direction, at the wrong time, or not at all.
RANK_TEST(channel, private_memory_is_handed_over_too, kAnything) {
    if (!channels_lead_everywhere(test)) return;
    const int peer = test.rank ^ 1;
    if (peer < test.size) {
        const auto bytes_of = [](int rank) { return static_cast<std::size_t>(5000 + 3 * rank); };
        for (const unsigned flags :
             {SENNIT_CHANNEL_MIRROR, SENNIT_CHANNEL_MIRROR | SENNIT_CHANNEL_PULL}) {
            const auto own = std::make_unique<std::uint8_t[]>(bytes_of(test.rank) + 1);
            const bool pulls = (flags & SENNIT_CHANNEL_PULL) != 0;
            Opened opened;
            const sennit_status status = try_open({{peer, own.get() + 1, bytes_of(test.rank)}},
                                                  flags, SENNIT_FOREVER, &opened);
            if (status == SENNIT_ERR_UNSUPPORTED) {
                std::fprintf(stderr, "left out: this machine forbids copies between processes\n");
                test.barrier();  // a rank without a peer is already in it
                return;
            }
            test.ok(status);
            for (std::uint64_t number = 0; number < 30; ++number) {
                // The writer's address and the reader's address.
                auto *writes = pulls ? own.get() + 1 : static_cast<std::uint8_t *>(opened.peers[0]);
                auto *reads = pulls ? static_cast<std::uint8_t *>(opened.peers[0]) : own.get() + 1;
                const std::size_t sent = bytes_of(pulls ? test.rank : peer);
                const std::size_t got = bytes_of(pulls ? peer : test.rank);
                test.ok(sennit_channel_wait_write(opened[0], SENNIT_FOREVER));
                fill(writes, sent, number * 64 + static_cast<std::uint64_t>(test.rank));
                test.ok(sennit_channel_have_written(opened[0]));
                if (number % 2 == 0) {
                    test.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
                } else {
                    while (flag_of(test, sennit_channel_can_read, opened[0]) == 0) {
                    }
                }
                check_pattern(test, reads, got, number * 64 + static_cast<std::uint64_t>(peer));
                test.ok(sennit_channel_have_read(opened[0]));
            }
            close(test, opened);
            // The other side may be in the middle of its last copy.
            const Opened last = open(test, {{peer, nullptr, 0}}, 0);
            close(test, last);
        }
    }
    test.barrier();
}

// Broken by a channel that opens although its memory gives no pointer, or by a refusal that one
// side does not notice.
RANK_TEST(channel, memory_without_a_pointer_is_refused_unless_a_copy_is_allowed, kTwoRanks) {
    if (!channels_lead_everywhere(test)) return;
    // Whole pages: the adoption of a shared page would depend on the other registration.
    constexpr std::size_t kPage = 65536;
    const std::unique_ptr<void, void (*)(void *)> own(std::aligned_alloc(kPage, kPage), std::free);
    sennit_region region = SENNIT_REGION_NULL;
    test.ok(sennit_register(own.get(), 8, 0, &region));
    const auto theirs = test.tell_all(
        region)[static_cast<std::size_t>(test.rank ^ 1) % static_cast<std::size_t>(test.size)];
    const bool has_pointer = sennit_ptr(theirs.gptr) != nullptr;
    std::uint64_t word = 0;
    const bool has_copy = sennit_get(&word, theirs.gptr, sizeof word) == SENNIT_OK;
    test.barrier();
    test.ok(sennit_deregister(region));
    const int peer = test.rank ^ 1;
    if (peer < test.size) {
        Opened opened;
        const sennit_status status = try_open({{peer, own.get(), 8}}, 0, SENNIT_FOREVER, &opened);
        test.is(status, has_pointer ? SENNIT_OK : SENNIT_ERR_UNSUPPORTED);
        if (has_pointer) {
            close(test, opened);
        } else {
            test.equal(sennit_last_error()->peer, peer);
            if (has_copy)
                test.require(
                    std::strstr(sennit_last_error()->text, "SENNIT_CHANNEL_MIRROR") != nullptr,
                    "the errors of both sides say what to do");
            else
                std::fprintf(stderr, "left out: this machine forbids copies between processes\n");
        }
    }
    test.barrier();
}

// Broken by channels that share a count because they share a buffer.
RANK_TEST(channel, channels_over_one_buffer_are_independent, kAnything) {
    if (!channels_lead_everywhere(test)) return;
    const sennit_gptr memory = test.allocate(24);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    const int peer = (test.rank ^ 1) < test.size ? test.rank ^ 1 : test.rank;
    const Opened opened = open(test, {{peer, own, 16}, {peer, own, 24}, {peer, own + 1, 8}});
    if (test.load_store)
        test.require(opened.words(0) == opened.words(1) && opened.words(0) + 1 == opened.words(2),
                     "the pointers lead to one memory");
    test.ok(sennit_channel_have_written(opened[1]));
    test.ok(sennit_channel_wait_read(opened[1], SENNIT_FOREVER));
    test.equal(flag_of(test, sennit_channel_can_write, opened[0]), 1);
    test.equal(flag_of(test, sennit_channel_can_read, opened[2]), 0);
    test.ok(sennit_channel_have_read(opened[1]));
    test.barrier();
    // The first channel may be closed while the others are in use.
    test.ok(sennit_channel_close(opened.channels.data(), 1, SENNIT_FOREVER));
    send_word(test, opened, 2, 77);
    expect_word(test, opened[2], own[1], 77);
    test.ok(sennit_channel_close(opened.channels.data() + 1, 2, SENNIT_FOREVER));
    test.barrier();
    test.free(memory);
}

// Broken by state of the two directions that both threads write without synchronisation.
RANK_TEST(channel, two_threads_use_the_two_directions, kTwoRanks | kFreeThreads) {
    if (!channels_lead_everywhere(test)) return;
    if (sennit_thread_level_granted() < static_cast<int>(SENNIT_THREAD_MULTIPLE)) return;
    const sennit_gptr memory = test.allocate(8);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    if (takes_part(test)) {
        const Opened opened = open(test, {{1 - test.rank, own, 8}});
        const std::uint64_t count = test.quick ? 300 : 3000;
        in_threads(test, 2, [&](Ranks &mine, int number) {
            for (std::uint64_t i = 1; i <= count; ++i) {
                if (number == 0) {
                    send_word(mine, opened, 0, i);
                } else {
                    expect_word(mine, opened[0], *own, i);
                }
            }
        });
        close(test, opened);
    }
    test.barrier();
    test.free(memory);
}

// Two threads of each rank open channels with the same peer at once. Broken by a turn that is lost.
RANK_TEST(channel, threads_that_open_at_once_take_turns, kTwoRanks | kFreeThreads) {
    if (!channels_lead_everywhere(test)) return;
    if (sennit_thread_level_granted() < static_cast<int>(SENNIT_THREAD_MULTIPLE)) return;
    if (takes_part(test)) {
        const int rounds = test.quick ? 10 : 60;
        std::atomic<int> opened_in_all{0};
        in_threads(test, 2, [&](Ranks &mine, int) {
            for (int round = 0; round < rounds; ++round) {
                const Opened opened = open(mine, {{1 - test.rank, nullptr, 0}}, 0);
                ++opened_in_all;
                mine.ok(sennit_channel_have_written(opened[0]));
                mine.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
                mine.ok(sennit_channel_have_read(opened[0]));
                close(mine, opened);
            }
        });
        test.equal(opened_in_all.load(), 2 * rounds);
    }
    test.barrier();
}

namespace {

// Rank 0 decides for both ranks, by an extra message.
bool goes_on(Ranks &test, const Opened &opened, const std::uint64_t &own, bool has_time) {
    if (test.rank == 0) {
        send_word(test, opened, 0, has_time ? 1 : 0);
        return has_time;
    }
    test.ok(sennit_channel_wait_read(opened[0], SENNIT_FOREVER));
    const bool told = own == 1;
    test.ok(sennit_channel_have_read(opened[0]));
    return told;
}

// Sends messages from rank 0 to rank 1 in order, and some back. Returns the number of messages from
// rank 0.
std::uint64_t hand_over_many(Ranks &test, const Opened &opened, const std::uint64_t &own,
                             std::uint64_t count) {
    constexpr std::uint64_t kBetweenLooks = 1000;
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::seconds(20);
    std::uint64_t looks = 0;
    for (std::uint64_t i = 1; i <= count; ++i) {
        if (test.rank == 0) send_word(test, opened, 0, i);
        if (test.rank == 1) expect_word(test, opened[0], own, i);
        if (i % 7 == 0) {
            if (test.rank == 1) send_word(test, opened, 0, i);
            if (test.rank == 0) expect_word(test, opened[0], own, i);
        }
        if (i % kBetweenLooks != 0) continue;
        ++looks;
        if (!goes_on(test, opened, own, Clock::now() < end)) return i + looks;
    }
    return count + looks;
}

}  // namespace

// Broken by a count that wraps, is lost or is mistaken for another after long use. A million
// messages take part of a second. If other programs leave the two ranks a single processor, the
// scheduler may take milliseconds per hand-over: the test then stops after 20 seconds.
RANK_TEST(channel, a_channel_is_used_a_million_times, kTwoRanks | kOnce) {
    if (!channels_lead_everywhere(test)) return;
    const sennit_gptr memory = test.allocate(8);
    auto *own = static_cast<std::uint64_t *>(sennit_ptr(memory));
    if (takes_part(test)) {
        const Opened opened = open(test, {{1 - test.rank, own, 8}});
        const bool few = test.quick || !test.load_store || under_sanitizer();
        const std::uint64_t count = few ? 2000 : test.size > 2 ? 50000 : 1000000;
        const std::uint64_t made = hand_over_many(test, opened, *own, count);
        sennit_channel_info info{};
        test.ok(sennit_channel_query(opened[0], &info));
        test.equal(test.rank == 0 ? info.written : info.read, made);
        close(test, opened);
    }
    test.barrier();
    test.free(memory);
}

// Broken by a channel that opens over a path without common memory.
RANK_TEST(channel, a_peer_beyond_a_network_is_refused, kTwoRanks) {
    const int peer = far_peer(test);
    if (peer < 0) return;
    Opened opened;
    std::uint64_t word = 0;
    test.is(try_open({{peer, &word, 8}}, kFlags, SENNIT_FOREVER, &opened), SENNIT_ERR_OTHER_NODE);
    test.equal(sennit_last_error()->peer, peer);
    const std::string text = sennit_last_error()->text;
    sennit_locality_level locality = SENNIT_LOCALITY_SELF;
    test.ok(sennit_locality(peer, &locality));
    test.require(
        (text.find("same node") != std::string::npos) == (locality == SENNIT_LOCALITY_NETWORK),
        "the error names the node only if the peer is on another node");
}

// Two buffers share the pages in the middle. Broken by a deregistration that ends another region's
// pages, or by views of a peer that do not show the same memory.
RANK_TEST(channel, two_channels_over_overlapping_adopted_buffers_are_one_memory, kTwoRanks) {
    if (!channels_lead_everywhere(test)) return;
    constexpr std::size_t kPage = 4096;
    constexpr std::size_t kWords = kPage / sizeof(std::uint64_t);
    auto *const own = static_cast<std::uint64_t *>(std::aligned_alloc(kPage, 3 * kPage));
    std::fill_n(own, 3 * kWords, 1);
    Opened opened;
    const int peer = 1 - test.rank;
    sennit_status status = SENNIT_ERR_UNSUPPORTED;
    if (takes_part(test))
        status = try_open({{peer, own, 2 * kPage}, {peer, own + kWords, 2 * kPage}}, 0,
                          SENNIT_FOREVER, &opened);
    if (status != SENNIT_ERR_UNSUPPORTED) {
        test.ok(status);
        const auto mine = static_cast<std::uint64_t>(test.rank);
        std::uint64_t *const first = opened.words(0);
        std::uint64_t *const second = opened.words(1);
        test.ok(sennit_channel_wait_write(opened[0], SENNIT_FOREVER));
        first[kWords + 3] = 100 + mine;
        test.equal(second[3], 100 + mine);
        test.ok(sennit_channel_have_written(opened[0]));
        expect_word(test, opened[0], own[kWords + 3], 101 - mine);
        // The first channel closes; its last page still belongs to the second.
        test.ok(sennit_channel_close(&opened.channels[0], 1, SENNIT_FOREVER));
        test.ok(sennit_channel_wait_write(opened[1], SENNIT_FOREVER));
        second[3] = 200 + mine;
        second[2 * kWords - 1] = 300 + mine;
        test.ok(sennit_channel_have_written(opened[1]));
        test.ok(sennit_channel_wait_read(opened[1], SENNIT_FOREVER));
        test.equal(own[kWords + 3], 201 - mine);
        test.equal(own[3 * kWords - 1], 301 - mine);
        test.ok(sennit_channel_have_read(opened[1]));
        test.ok(sennit_channel_close(&opened.channels[1], 1, SENNIT_FOREVER));
        test.equal(own[kWords + 3], 201 - mine);
        test.equal(own[0], 1);
    }
    test.barrier();
    std::free(own);
}
