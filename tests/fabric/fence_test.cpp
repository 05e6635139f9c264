// Transfers that fail (fence.cpp): what the sender does, and what the owner of the target endpoint
// does.
#include "told_peer.hpp"

#include <sys/resource.h>

#include <set>

namespace {

using namespace told;

constexpr std::uint64_t kGone = 99;  // a handle of no segment

using Fence = ToldPeers;

// ---- The owner of an endpoint.

// Broken by an owner that closes any open endpoint, also for a late or repeated question.
TEST_F(Fence, an_endpoint_is_closed_once_for_its_number) {
    there[1].ask(1);
    auto answer = hear(MessageKind::endpoint);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->header.id, 2u);
    EXPECT_EQ(answer->header.status, kIsNew);
    pass(100 * kMs);
    for (std::uint64_t number : {1, 0}) {
        there[1].ask(number);
        answer = hear(MessageKind::endpoint);
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->header.id, 2u);
        EXPECT_EQ(answer->header.status, 0u);
    }
}

// Broken by answering without closing the endpoint.
TEST_F(Fence, data_sent_to_a_closed_endpoint_does_not_land) {
    there[1].ask(0);
    const auto before = hear(MessageKind::endpoint);
    ASSERT_TRUE(before);
    EXPECT_TRUE(lands(*before, 5));
    there[1].ask(1);
    const auto after = hear(MessageKind::endpoint);
    ASSERT_TRUE(after);
    EXPECT_FALSE(lands(*before, 6));
    EXPECT_TRUE(lands(*after, 7));
}

// A later endpoint may have the address of an earlier one. Broken by reusing tags.
TEST_F(Fence, the_last_tags_of_an_owner_differ) {
    std::vector<std::uint64_t> tags;
    for (std::uint64_t number = 0; number < 17; ++number) {
        pass(20 * kMs);
        there[1].ask(number);
        const auto answer = hear(MessageKind::endpoint);
        ASSERT_TRUE(answer);
        tags.push_back(answer->header.handle);
    }
    // The first two tags belong to the same endpoint.
    for (std::size_t i = 2; i < tags.size(); ++i)
        EXPECT_EQ(tags[i] & 15, (tags[i - 1] + 1) & 15);
    std::set<std::uint64_t> others;  // upper bits, which are random
    for (const std::uint64_t tag : tags)
        others.insert(tag >> 4);
    EXPECT_GT(others.size(), 1u);
}

// Broken by a sender with stale keys that makes the owner close endpoints all the time.
TEST_F(Fence, an_owner_closes_at_most_once_in_20_ms) {
    pass(20 * kMs);
    there[1].ask(1);
    ASSERT_TRUE(hear(MessageKind::endpoint));
    there[1].ask(2);
    steps(300);
    EXPECT_EQ(heard(MessageKind::endpoint), 0);
    pass(20 * kMs);
    there[1].ask(2);
    const auto answer = hear(MessageKind::endpoint);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->header.id, 3u);
}

// Broken by an owner whose other senders learn of the new endpoint only by errors, or which
// connects to every rank of the job.
TEST_F(Fence, connected_peers_learn_of_a_new_endpoint) {
    pass(20 * kMs);
    there[1].ask(1);
    ASSERT_TRUE(hear(MessageKind::endpoint));
    steps(300);
    EXPECT_EQ(heard(MessageKind::endpoint, 1), 0);
    EXPECT_EQ(heard(MessageKind::endpoint, 2), 0);
    there[2].ask(0);
    ASSERT_TRUE(hear(MessageKind::endpoint, 2));
    pass(20 * kMs);
    there[1].ask(2);
    const auto news = hear(MessageKind::endpoint, 2);
    ASSERT_TRUE(news);
    EXPECT_EQ(news->header.id, 3u);
}

// Broken by an owner that waits for a question about the endpoint that no longer exists.
TEST_F(Fence, any_question_makes_an_owner_repeat_a_failed_open) {
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlimit none = limit;
    none.rlim_cur = 3;
    pass(20 * kMs);
    there[1].ask(0);
    ASSERT_TRUE(hear(MessageKind::endpoint));
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    there[1].ask(1);
    steps(300);
    EXPECT_EQ(heard(MessageKind::endpoint), 0);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    pass(20 * kMs);
    there[1].ask(0);
    const auto answer = hear(MessageKind::endpoint);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->header.id, 2u);
    EXPECT_TRUE(lands(*answer, 8));
}

