// Silent hosts and mute peers, as a rank's watch reports them. The test plays the watch of a node
// and writes its table.
#include <sched.h>

#include "runtime/wait.hpp"
#include "told_peer.hpp"

namespace {

using namespace told;

// A rank with a watch; the test writes the watch's words.
class Watched : public ToldPeers {
  protected:
    void SetUp() override {
        ToldPeers::SetUp();
        start_watch();
    }
    void looks_of_it(int count, bool awake) {
        for (int i = 0; i < count; ++i) {
            table.places[1].looked_ns = awake ? in_an_hour() : 0;
            looks(1);
        }
    }
    void change() { ++table.head->changes; }
    // The rank that is found lost within ten seconds; -1 if none.
    int lost_soon() {
        const int anybody = kAnyPeer;
        const std::time_t end = std::time(nullptr) + 10;
        while (find_lost(rank, &anybody) < 0 && std::time(nullptr) < end)
            (void)sched_yield();
        return find_lost(rank, &anybody);
    }
    void refuse(int peer) {
        table.places[peer].lease_end_ns = watch::kEnded;
        change();
    }
};

TEST_F(Watched, open_operations_to_a_dead_rank_end) {
    meet();
    Job &get = job(Operation::Kind::get);
    start(get);
    Job &task = job(Operation::Kind::execute);
    start(task);
    table.places[1].gone = static_cast<std::uint32_t>(Gone::died);
    change();
    ASSERT_TRUE(until([&] { return get.over && task.over; }));
    EXPECT_EQ(get.status, SENNIT_ERR_PEER_LOST);
    EXPECT_EQ(task.status, SENNIT_ERR_PEER_LOST);
}

// Broken by a wait for any rank that goes through all peers, or that does not notice the end of a
// rank on another node: a death, or a departure, which waits of teams need to know.
TEST_F(Watched, a_wait_reads_ends_on_other_nodes_only_if_their_count_changed) {
    const int anybody = kAnyPeer;
    table.places[1].gone = static_cast<std::uint32_t>(Gone::left);
    EXPECT_EQ(find_lost(rank, &anybody), -1);
    EXPECT_EQ(known_gone(rank, 1), Gone::no) << "it was read although the watch counted no end";
    ++table.head->ended;
    EXPECT_EQ(find_lost(rank, &anybody), -1);
    EXPECT_EQ(known_gone(rank, 1), Gone::left);
    table.places[2].gone = static_cast<std::uint32_t>(Gone::died);
    ++table.head->ended;
    EXPECT_EQ(find_lost(rank, &anybody), 2);
    EXPECT_EQ(count_ended(rank), 2u);
}

// Broken by a watch that finds the end of a node and does not count it.
TEST_F(Watched, the_end_of_a_node_that_was_silent_for_too_long_is_counted) {
    table.places[1].answered_ns = 1;  // long ago
    EXPECT_EQ(lost_soon(), 1);
    EXPECT_EQ(table.head->ended, 1u);
}

// Broken by a watcher that does not finish what an earlier watcher had begun when it died: the
// ranks would never count as lost.
TEST_F(Watched, a_new_watcher_finishes_the_end_of_a_node) {
    table.places[1].answered_ns = watch::kEnded;
    EXPECT_EQ(lost_soon(), 1);
}

// Broken by an owner that accepts something after the lease has ended, or tells the silent host
// about its new endpoint.
TEST_F(Watched, nothing_is_taken_from_a_host_that_was_silent_for_too_long_and_others_go_on) {
    there[1].ask(0);
    const auto before = hear(MessageKind::endpoint);
    ASSERT_TRUE(before);
    EXPECT_TRUE(lands(*before, 5));
    there[2].ask(0);
    ASSERT_TRUE(hear(MessageKind::endpoint, 2));
    pass(20 * kMs);
    there[2].ask(1);  // an endpoint was closed a moment ago
    ASSERT_TRUE(hear(MessageKind::endpoint, 2));
    const auto open = hear(MessageKind::endpoint, 1);
    ASSERT_TRUE(open);
    refuse(1);
    step();
    EXPECT_FALSE(lands(*open, 6));
    const auto news = hear(MessageKind::endpoint, 2);
    ASSERT_TRUE(news);
    EXPECT_EQ(news->header.id, 3u);
    there[1].ask(0);
    Word task = ToldPeer::word(MessageKind::task, 0, 1);
    task.header.handle = kControlHandle;
    there[1].say(task);
    steps(300);
    EXPECT_EQ(heard(MessageKind::endpoint, 1), 0);
    EXPECT_TRUE(arrived.empty());
}

// Broken by an owner that accepts something during the pause, or that treats the pause as the end.
TEST_F(Watched, nothing_is_taken_while_a_lease_is_paused_and_all_when_it_begins_again) {
    there[1].ask(0);
    const auto before = hear(MessageKind::endpoint, 1);
    ASSERT_TRUE(before);
    table.places[1].lease_end_ns = -in_an_hour();
    change();
    step();
    EXPECT_FALSE(lands(*before, 6));
    there[1].ask(0);
    steps(300);
    EXPECT_EQ(heard(MessageKind::endpoint, 1), 0);
    table.places[1].lease_end_ns = in_an_hour();
    change();
    there[1].ask(0);
    const auto again = hear(MessageKind::endpoint, 1);
    ASSERT_TRUE(again);
    EXPECT_GT(again->header.id, before->header.id);
    EXPECT_TRUE(lands(*again, 7));
}

// Broken by a rank that is stopped between its check of the lease and work that it had read
// before.
TEST_F(Watched, a_task_from_before_the_end_of_a_lease_is_not_carried_out_after_it) {
    on_task = [this] { refuse(1); };
    Word task = ToldPeer::word(MessageKind::task, 0, 1);
    task.header.handle = kControlHandle;
    there[1].say(task);
    task.header.id = 2;
    there[1].say(task);
    ASSERT_TRUE(until([&] { return !arrived.empty(); }));
    steps(300);
    EXPECT_EQ(arrived.size(), 1u);
}

// Broken by calling a peer mute while it is stopped, or as soon as it continues.
TEST_F(Watched, a_peer_is_mute_after_looking_in_vain_longer_than_not_looking) {
    meet();
    Job &task = job(Operation::Kind::execute);
    start(task);
    const std::atomic<std::int64_t> &unheard = table.places[1].unheard_ns;
    looks_of_it(5, false);
    EXPECT_GT(unheard, 0) << "it is missing";
    looks_of_it(3, true);
    EXPECT_GT(unheard, 0) << "it looked no longer than it had been stopped";
    looks_of_it(3, true);
    EXPECT_LT(unheard, 0) << "it is mute";
    there[1].ask(0);
    steps(300);
    looks_of_it(1, true);
    EXPECT_EQ(unheard, 0) << "it is heard";
}

// The peer's engine, which executes tasks, may be in a computation. Another part of the peer, which
// polls the network, answers.
TEST_F(Watched, a_peer_that_answers_questions_and_no_task_is_not_mute) {
    meet();
    start(job(Operation::Kind::execute));
    int in_a_row = 0;
    for (int i = 0; i < 12; ++i) {
        looks_of_it(1, true);
        if (heard(MessageKind::question) != 0) there[1].answer();
        steps(20);
        in_a_row = table.places[1].unheard_ns < 0 ? in_a_row + 1 : 0;
        EXPECT_LT(in_a_row, 2);
    }
}

// ---- A peer that is not used before the watch reports about it.

// Broken by a first use that sends something, or that does not give the engine the news.
TEST_F(Watched, a_peer_that_has_died_before_its_first_use_is_lost_at_it) {
    table.places[2].gone = static_cast<std::uint32_t>(Gone::died);
    change();
    step();
    EXPECT_EQ(network->submit(&put(1, 2)), Submit::again);
    EXPECT_EQ(known_gone(rank, 2), Gone::died);
    for (int i = 0; i < 10; ++i) {
        pass(10 * kMs);
        steps(30);
    }
    EXPECT_EQ(heard(MessageKind::question, 2), 0);
}

TEST_F(Watched, a_put_that_waits_for_a_lease_learns_of_a_death) {
    table.places[2].answered_ns = 0;
    EXPECT_EQ(network->submit(&put(1, 2)), Submit::again);
    EXPECT_EQ(known_gone(rank, 2), Gone::no);
    table.places[2].gone = static_cast<std::uint32_t>(Gone::died);
    change();
    step();
    EXPECT_EQ(known_gone(rank, 2), Gone::died);
}

// Broken by a new row that ignores earlier news.
TEST_F(Watched, nothing_is_taken_from_a_host_that_was_silent_before_its_first_message) {
    refuse(2);
    step();
    there[2].ask(0);
    steps(300);
    EXPECT_EQ(heard(MessageKind::endpoint, 2), 0);
    there[1].ask(0);
    ASSERT_TRUE(hear(MessageKind::endpoint, 1));
}

// After an outage TCP waits as long again. Broken by messages that wait for TCP.
TEST_F(Watched, a_polling_but_unheard_peer_is_asked_from_a_new_endpoint) {
    meet();
    start(job(Operation::Kind::execute));
    looks_of_it(4, false);
    const std::set<std::uint16_t> before = there[1].senders();
    EXPECT_EQ(before.size(), 1u);
    looks_of_it(2, true);
    EXPECT_EQ(there[1].senders(), before) << "the queue of its rail may be long";
    looks_of_it(5, true);
    const std::set<std::uint16_t> after = there[1].senders();
    EXPECT_EQ(after.size(), 1u);
    EXPECT_NE(before, after);
}

// Broken by tasks for others that wait behind tasks for a peer that takes none.
TEST_F(Watched, a_blocked_task_for_one_peer_does_not_delay_others) {
    meet();
    meet(2);
    start(job(Operation::Kind::execute, 2));
    start(job(Operation::Kind::execute, 1));
    there[2].is_stopped = true;
    for (int i = 0; i < 8; ++i) {  // until a new endpoint sends; the peer does not connect to it
        table.places[2].looked_ns = in_an_hour();
        looks(1);
    }
    heard(MessageKind::task);
    int again = 0;
    for (int i = 0; i < 500; ++i) {
        pass(10 * kMs);
        step();
        again += heard(MessageKind::task);
    }
    EXPECT_GE(again, 2);
}

// This rank no longer accepts the peer's messages: their absence is no sign of silence.
TEST_F(Watched, a_peer_whose_lease_has_ended_is_not_called_mute) {
    meet();
    start(job(Operation::Kind::execute));
    refuse(1);
    looks_of_it(12, true);
    EXPECT_EQ(table.places[1].unheard_ns, 0);
}

TEST_F(Watched, a_peer_that_was_never_heard_is_not_mute) {
    Job &first = put(1);
    (void)network->submit(&first);
    looks_of_it(8, true);
    EXPECT_GT(table.places[1].unheard_ns, 0);
}

// Broken by treating the endpoint as closed, or by trying only once.
TEST_F(Watched, closing_an_endpoint_for_a_silent_host_is_repeated_each_20_ms) {
    if (!has_layer()) GTEST_SKIP() << "needs the layer";
    there[1].ask(0);
    const auto open = hear(MessageKind::endpoint);
    ASSERT_TRUE(open);
    there[2].ask(0);
    ASSERT_TRUE(hear(MessageKind::endpoint, 2));
    {
        const Switch no_closes("no_closes");
        refuse(1);
        steps(2);
        pass(kMs);
        steps(2);
        EXPECT_TRUE(lands(*open, 5)) << "the unclosed endpoint still works";
    }
    steps(300);
    EXPECT_EQ(heard(MessageKind::endpoint, 2), 0) << "it was tried again at once";
    pass(20 * kMs);
    const auto news = hear(MessageKind::endpoint, 2);
    ASSERT_TRUE(news);
    EXPECT_EQ(news->header.id, 2u);
    EXPECT_FALSE(lands(*open, 6));
}

// Broken by waiting forever because the peer's kernel takes connections, or by a state that never
// ends.
TEST_F(Watched, a_polling_peer_is_out_of_reach_until_it_answers_its_first_use) {
    Job &first = put(1);
    (void)network->submit(&first);
    looks_of_it(38, true);
    EXPECT_EQ(network->submit(&first), Submit::again) << "not before SENNIT_PEER_TIMEOUT";
    looks_of_it(4, true);
    EXPECT_EQ(network->submit(&first), Submit::failed);
    there[1].answer();
    start(first);
    land(first);
}

}  // namespace
