// The PMI-1 wire with a launcher that obeys, refuses, hangs up, sends nonsense or is silent.
#include "bootstrap/pmi1_wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "base/fail.hpp"
#include "fake_pmi1.hpp"

namespace {

using sennit::Deadline;
using sennit::now_ns;
using sennit::thread_error;
using sennit::runtime::Pmi1Exchange;
using sennit::runtime::Pmi1Wire;
using sennit_test::FakePmi1;
using ::testing::HasSubstr;

constexpr std::int64_t kSecond_ns = 1'000'000'000;
constexpr int kHydraValueBytes = 1024;

Deadline soon() {
    return Deadline::after(10 * kSecond_ns);
}

// Answers `command` with `text`, and every other command as usual.
FakePmi1::Interceptor instead_of(const std::string &command, const std::string &text) {
    return [=](const std::string &request) {
        return request.substr(0, request.find(' ')) == "cmd=" + command ? text : FakePmi1::kServe;
    };
}

unsigned char pattern(int rank, std::uint32_t generation, std::size_t i) {
    return static_cast<unsigned char>(i * 7 + static_cast<std::size_t>(rank) * 31 + generation);
}

// One rank's part: connects, exchanges `bytes` bytes `times` times, and checks every rank's bytes.
void exchange_as(const FakePmi1 &launcher, int rank, int size, std::size_t bytes, int times) {
    Pmi1Wire wire(launcher.fd(rank));
    ASSERT_EQ(wire.initialise(soon()), SENNIT_OK);
    ASSERT_EQ(wire.learn_limits(soon()), SENNIT_OK);
    for (int time = 1; time <= times; ++time) {
        const Pmi1Exchange exchange{rank, size, static_cast<std::uint32_t>(time)};
        std::vector<unsigned char> mine(bytes + 1);
        std::vector<unsigned char> all(bytes * static_cast<std::size_t>(size) + 1, 0xee);
        for (std::size_t i = 0; i < bytes; ++i)
            mine[i] = pattern(rank, exchange.generation, i);
        ASSERT_EQ(wire.allgather(exchange, mine.data(), all.data(), bytes, soon()), SENNIT_OK)
            << thread_error()->text;
        for (int other = 0; other < size; ++other)
            for (std::size_t i = 0; i < bytes; ++i)
                ASSERT_EQ(all[static_cast<std::size_t>(other) * bytes + i],
                          pattern(other, exchange.generation, i))
                    << "byte " << i << " of rank " << other;
        ASSERT_EQ(all.back(), 0xee) << "the exchange wrote past its end";
    }
    EXPECT_EQ(wire.finalise(soon()), SENNIT_OK);
}

void exchange_among(FakePmi1 &launcher, int size, std::size_t bytes, int times) {
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < size; ++rank)
        ranks.emplace_back(exchange_as, std::cref(launcher), rank, size, bytes, times);
    for (auto &rank : ranks)
        rank.join();
    launcher.stop();
}

TEST(Pmi1Wire, allgather_gives_every_rank_all_parts) {
    for (int size : {1, 2, 5}) {
        FakePmi1 launcher(size, kHydraValueBytes);
        exchange_among(launcher, size, 100, 3);
    }
}

// Broken by a part that is lost, doubled or out of order at the boundary between two values.
TEST(Pmi1Wire, a_part_longer_than_a_value_is_split_over_several_keys) {
    // A value of 40 characters holds 19 bytes and a terminating zero.
    for (std::size_t bytes : {0u, 1u, 18u, 19u, 20u, 37u, 38u, 39u, 1000u}) {
        FakePmi1 launcher(2, 40);
        exchange_among(launcher, 2, bytes, 2);
        EXPECT_EQ(launcher.store().size(), 2 * 2 * ((bytes + 18) / 19)) << bytes << " bytes";
    }
}

TEST(Pmi1Wire, no_key_is_ever_put_twice) {
    FakePmi1 launcher(3, 40);
    exchange_among(launcher, 3, 50, 4);
    EXPECT_FALSE(launcher.key_was_put_twice());
    for (const auto &entry : launcher.store())
        EXPECT_EQ(entry.first.rfind("sennit-", 0), 0u) << entry.first << " may be a key of MPI too";
}

// The launcher checks each length and refuses one that is too long.
TEST(Pmi1Wire, the_limits_of_the_launcher_are_kept) {
    for (int value_bytes : {16, 17, 255, 1024, 4096, 100000}) {
        FakePmi1 launcher(2, value_bytes);
        exchange_among(launcher, 2, 5000, 1);
    }
}

