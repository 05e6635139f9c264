// Overdue transfers, and rails that carry nothing (outage.cpp).
#include "told_peer.hpp"

namespace {

using namespace told;

// ---- Overdue transfers.

class Overdue : public ToldPeers {
  protected:
    static constexpr int kLooks = 16;  // half a lease with the default timeout
    // Makes `count` looks while the peer answers all questions; returns whether the rank is in
    // doubt then.
    bool is_in_doubt_after(int count) {
        for (int i = 0; i < count; ++i) {
            looks(1);
            bool asked = false;
            for (const Word &word : there[1].heard) {
                if (word.header.kind != MessageKind::question) continue;
                if (word.header.id == there[1].number[0]) return true;
                asked = true;
            }
            there[1].heard.clear();
            if (asked) there[1].answer();
            steps(20);
        }
        return false;
    }
    void complete(int count) {
        for (int i = 0; i < count; ++i) {
            Job &later = put(3);
            start(later);
            land(later);
        }
    }
};

TEST_F(Overdue, an_overdue_put_is_ended_and_repeated_if_the_peer_answers) {
    meet();
    Job &second = put(2);
    start(second);
    EXPECT_FALSE(is_in_doubt_after(kLooks - 2));
    ASSERT_TRUE(is_in_doubt_after(kLooks / 2));
    there[1].reopen();
    there[1].answer(0, kIsNew);
    land(second);
    EXPECT_EQ(there[1].memory[0], 2u);
    // A transfer has ended in between, so the next overdue one does not show that the rail carries
    // nothing; neither does a doubt that stays unanswered.
    Job &third = put(3);
    start(third);
    ASSERT_TRUE(is_in_doubt_after(2 * kLooks));
    for (int i = 0; i < 3 * kLooks; ++i) {
        there[1].ask(0);
        looks(1);
    }
    there[1].reopen();
    there[1].answer(0, kIsNew);
    land(third);
}

// Broken by waiting forever for a lost completion while others arrive, or by giving up too early.
TEST_F(Overdue, a_lost_completion_is_found_after_many_later_ones) {
    if (!has_layer()) GTEST_SKIP() << "needs the layer";
    meet();
    Job &lost = put(2);
    {
        const Switch no_transfers("no_transfers");
        start(lost);
    }
    for (int i = 0; i < 2 * kLooks; ++i) {
        complete(i < kLooks - 2 ? 4 : 2);
        ASSERT_FALSE(is_in_doubt_after(1)) << i;
    }
    complete(128 - 4 * (kLooks - 2) - 2 * (kLooks + 2) + 1);
    EXPECT_TRUE(is_in_doubt_after(2));
    there[1].reopen();
    there[1].answer(0, kIsNew);
    land(lost);
}

TEST_F(Overdue, many_later_completions_make_no_recent_put_overdue) {
    if (!has_layer()) GTEST_SKIP() << "needs the layer";
    meet();
    {
        const Switch no_transfers("no_transfers");
        start(put(2));
    }
    complete(140);
    EXPECT_FALSE(is_in_doubt_after(2));
}

TEST_F(Overdue, a_put_to_a_silent_peer_is_not_overdue) {
    meet();
    Job &second = put(2);
    start(second);
    looks(3 * kLooks);
    for (const Word &word : there[1].heard)
        EXPECT_EQ(word.header.id, 0u);
    EXPECT_FALSE(second.over);
    land(second);
}

// Broken by calling a transfer overdue while its bytes move.
TEST_F(Overdue, a_slow_put_is_not_overdue) {
    meet();
    Job &large = put(2);
    large.memory.resize((64 << 20) / 8);
    there[1].widen(64 << 20);
    large.local = large.memory.data();
    large.bytes = 64 << 20;
    start(large);
    for (int i = 0; i < 2 * kLooks; ++i) {
        if (i % 3 == 0) there[1].look_at_memory();
        ASSERT_FALSE(is_in_doubt_after(1));
    }
    EXPECT_FALSE(large.over);
}

TEST_F(Overdue, a_rail_that_carries_no_data_is_named_and_tried_each_second_until_it_does) {
    meet();
    meet(2);
    Job &second = put(2);
    start(second);
    ASSERT_TRUE(is_in_doubt_after(2 * kLooks));
    // Another endpoint, which takes the puts.
    Word other = there[2].endpoint(0, kIsNew);
    there[1].number[0] = other.header.id = 2;
    there[1].say(other);
    ASSERT_TRUE(is_in_doubt_after(2 * kLooks));
    EXPECT_FALSE(second.over);
    there[1].reopen();
    there[1].answer(0, kIsNew);
    ASSERT_TRUE(until([&] { return second.over; }));
    EXPECT_EQ(second.status, SENNIT_ERR_FABRIC);
    char text[200] = "";
    network->describe_trouble(1, text, sizeof text);
    EXPECT_NE(std::strstr(text, "carries no data"), nullptr) << text;
    Job &third = put(3);
    int tries = 0;
    for (int i = 0; i < 30; ++i) {
        pass(100 * kMs);
        step();
        tries += network->submit(&third) != Submit::failed;
    }
    EXPECT_GE(tries, 2);
    EXPECT_LE(tries, 4);
    start(third);
    land(third);
    Job &fourth = put(4);
    EXPECT_EQ(network->submit(&fourth), Submit::accepted) << "it carries data again";
    land(fourth);
}

// ---- Several rails.

class TwoRails : public ToldPeers {
  protected:
    void SetUp() override {
        if (!has_layer()) GTEST_SKIP() << "needs the layer";
        open(settings_);
    }
    const char *settings_ = "provider=cxi;rails=2";
    // Answers the questions about rail 1 that come by rail 0.
    void answer_elsewhere(std::uint32_t status) {
        std::deque<Word> words;
        words.swap(there[1].heard);
        for (const Word &word : words)
            if (word.header.kind == MessageKind::question && word.header.rail == 1 && word.by == 0)
                there[1].say(there[1].endpoint(1, status), 0);
    }
    // Rail 1 carries nothing in either direction.
    void lose_rail() {
        for (int i = 0; i < 24 && network->rails_to(1) == 3; ++i) {
            looks(1);
            pass(30 * kMs);
            steps(50);
            answer_elsewhere(0);
            steps(20);
        }
    }
};

TEST_F(TwoRails, questions_go_by_their_own_rail_and_by_the_other_in_turn) {
    meet_by_all();
    const Word first = doubt(put(2, 1, 1), 1, 1);
    EXPECT_EQ(first.by, 1u);
    std::vector<unsigned> ways;
    while (ways.size() < 3) {
        const auto next = hear(MessageKind::question);
        ASSERT_TRUE(next);
        EXPECT_EQ(next->header.rail, 1);
        ways.push_back(next->by);
    }
    EXPECT_EQ(ways, (std::vector<unsigned>{0, 1, 0}));
}

// Broken by not noticing the rail, by transfers that stay on it, or by never using it again.
TEST_F(TwoRails, a_rail_that_carries_nothing_is_left_out_until_the_peer_answers_by_it) {
    meet_by_all();
    Job &second = put(2, 1, 1);
    start(second);
    there[1].heard.clear();
    lose_rail();
    ASSERT_EQ(network->rails_to(1), 1u);
    Job &third = put(3, 1, 1);
    EXPECT_EQ(network->submit(&third), Submit::again);
    // The rank asks about the doubt by the other rail, and says there that rail 1 is left out.
    auto question = hear(MessageKind::question);
    ASSERT_TRUE(question);
    EXPECT_EQ(question->by, 0u);
    EXPECT_EQ(question->header.id, 1u);
    EXPECT_EQ(question->header.status, kIsLeftOut);
    EXPECT_FALSE(second.over);
    ++there[1].number[1];
    there[1].say(there[1].endpoint(1, kIsNew | kIsLeftOut), 0);
    EXPECT_TRUE(until([&] {
        there[1].look_at_memory(0);
        return second.over;
    }));
    EXPECT_EQ(second.status, SENNIT_OK);
    EXPECT_EQ(there[1].memory[0], 2u);
    // No more questions about rail 1 go by rail 0, and an answer by rail 0 proves nothing.
    heard(MessageKind::question);
    for (int i = 0; i < 3; ++i) {
        question = hear(MessageKind::question);
        ASSERT_TRUE(question);
        EXPECT_EQ(question->by, 1u);
    }
    there[1].say(there[1].endpoint(1, kIsLeftOut), 0);
    steps(300);
    EXPECT_EQ(network->rails_to(1), 1u);
    there[1].say(there[1].endpoint(1, kIsLeftOut), 1);
    EXPECT_TRUE(until([&] { return network->rails_to(1) == 3; }));
}

// Broken by leaving out a rail because the peer is stopped, or by leaving out the last rail.
TEST_F(TwoRails, no_rail_to_a_silent_peer_is_left_out) {
    meet_by_all();
    start(put(2, 1, 1));
    looks(12);
    EXPECT_EQ(network->rails_to(1), 3u);
}

TEST_F(TwoRails, a_rail_is_left_out_at_once_where_the_peer_says_so) {
    meet_by_all();
    there[1].ask(0, 1, 0, kIsLeftOut);
    const auto answer = hear(MessageKind::endpoint);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->header.status, kIsLeftOut);
    EXPECT_EQ(network->rails_to(1), 1u);
    EXPECT_EQ(network->submit(&put(2, 1, 1)), Submit::again) << "the engine chose the rail before";
    heard(MessageKind::question);
    for (int i = 0; i < 3; ++i) {
        const auto question = hear(MessageKind::question);
        ASSERT_TRUE(question);
        EXPECT_EQ(question->by, 1u) << "the peer knows that it is left out";
    }
    // An answer by the rail counts only after 250 ms.
    there[1].say(there[1].endpoint(1), 1);
    pass(300 * kMs);
    there[1].say(there[1].endpoint(1), 1);
    EXPECT_TRUE(until([&] { return network->rails_to(1) == 3; }));
}