// Broken by answering although the endpoint is open, or by not making the keys again.
TEST_F(Fence, an_unclosed_endpoint_still_works_and_the_next_question_closes_it) {
    if (!has_layer()) GTEST_SKIP() << "needs the layer";
    there[1].ask(0);
    const auto open = hear(MessageKind::endpoint);
    ASSERT_TRUE(open);
    {
        const Switch no_closes("no_closes");
        there[1].ask(1);
        steps(300);
        EXPECT_EQ(heard(MessageKind::endpoint), 0);
        pass(kMs);
        EXPECT_TRUE(lands(*open, 5));
    }
    there[1].ask(1);
    const auto answer = hear(MessageKind::endpoint);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->header.id, 2u);
    EXPECT_FALSE(lands(*open, 6));
    EXPECT_TRUE(lands(*answer, 7));
}

// ---- A sender.

// Broken by repeating before the answer: the first try may arrive after the repetition.
TEST_F(Fence, a_failed_put_is_repeated_only_at_the_endpoint_that_the_peer_names) {
    meet();
    Job &second = put(2);
    const Word question = doubt(second);
    EXPECT_EQ(question.header.id, 1u);
    for (int i = 0; i < 50; ++i) {
        pass(20 * kMs);
        step();
        there[1].look_at_memory();
    }
    EXPECT_FALSE(second.over);
    Job &third = put(3);
    EXPECT_EQ(network->submit(&third), Submit::again);
    there[1].answer(0, kIsNew);
    land(second);
    EXPECT_EQ(there[1].memory[0], 2u);
    start(third);
    land(third);
    EXPECT_EQ(there[1].memory[0], 3u);
}

// Broken by accepting an answer without checking which question it answers.
TEST_F(Fence, an_answer_to_an_earlier_question_is_ignored) {
    meet();
    const Word earlier = there[1].endpoint(0);
    Job &second = put(2);
    EXPECT_EQ(doubt(second).header.id, 1u);
    there[1].say(earlier);
    steps(300);
    heard(MessageKind::question);
    pass(1000 * kMs);
    const auto again = hear(MessageKind::question);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->header.id, 1u) << "the doubt is over";
    there[1].answer(0, kIsNew);
    land(second);
    there[1].say(earlier);
    steps(300);
    Job &third = put(3);
    start(third);
    land(third);
    EXPECT_EQ(there[1].memory[0], 3u);
}

// Broken by a question that is not repeated, or repeated at every look at the network.
TEST_F(Fence, a_question_is_repeated_less_and_less_often) {
    meet();
    EXPECT_EQ(doubt(put(2)).header.id, 1u);
    int asked = 1;
    for (int i = 0; i < 3000; ++i) {
        pass(kMs);
        step();
        asked += heard(MessageKind::question);
    }
    EXPECT_GE(asked, 8);
    EXPECT_LE(asked, 12);
}

// Broken by a doubt that waits for the timer of a question about something else.
TEST_F(Fence, a_doubt_is_asked_about_at_once_despite_an_earlier_question) {
    meet();
    start(put(2));
    looks(8);  // overdue, but the peer does not answer
    EXPECT_GT(heard(MessageKind::question), 3);
    there[1].reopen();
    const std::int64_t begin = time_ns;
    std::optional<Word> question;
    ASSERT_TRUE(until([&] {
        for (const Word &word : there[1].heard)
            if (word.header.id == 1) question = word;
        return question.has_value();
    }));
    EXPECT_LT(time_ns - begin, 100 * kMs);
}

// Broken by counting failures against a neighbour, or by repeating forever.
TEST_F(Fence, only_the_put_that_fails_again_and_again_ends_with_an_error) {
    meet();
    Job &bad = put(2, 1, 0, kGone);
    Job &good = put(3);
    start(bad);
    start(good);
    serves_every = 64;  // both puts are on the way when the peer looks
    int rounds = 0;
    for (; rounds < 30 && hear_doubt(bad); ++rounds)
        close_and_answer(kIsNew);
    EXPECT_TRUE(bad.over);
    EXPECT_EQ(bad.status, SENNIT_ERR_FABRIC);
    EXPECT_EQ(rounds, 10) << "twice with others, and eight times alone";
    EXPECT_TRUE(good.over);
    EXPECT_EQ(good.status, SENNIT_OK);
    EXPECT_EQ(there[1].memory[0], 3u);
}

// Broken by counting a failure although the endpoint was closed for another rank's doubt.
TEST_F(Fence, a_failure_does_not_count_if_the_endpoint_was_closed_for_another_rank) {
    meet();
    Job &bad = put(2, 1, 0, kGone);
    start(bad);
    serves_every = 1;
    for (int rounds = 0; rounds < 20; ++rounds) {
        ASSERT_TRUE(hear_doubt(bad));
        close_and_answer(0);
    }
    EXPECT_FALSE(bad.over);
}

TEST_F(Fence, only_the_put_to_freed_memory_ends) {
    meet();
    Job &bad = put(2, 1, 0, kGone);
    Job &good = put(3);
    there[1].reopen();
    start(bad);
    start(good);
    serves_every = 1;
    ASSERT_TRUE(hear_doubt(bad));
    there[1].answer_that_gone(kGone);
    land(good);
    EXPECT_TRUE(bad.over);
    EXPECT_EQ(bad.status, SENNIT_ERR_NOT_REGISTERED);
}