TEST(Pmi1Wire, unusable_limits_are_an_error) {
    for (const char *limits :
         {"cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=4\n",
          "cmd=maxes kvsname_max=256 keylen_max=8 vallen_max=1024\n",
          "cmd=maxes kvsname_max=256 keylen_max=64\n", "cmd=maxes keylen_max=64 vallen_max=12x\n",
          "cmd=maxes keylen_max=64 vallen_max=\n"}) {
        FakePmi1 launcher(1, kHydraValueBytes, instead_of("get_maxes", limits));
        Pmi1Wire wire(launcher.fd(0));
        EXPECT_EQ(wire.learn_limits(soon()), SENNIT_ERR_BOOTSTRAP) << limits;
    }
}

TEST(Pmi1Wire, a_launcher_without_a_key_space_is_an_error) {
    FakePmi1 launcher(1, kHydraValueBytes, instead_of("get_my_kvsname", "cmd=my_kvsname\n"));
    Pmi1Wire wire(launcher.fd(0));
    EXPECT_EQ(wire.learn_limits(soon()), SENNIT_ERR_BOOTSTRAP);
}

TEST(Pmi1Wire, a_refusal_reports_the_answer_and_keeps_the_wire) {
    FakePmi1 launcher(1, kHydraValueBytes, instead_of("put", "cmd=put_result rc=-7 msg=no_room\n"));
    Pmi1Wire wire(launcher.fd(0));
    ASSERT_EQ(wire.learn_limits(soon()), SENNIT_OK);
    char byte = 1;
    EXPECT_EQ(wire.allgather({0, 1, 1}, &byte, &byte, 1, soon()), SENNIT_ERR_BOOTSTRAP);
    EXPECT_THAT(std::string(thread_error()->text), HasSubstr("no_room"));
    EXPECT_EQ(thread_error()->provider_code, -7);
    EXPECT_FALSE(wire.broken());
    EXPECT_EQ(wire.barrier(soon()), SENNIT_OK);
}

TEST(Pmi1Wire, another_version_of_the_protocol_is_refused) {
    FakePmi1 launcher(1, kHydraValueBytes,
                      instead_of("init", "cmd=response_to_init pmi_version=2 rc=-1\n"));
    Pmi1Wire wire(launcher.fd(0));
    EXPECT_EQ(wire.initialise(soon()), SENNIT_ERR_BOOTSTRAP);
}

// The value of rank 1 looks like that of a rank with other data or another version.
TEST(Pmi1Wire, a_value_that_does_not_fit_the_exchange_is_an_error) {
    for (const char *value : {"00", "0000000", "000000000000", "0000000g", "0000000G", ""}) {
        FakePmi1 launcher(2, kHydraValueBytes,
                          instead_of("get", std::string("cmd=get_result rc=0 msg=success value=") +
                                                value + "\n"));
        std::thread other([&] {
            Pmi1Wire wire(launcher.fd(1));
            EXPECT_EQ(wire.barrier(soon()), SENNIT_OK);
        });
        Pmi1Wire wire(launcher.fd(0));
        EXPECT_EQ(wire.learn_limits(soon()), SENNIT_OK);
        char mine[4] = {1, 2, 3, 4};
        char all[8] = {};
        EXPECT_EQ(wire.allgather({0, 2, 1}, mine, all, 4, soon()), SENNIT_ERR_BOOTSTRAP) << value;
        EXPECT_THAT(std::string(thread_error()->text), HasSubstr("rank 1"));
        other.join();
    }
}

TEST(Pmi1Wire, a_rank_that_put_nothing_is_an_error) {
    FakePmi1 launcher(2, kHydraValueBytes);
    std::thread other([&] {
        Pmi1Wire wire(launcher.fd(1));
        EXPECT_EQ(wire.barrier(soon()), SENNIT_OK);
    });
    Pmi1Wire wire(launcher.fd(0));
    EXPECT_EQ(wire.learn_limits(soon()), SENNIT_OK);
    char mine = 1;
    char all[2] = {};
    EXPECT_EQ(wire.allgather({0, 2, 1}, &mine, all, 1, soon()), SENNIT_ERR_BOOTSTRAP);
    EXPECT_THAT(std::string(thread_error()->text), HasSubstr("key_not_found"));
    other.join();
}

TEST(Pmi1Wire, a_launcher_that_hangs_up_is_an_error_for_all_later_calls) {
    FakePmi1 launcher(1, kHydraValueBytes, instead_of("barrier_in", FakePmi1::kHangUp));
    Pmi1Wire wire(launcher.fd(0));
    EXPECT_EQ(wire.initialise(soon()), SENNIT_OK);
    EXPECT_EQ(wire.barrier(soon()), SENNIT_ERR_BOOTSTRAP);
    EXPECT_TRUE(wire.broken());
    EXPECT_EQ(wire.initialise(soon()), SENNIT_ERR_BOOTSTRAP);
}