TEST_F(TwoRails, the_answer_to_a_task_from_a_left_out_rail_goes_by_another) {
    there[1].ask(0, 1, 0, kIsLeftOut);
    ASSERT_TRUE(hear(MessageKind::endpoint));
    Word task = ToldPeer::word(MessageKind::task, 0, 1);
    task.header.handle = kControlHandle;
    there[1].say(task, 1);
    const auto answer = hear(MessageKind::answer);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->by, 0u);
}

TEST_F(TwoRails, a_left_out_rail_is_taken_back_later_each_time) {
    meet_by_all();
    std::int64_t before = 0;
    for (int times = 0; times < 3; ++times) {
        there[1].ask(0, 1, 0, kIsLeftOut);
        ASSERT_TRUE(hear(MessageKind::endpoint));
        ASSERT_EQ(network->rails_to(1), 1u);
        const std::int64_t begin = time_ns;
        while (network->rails_to(1) == 1 && time_ns - begin < 5'000 * kMs) {
            pass(10 * kMs);
            there[1].say(there[1].endpoint(1), 1);
            steps(5);
        }
        const std::int64_t took = time_ns - begin;
        EXPECT_GE(took, 250 * kMs);
        EXPECT_GE(took, before * 3 / 2);
        EXPECT_LT(took, 1'500 * kMs);
        before = took;
    }
}

TEST_F(TwoRails, an_unanswered_task_goes_by_the_other_rail_and_shows_a_dead_one) {
    meet_by_all();
    Job &task = job(Operation::Kind::execute, 1, 1);
    start(task);
    const auto first = hear(MessageKind::task);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->by, 1u);
    pass(110 * kMs);
    const auto second = hear(MessageKind::task);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->by, 0u);
    EXPECT_EQ(second->header.id, first->header.id);
    pass(210 * kMs);
    ASSERT_TRUE(hear(MessageKind::task));  // by its own rail
    pass(410 * kMs);
    ASSERT_TRUE(hear(MessageKind::task));
    lose_rail();
    EXPECT_EQ(network->rails_to(1), 1u);
}