// The old endpoint still exists and holds the transfers that were sent to it.
class Hanging : public Fence {
  protected:
    void SetUp() override {
        Fence::SetUp();
        meet(1);
        meet(2);
        held_ = &put(7);
        start(*held_);
        Word other = there[2].endpoint(0);
        other.header.id = 2;
        there[1].say(other);
        steps(100);
    }
    Job *held_ = nullptr;
};

// Broken by a try that nobody ends, or by one that ends in time and is still repeated.
TEST_F(Hanging, a_try_that_hangs_100_ms_after_the_fence_is_ended_and_repeated) {
    Job &neighbour = put(8, 2);
    neighbour.offset = 8;
    start(neighbour);
    heard(MessageKind::question, 2);
    pass(110 * kMs);
    steps(50);
    const std::int64_t begin = time_ns;
    EXPECT_TRUE(until([&] {
        there[2].look_at_memory();
        return held_->over;
    }));
    EXPECT_LT(time_ns - begin, 200 * kMs);
    EXPECT_EQ(held_->status, SENNIT_OK);
    EXPECT_EQ(there[2].memory[0], 7u);
    land(neighbour);
    pass(kMs);
    steps(100);
    EXPECT_EQ(heard(MessageKind::question, 2), 0) << "its connection was not to be ended";
}

TEST_F(Hanging, a_try_that_ends_within_100_ms_of_the_fence_counts) {
    pass(50 * kMs);
    steps(100);
    land(*held_);
    EXPECT_EQ(there[1].memory[0], 7u);
    steps(1000);
    there[2].look_at_memory();
    EXPECT_EQ(there[2].memory[0], 1u) << "it was repeated";
}

// ---- The provider takes no transfers.

// Broken by waiting forever for a connection, or by ending the attempt as soon as the peer
// answers.
TEST_F(Fence, an_unmade_connection_is_ended_after_an_answer_and_each_time_later) {
    Job &first = put(1);
    (void)network->submit(&first);
    ASSERT_TRUE(hear(MessageKind::question));
    there[1].answer();
    std::int64_t length[2] = {};
    for (std::int64_t &each : length) {
        const std::int64_t begin = time_ns;
        for (bool ends = false; !ends;) {
            pass(20 * kMs);
            (void)network->submit(&first);
            step();
            ends =
                !there[1].heard.empty() && there[1].heard.front().header.id == there[1].number[0];
            if (!ends && heard(MessageKind::question) != 0) there[1].answer();
            ASSERT_LT(time_ns - begin, 20'000 * kMs);
        }
        each = time_ns - begin;
        there[1].heard.clear();
        there[1].reopen();
        there[1].answer(0, kIsNew);
        steps(100);
    }
    EXPECT_GT(length[0], 1'000 * kMs);
    EXPECT_LT(length[0], 1'800 * kMs);
    EXPECT_GT(length[1], 2'000 * kMs);
    start(first);
    land(first);
}

// ---- Peers that leave, die or were silent for too long.

TEST_F(Fence, transfers_to_a_rank_that_has_left_end_two_seconds_later) {
    meet();
    Job &get = job(Operation::Kind::get);
    start(get);
    there[1].memory[0] = 9;
    there[1].say(ToldPeer::word(MessageKind::goodbye));
    steps(100);
    pass(1'900 * kMs);
    steps(100);
    EXPECT_FALSE(get.over);
    pass(200 * kMs);
    ASSERT_TRUE(until([&] { return get.over; }));
    EXPECT_EQ(get.status, SENNIT_ERR_PEER_LOST);
    for (int i = 0; i < 300; ++i) {
        there[1].look_at_memory();
        step();
    }
    EXPECT_EQ(get.memory[0], 0u) << "the data came after the get had ended";
    Job &late = put(3);
    for (int i = 0; i < 300; ++i) {
        EXPECT_EQ(network->submit(&late), Submit::again);
        there[1].look_at_memory();
        step();
    }
}

TEST_F(Fence, a_put_in_doubt_ends_when_its_target_leaves) {
    meet();
    Job &second = put(2);
    (void)doubt(second);
    there[1].say(ToldPeer::word(MessageKind::goodbye));
    pass(kMs);
    ASSERT_TRUE(until([&] { return second.over; }));
    EXPECT_EQ(second.status, SENNIT_ERR_PEER_LOST);
    steps(300);
    heard(MessageKind::question);
    pass(1'000 * kMs);
    steps(300);
    EXPECT_EQ(heard(MessageKind::question), 0) << "a rank that has left is not asked";
}

}  // namespace