// Broken by a write that does not suppress SIGPIPE: the test would die of the signal.
TEST(Pmi1Wire, writing_to_a_dead_launcher_is_an_error_and_no_signal) {
    FakePmi1 launcher(1, kHydraValueBytes);
    launcher.stop();
    Pmi1Wire wire(launcher.fd(0));
    EXPECT_EQ(wire.barrier(soon()), SENNIT_ERR_BOOTSTRAP);
}

TEST(Pmi1Wire, nonsense_breaks_the_wire) {
    const std::string endless(20000, 'x');
    for (const std::string &answer :
         {std::string("hello\n"), std::string("\n"), std::string("cmd=\n"),
          std::string("cmd=barrier_outer\n"), std::string("xcmd=barrier_out\n"),
          std::string("cmd=put_result rc=0\n"), endless,
          std::string("cmd=barrier_out\ncmd=barrier_out\n")}) {
        FakePmi1 launcher(1, kHydraValueBytes, instead_of("barrier_in", answer));
        Pmi1Wire wire(launcher.fd(0));
        EXPECT_EQ(wire.barrier(soon()), SENNIT_ERR_BOOTSTRAP) << answer.substr(0, 40);
        EXPECT_TRUE(wire.broken());
        EXPECT_EQ(std::strlen(thread_error()->text), std::strcspn(thread_error()->text, "\n"));
    }
}

// Half a line counts as silence: pieces of an answer do not extend the timeout.
TEST(Pmi1Wire, a_silent_launcher_costs_only_the_timeout) {
    for (const std::string &answer : {FakePmi1::kSilence, std::string("cmd=barr")}) {
        FakePmi1 launcher(1, kHydraValueBytes, instead_of("barrier_in", answer));
        Pmi1Wire wire(launcher.fd(0));
        const std::int64_t start_ns = now_ns();
        EXPECT_EQ(wire.barrier(Deadline::after(kSecond_ns / 5)), SENNIT_ERR_TIMEOUT);
        EXPECT_GE(now_ns() - start_ns, kSecond_ns / 5);
        EXPECT_LT(now_ns() - start_ns, 5 * kSecond_ns);
        EXPECT_TRUE(wire.broken()) << "a late answer would be taken for that to the next request";
        EXPECT_EQ(wire.barrier(soon()), SENNIT_ERR_BOOTSTRAP);
    }
}

TEST(Pmi1Wire, a_timeout_of_zero_still_tries_once) {
    FakePmi1 launcher(1, kHydraValueBytes, instead_of("barrier_in", FakePmi1::kSilence));
    Pmi1Wire wire(launcher.fd(0));
    EXPECT_EQ(wire.barrier(Deadline::after(0)), SENNIT_ERR_TIMEOUT);
    launcher.stop();
    ASSERT_EQ(launcher.requests().size(), 1u);
    EXPECT_EQ(launcher.requests()[0], "cmd=barrier_in");
}

TEST(Pmi1Wire, an_answer_in_pieces_is_put_together) {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    std::thread launcher([&] {
        for (const char *c = "cmd=barrier_out\n"; *c != '\0'; ++c) {
            (void)!write(pair[1], c, 1);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    Pmi1Wire wire(pair[0]);
    EXPECT_EQ(wire.barrier(soon()), SENNIT_OK);
    launcher.join();
    (void)close(pair[0]);
    (void)close(pair[1]);
}

TEST(Pmi1Wire, the_greeting_of_a_port_has_rank_and_size) {
    FakePmi1 launcher(1, kHydraValueBytes);
    Pmi1Wire wire(launcher.fd(0));
    int rank = -1;
    int size = -1;
    EXPECT_EQ(wire.introduce("3", soon(), &rank, &size), SENNIT_OK);
    EXPECT_EQ(rank, 3);
    EXPECT_EQ(size, 5);
    EXPECT_EQ(wire.initialise(soon()), SENNIT_OK) << "the greeting was not read to its end";
}

TEST(Pmi1Wire, an_invalid_greeting_is_an_error) {
    for (const char *greeting :
         {"cmd=initack\ncmd=set size=2\ncmd=set rank=2\ncmd=set debug=0\n",
          "cmd=initack\ncmd=set size=0\ncmd=set rank=0\ncmd=set debug=0\n",
          "cmd=initack\ncmd=set debug=0\n", "cmd=barrier_out\n", "nothing\n"}) {
        FakePmi1 launcher(1, kHydraValueBytes, instead_of("initack", greeting));
        Pmi1Wire wire(launcher.fd(0));
        int rank = -1;
        int size = -1;
        EXPECT_EQ(wire.introduce("0", soon(), &rank, &size), SENNIT_ERR_BOOTSTRAP) << greeting;
        EXPECT_EQ(rank, -1);
    }
}

}  // namespace