// The two nodes agreed on one rail. Broken by a rail that is left out and never checked again.
TEST_F(TwoRails, rails_left_out_by_nodes_are_left_out_at_first_use_and_taken_back) {
    network->settle(1, NodeTrial{1, 0});
    meet();
    EXPECT_EQ(network->rails_to(1), 1u);
    const auto question = hear(MessageKind::question);
    ASSERT_TRUE(question);
    EXPECT_EQ(question->header.rail, 1);
    EXPECT_EQ(question->header.status, kIsLeftOut);
    there[1].say(there[1].endpoint(1, kIsLeftOut), question->by);
    pass(300 * kMs);
    there[1].say(there[1].endpoint(1, kIsLeftOut), 1);
    EXPECT_TRUE(until([&] { return network->rails_to(1) == 3; }));
}

// Broken by leaving a transfer on a dead rail because the other rail takes nothing at the moment.
TEST_F(TwoRails, transfers_of_a_left_out_rail_wait_for_the_other_one) {
    meet_by_all();
    Job &second = put(2, 1, 1);
    start(second);
    lose_rail();
    ASSERT_EQ(network->rails_to(1), 1u);
    ASSERT_TRUE(hear_doubt(second, 1));
    Job &third = put(3, 1, 0);
    third.offset = 8;
    (void)doubt(third, 1, 0);
    there[1].reopen(1);
    there[1].say(there[1].endpoint(1, kIsNew | kIsLeftOut), 0);
    for (int i = 0; i < 400; ++i) {
        pass(kMs);
        step();
        there[1].look_at_memory(1);
    }
    EXPECT_FALSE(second.over);
    EXPECT_EQ(there[1].memory[0], 1u);
    there[1].answer(0, kIsNew);
    land(third);
    EXPECT_TRUE(until([&] {
        there[1].look_at_memory(0);
        return second.over;
    }));
    EXPECT_EQ(there[1].memory[0], 2u);
}

// An answer by another rail than its own arrives even if no connection to the endpoint can be
// made.
TEST_F(TwoRails, an_answer_by_another_rail_does_not_end_an_unmade_connection) {
    meet();
    Job &first = put(1, 1, 1);
    for (int i = 0; i < 125; ++i) {  // until shortly before the rail would be left out
        pass(10 * kMs);
        (void)network->submit(&first);
        steps(2);
        for (const Word &word : there[1].heard) {
            EXPECT_EQ(word.header.id, 0u);
            if (word.header.kind == MessageKind::question)
                there[1].say(there[1].endpoint(word.header.rail), 0);
        }
        there[1].heard.clear();
    }
    start(first);
    land(first, 1);
}

// On these rails messages arrive, and nothing else.
TEST_F(TwoRails, a_rail_whose_transfers_are_overdue_is_left_out_for_16_seconds) {
    meet_by_all();
    Job &second = put(2, 1, 1);
    start(second);
    const auto answer_all = [&](std::uint32_t status) {
        std::deque<Word> words;
        words.swap(there[1].heard);
        for (const Word &word : words)
            if (word.header.kind == MessageKind::question && word.header.id == 0)
                there[1].say(there[1].endpoint(word.header.rail, status), word.by);
        steps(20);
    };
    for (int i = 0; i < 40 && network->rails_to(1) == 3; ++i) {
        looks(1);
        answer_all(0);
    }
    ASSERT_EQ(network->rails_to(1), 1u);
    const std::int64_t begin = time_ns;
    there[1].reopen(1);
    there[1].say(there[1].endpoint(1, kIsNew | kIsLeftOut), 0);
    EXPECT_TRUE(until([&] {
        there[1].look_at_memory(0);
        return second.over;
    }));
    while (network->rails_to(1) == 1 && time_ns - begin < 20'000 * kMs) {
        looks(1);
        answer_all(kIsLeftOut);
    }
    EXPECT_GT(time_ns - begin, 15'000 * kMs);
    EXPECT_LT(time_ns - begin, 18'000 * kMs);
}

// Without sockets, closing the endpoint is the only way to end transfers, and closing may be
// refused.
class OneCard : public TwoRails {
  protected:
    OneCard() { settings_ = "provider=cxi;rails=1"; }
};

TEST_F(OneCard, a_try_that_cannot_be_ended_now_is_ended_and_repeated_later) {
    meet();
    meet(2);
    Job &held = put(7);
    start(held);
    Word other = there[2].endpoint(0);
    other.header.id = 2;
    {
        const Switch no_closes("no_closes");
        there[1].say(other);
        steps(50);
        pass(110 * kMs);
        steps(20);
        pass(kMs);
        steps(20);
        pass(110 * kMs);
        steps(20);
        EXPECT_FALSE(held.over);
    }
    EXPECT_TRUE(until([&] {
        there[2].look_at_memory();
        return held.over;
    }));
    EXPECT_EQ(held.status, SENNIT_OK);
    EXPECT_EQ(there[2].memory[0], 7u);
}

// Broken by a poll that waits for transfers to end, with the locks held.
TEST_F(OneCard, a_hanging_try_delays_no_poll_and_no_other_peer) {
    meet();
    meet(2);
    Job &held = put(7);
    start(held);
    Word other = there[2].endpoint(0);
    other.header.id = 2;
    there[1].say(other);
    steps(50);
    const std::int64_t begin = time_ns;
    std::int64_t longest = 0;
    while (!held.over && time_ns - begin < 1'000 * kMs) {
        pass(kMs);
        const std::int64_t before = time_ns;
        (void)network->progress();
        longest = std::max(longest, time_ns - before);
        for (int i = 0; i < 4; ++i)
            step();
        if (time_ns - begin > 150 * kMs) there[2].look_at_memory();
    }
    EXPECT_TRUE(held.over);
    EXPECT_EQ(held.status, SENNIT_OK);
    EXPECT_GT(time_ns - begin, 200 * kMs);
    EXPECT_LT(time_ns - begin, 300 * kMs);
    EXPECT_LT(longest, 5 * kMs);
}

TEST_F(OneCard, open_transfers_to_a_rank_that_has_left_end_as_soon_as_they_can) {
    meet();
    Job &get = job(Operation::Kind::get);
    start(get);
    there[1].say(ToldPeer::word(MessageKind::goodbye));
    steps(50);
    {
        const Switch no_closes("no_closes");
        pass(2'100 * kMs);
        steps(20);
        pass(kMs);
        steps(20);
        pass(110 * kMs);
        steps(20);
        EXPECT_FALSE(get.over) << "a provider may still write to its buffer";
    }
    ASSERT_TRUE(until([&] { return get.over; }));
    EXPECT_EQ(get.status, SENNIT_ERR_PEER_LOST);
}

// Broken by looks that miss a transfer which the provider has not accepted.
TEST_F(TwoRails, a_rail_that_makes_no_connection_is_left_out) {
    meet();
    Job &first = put(1, 1, 1);
    for (int i = 0; i < 300 && network->rails_to(1) == 3; ++i) {
        pass(10 * kMs);
        (void)network->submit(&first);
        steps(2);
        answer_elsewhere(0);
    }
    EXPECT_EQ(network->rails_to(1), 1u);
}

// In each look one transfer moves, or one message comes; nothing else comes by the rail.
TEST_F(TwoRails, a_rail_that_delivers_something_is_not_left_out) {
    meet_by_all();
    for (int i = 0; i < 12; ++i) {
        Job &one = put(2, 1, 1);
        start(one);
        looks(1);
        answer_elsewhere(0);
        steps(20);
        land(one, 1);
    }
    EXPECT_EQ(network->rails_to(1), 3u);
    start(put(2, 1, 1));
    for (int i = 0; i < 10; ++i) {
        there[1].ask(0, 1, 1);
        looks(1);
        answer_elsewhere(0);
        steps(20);
    }
    EXPECT_EQ(network->rails_to(1), 3u);
}

// Broken by remembering an earlier answer by another rail: now the peer is stopped.
TEST_F(TwoRails, an_answer_before_the_silence_does_not_leave_a_rail_out) {
    meet_by_all();
    Job &second = put(2, 1, 1);
    (void)doubt(second, 1, 1);
    there[1].say(there[1].endpoint(1, kIsNew), 0);
    land(second, 1);
    steps(100);
    start(put(3, 1, 1));
    looks(12);
    EXPECT_EQ(network->rails_to(1), 3u);
}

// Broken by ending the lease of the peer's node because of a rail that is known to be dead, or by
// a doubt about that rail which is never answered and has no effect.
TEST_F(TwoRails, a_peer_must_answer_by_a_left_out_rail_only_about_a_doubt) {
    start_watch();
    meet_by_all();
    there[1].ask(0, 1, 0, kIsLeftOut);
    ASSERT_TRUE(hear(MessageKind::endpoint));
    looks(8);
    EXPECT_EQ(table.places[1].unheard_ns, 0);
    there[1].say(there[1].endpoint(1), 1);
    ASSERT_TRUE(until([&] { return network->rails_to(1) == 3; }));
    start(put(2, 1, 1));
    lose_rail();
    ASSERT_EQ(network->rails_to(1), 1u);
    looks(8);
    EXPECT_NE(table.places[1].unheard_ns, 0);
}

class ThreeRails : public TwoRails {
  protected:
    ThreeRails() { settings_ = "provider=cxi;rails=3"; }
};

// Broken by sending all questions by one other rail, which may be dead too.
TEST_F(ThreeRails, questions_go_by_each_of_the_other_rails_in_turn) {
    ASSERT_EQ(rails, 3u);
    meet_by_all();
    std::vector<unsigned> ways{doubt(put(2, 1, 2), 1, 2).by};
    while (ways.size() < 4) {
        const auto next = hear(MessageKind::question);
        ASSERT_TRUE(next);
        ways.push_back(next->by);
    }
    EXPECT_EQ(ways, (std::vector<unsigned>{2, 0, 2, 1}));
}

}  // namespace
