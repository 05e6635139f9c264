// Messages of a rank (task.cpp), and the first use of a peer (reach.cpp).
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fail.hpp"
#include "told_peer.hpp"

namespace {

using namespace told;

using Messages = ToldPeers;

TEST_F(Messages, a_task_is_repeated_less_and_less_often_until_its_answer_comes) {
    meet();
    Job &task = job(Operation::Kind::execute);
    start(task);
    int sent = 0;
    for (int i = 0; i < 1'000; ++i) {
        pass(10 * kMs);
        step();
        sent += heard(MessageKind::task);
    }
    EXPECT_GE(sent, 7);
    EXPECT_LE(sent, 9);
    EXPECT_FALSE(task.over);
}

// Broken by operations to a stopped peer that leave no room for those to others.
TEST_F(Messages, unanswered_tasks_leave_room_for_tasks_to_other_peers) {
    meet();
    meet(2);
    int accepted = 0;
    while (accepted < 1'000 &&
           network->submit(&job(Operation::Kind::execute, 2)) == Submit::accepted) {
        ++accepted;
        step();
    }
    EXPECT_GE(accepted, 32) << "the window of the engine";
    EXPECT_LE(accepted, 64);
    for (int i = 0; i < 3; ++i) {
        Job &task = job(Operation::Kind::execute);
        start(task);
        const auto heard = hear(MessageKind::task);
        ASSERT_TRUE(heard);
        there[1].say(ToldPeer::word(MessageKind::answer, 0, heard->header.id));
        EXPECT_TRUE(until([&] { return task.over; }));
    }
}

// Broken by transfers to stopped peers that fill a rail.
TEST_F(Messages, unfinished_puts_leave_room_for_puts_to_other_peers) {
    meet();
    meet(2);
    int accepted = 0;
    while (accepted < 100'000 && network->submit(&put(1, 2)) == Submit::accepted)
        ++accepted;
    EXPECT_GE(accepted, 8);
    Job &other = put(5);
    start(other);
    land(other);
    EXPECT_EQ(there[1].memory[0], 5u);
}

TEST_F(Messages, only_an_answer_of_the_right_peer_and_kind_ends_a_task) {
    meet();
    meet(2);
    const auto try_one = [&](std::uint32_t status, std::uint32_t body, sennit_status wanted) {
        Job &task = job(Operation::Kind::execute);
        std::uint64_t reply[2] = {};
        task.reply = reply;
        task.task.reply_bytes = 8;
        start(task);
        const auto heard = hear(MessageKind::task);
        ASSERT_TRUE(heard);
        Word answer = ToldPeer::word(MessageKind::answer, 0, heard->header.id);
        answer.header.status = status;
        answer.header.body_bytes = body;
        std::memset(answer.body, 0x11, sizeof answer.body);
        there[2].say(answer);
        steps(100);
        EXPECT_FALSE(task.over);
        there[1].say(answer);
        there[1].say(answer);
        ASSERT_TRUE(until([&] { return task.over; }));
        steps(100);
        EXPECT_EQ(task.status, wanted);
        EXPECT_EQ(reply[0], wanted == SENNIT_OK ? 0x1111111111111111u : 0);
        EXPECT_EQ(reply[1], 0u);
    };
    try_one(SENNIT_OK, 8, SENNIT_OK);
    try_one(SENNIT_OK, 16, SENNIT_ERR_FABRIC);
    try_one(SENNIT_STATUS_END, 0, SENNIT_ERR_FABRIC);
    try_one(SENNIT_ERR_NOT_REGISTERED, 0, SENNIT_ERR_NOT_REGISTERED);
}

// Broken by trusting a message: each of these would reach beyond some memory or table.
TEST_F(Messages, invalid_messages_are_dropped) {
    there[1].ask(0);
    ASSERT_TRUE(hear(MessageKind::endpoint));
    const auto say = [&](const Word &word, long bytes = -1) { there[1].say(word, 0, bytes); };
    Word task = ToldPeer::word(MessageKind::task, 0, 1);
    task.header.handle = kControlHandle;
    Word wrong = task;
    wrong.header.job_cookie = cookie_for(kCookie + 1, kTold);
    say(wrong);
    wrong.header.job_cookie = cookie_for(kCookie, kTold + 1);  // the cookie of another rank
    say(wrong);
    wrong = task;
    wrong.header.from = kRanks;
    say(wrong);
    wrong.header.from = -1;
    say(wrong);
    wrong = task;
    wrong.header.rail = static_cast<std::uint8_t>(rails);
    say(wrong);
    wrong = task;
    wrong.header.body_bytes = 8;  // the task has no such payload
    say(wrong);
    wrong = task;
    wrong.header.task.reply_bytes = kMostTaskBytes + 1;
    say(wrong);
    say(task, sizeof task.header - 8);
    wrong = task;
    wrong.header.body_bytes = wrong.header.task.payload_bytes = 8;
    say(wrong, sizeof task.header);
    Word question = ToldPeer::word(MessageKind::question, 0, 1);
    question.header.body_bytes = 12;
    say(question);
    Word endpoint = there[1].endpoint(0);
    endpoint.header.id = 50;
    for (const std::uint32_t bytes : {8u, 32u, 40u}) {  // shorter than a name
        endpoint.header.body_bytes = bytes;
        say(endpoint);
    }
    endpoint.header.body_bytes = kNameBytes + 8;
    say(endpoint);
    there[1].ask(0);
    const auto answer = hear(MessageKind::endpoint);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->header.id, 1u) << "the question with half a handle was taken";
    EXPECT_TRUE(arrived.empty());
    meet();  // at endpoint number 1
}

// Broken by a task that reaches outside the memory that it names, or into a freed segment.
TEST_F(Messages, a_task_works_inside_of_memory_that_lives) {
    static std::uint64_t words[4];
    SegmentRecord &record = rank.control->records[7];
    record.owner_address = reinterpret_cast<std::uint64_t>(words);
    record.bytes = sizeof words;
    record.live = 3;
    const auto tell = [&](std::uint64_t handle, std::uint64_t offset, std::uint64_t bytes) {
        static std::uint64_t id = 0;
        Word task = ToldPeer::word(MessageKind::task, 0, ++id);
        task.header.handle = handle;
        task.header.offset = offset;
        task.header.bytes = bytes;
        arrived.clear();
        there[1].say(task);
        const auto answer = hear(MessageKind::answer);
        EXPECT_TRUE(answer && answer->header.id == id);
        // The executor gets the task even so: it may be a repetition.
        EXPECT_EQ(arrived.size(), 1u);
        return !arrived.empty() && arrived[0].memory != nullptr;
    };
    EXPECT_TRUE(tell(handle_of(7, 3), 24, 8));
    EXPECT_EQ(arrived[0].memory, reinterpret_cast<std::byte *>(words + 3));
    EXPECT_TRUE(tell(kControlHandle, 0, 8));
    EXPECT_FALSE(tell(handle_of(7, 3), 32, 8));
    EXPECT_FALSE(tell(handle_of(7, 3), 0, 40));
    EXPECT_FALSE(tell(handle_of(7, 3), UINT64_MAX - 7, 8));
    EXPECT_FALSE(tell(handle_of(7, 2), 0, 8)) << "an earlier segment there";
    EXPECT_FALSE(tell(handle_of(kSegmentsPerTeam, 0), 0, 0)) << "beyond the table";
    record.live = 0;
    EXPECT_FALSE(tell(handle_of(7, 3), 0, 8));
    EXPECT_FALSE(tell(handle_of(7, 0), 0, 8)) << "an empty place";
}

// Broken by storing any number of answers for peers that take none, by a rank that serves nobody
// while answers wait, or by a repeated task that gets no answer.
TEST_F(Messages, waiting_answers_are_limited_and_tasks_are_still_served) {
    meet();
    there[2].is_stopped =
        true;  // its kernel takes a connection for it, and no message comes through
    constexpr std::uint64_t kTasks = 300;
    const auto tell = [&](ToldPeer &by, int from, std::uint64_t id) {
        Word task = ToldPeer::word(MessageKind::task, 0, id);
        task.header.handle = kControlHandle;
        task.header.from = from;
        by.say(task);
    };
    for (std::uint64_t id = 1; id <= kTasks; ++id)
        tell(there[1], 2, id);
    ASSERT_TRUE(until([&] { return arrived.size() == kTasks; }));
    tell(there[1], 1, 1);
    const auto answer = hear(MessageKind::answer, 1);
    ASSERT_TRUE(answer);
    there[2].is_stopped = false;
    int answers = 0;
    for (int i = 0; i < 300; ++i) {
        if (i > 100) pass(10 * kMs);
        steps(20);
        answers += heard(MessageKind::answer, 2);
    }
    EXPECT_GT(answers, 128);
    EXPECT_LE(answers, 256);
    tell(there[1], 2, kTasks);
    const auto last = hear(MessageKind::answer, 2);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->header.id, kTasks);
}

// Broken by news that is sent again and again, or never; by news of a forgotten subject; or by
// news that is taken for the answer to a task.
TEST_F(Messages, news_of_the_subjects_of_tasks_come_once_with_the_next_message) {
    meet();
    const auto tell = [&](std::uint32_t subject) {
        Word task = ToldPeer::word(MessageKind::task, 0, subject);
        task.header.handle = kControlHandle;
        task.header.task.count = subject;
        task.header.task.reply_bytes = sizeof(std::uint64_t);
        there[1].say(task);
        EXPECT_TRUE(hear(MessageKind::answer));
    };
    const auto news = [&] {
        start(job(Operation::Kind::execute));
        const auto heard = hear(MessageKind::task);
        std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
        for (unsigned i = 0; heard && i < heard->header.answers; ++i) {
            LateAnswer late;
            std::memcpy(&late, heard->body + heard->header.body_bytes + i * sizeof late,
                        sizeof late);
            found.emplace_back(late.id, late.reply);
        }
        return found;
    };
    using Found = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
    of_subject[1] = 10;
    tell(1);
    EXPECT_EQ(news(), Found{}) << "the answer had this value";
    of_subject[1] = 11;
    EXPECT_EQ(news(), (Found{{kOfSubject | 1, 11}}));
    EXPECT_EQ(news(), Found{});
    for (std::uint32_t subject = 2; subject <= 9; ++subject)
        tell(subject);
    of_subject[1] = of_subject[9] = 12;
    EXPECT_EQ(news(), (Found{{kOfSubject | 9, 12}})) << "the first of nine subjects was forgotten";

    Job &task = job(Operation::Kind::execute);
    start(task);
    ASSERT_TRUE(hear(MessageKind::task));
    Word said = ToldPeer::word(MessageKind::answer);
    const LateAnswer late{kOfSubject | 7, 70};
    said.header.answers = 1;
    std::memcpy(said.body, &late, sizeof late);
    there[1].say(said, 0, sizeof said.header + sizeof late);
    ASSERT_TRUE(until([&] { return !heard_of.empty(); }));
    EXPECT_EQ(heard_of[0].id, 7u);
    EXPECT_EQ(heard_of[0].reply, 70u);
    EXPECT_FALSE(task.over);
}

// The answer came with a task after the goodbye. One progress() sees it and the end of its time.
TEST_F(Messages, an_answer_that_came_with_a_task_counts_although_its_rank_has_left) {
    meet();
    Job &task = job(Operation::Kind::execute);
    std::uint64_t reply = 0;
    task.reply = &reply;
    task.task.reply_bytes = sizeof reply;
    task.task.may_wait = 1;
    start(task);
    const auto sent = hear(MessageKind::task);
    ASSERT_TRUE(sent);
    there[1].say(ToldPeer::word(MessageKind::goodbye));
    steps(100);
    Word said = ToldPeer::word(MessageKind::task, 0, 1);
    said.header.handle = kControlHandle;
    said.header.answers = 1;
    const LateAnswer late{sent->header.id, 77};
    std::memcpy(said.body, &late, sizeof late);
    there[1].say(said, 0, sizeof said.header + sizeof late);
    // The thread reads the message and leaves it to the engine.
    ThreadSleep sleep;
    for (int i = 0; i < 50; ++i) {
        sleep.count = 1;
        (void)network->serve_rank(&sleep);
    }
    pass(2'100 * kMs);
    ASSERT_TRUE(until([&] { return task.over; }));
    EXPECT_EQ(task.status, SENNIT_OK);
    EXPECT_EQ(reply, 77u);
}

// ---- Descriptors.

// While the object lives, the process may open only this many more descriptors.
class Limit {
  public:
    explicit Limit(rlim_t more) {
        (void)getrlimit(RLIMIT_NOFILE, &before_);
        const int lowest = eventfd(0, 0);
        (void)::close(lowest);
        now = static_cast<rlim_t>(lowest) + more;
        const rlimit limit{now, before_.rlim_max};
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    }
    ~Limit() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }
    Limit(const Limit &) = delete;
    Limit &operator=(const Limit &) = delete;
    bool is_in(const char *text) const {
        return std::strstr(text, "RLIMIT_NOFILE") != nullptr &&
               std::strstr(text, std::to_string(now).c_str()) != nullptr;
    }

    rlim_t now = 0;

  private:
    rlimit before_{};
};

// Broken by making connections until the watch and the program have no descriptor left, or by a
// refusal that does not name its reason or outlasts it.
TEST_F(Messages, no_peer_is_connected_near_the_named_limit_of_descriptors) {
    meet();
    Job &first = put(1, 2);
    {
        const Limit limit(4);
        EXPECT_EQ(network->submit(&first), Submit::failed);
        EXPECT_EQ(thread_error()->status, SENNIT_ERR_FABRIC);
        char trouble[128] = "";
        network->describe_trouble(2, trouble, sizeof trouble);
        EXPECT_TRUE(limit.is_in(trouble)) << trouble;
        Job &known = put(2);
        start(known);
        land(known);
    }
    char trouble[128] = "";
    network->describe_trouble(2, trouble, sizeof trouble);
    EXPECT_STREQ(trouble, "");
    meet(2);
}

// Broken by treating a transfer that never started as one in doubt, or by trying it forever.
TEST_F(Messages, a_transfer_whose_connection_finds_no_descriptor_fails_and_others_go_on) {
    meet();
    Job &first = put(1, 2);
    EXPECT_NE(network->submit(&first), Submit::accepted);
    ASSERT_TRUE(hear(MessageKind::question, 2));
    there[2].answer();
    steps(200);
    {
        const Limit limit(0);
        ASSERT_TRUE(until([&] { return network->submit(&first) == Submit::accepted; }));
        ASSERT_TRUE(until([&] { return first.over; }));
        EXPECT_EQ(first.status, SENNIT_ERR_FABRIC);
        char trouble[128] = "";
        network->describe_trouble(2, trouble, sizeof trouble);
        EXPECT_TRUE(limit.is_in(trouble)) << trouble;
        EXPECT_EQ(heard(MessageKind::question, 2), 0) << "nothing is in doubt";
        Job &known = put(2);
        start(known);
        land(known);
    }
    Job &second = put(3, 2);
    start(second);
    land(second);
}

// ---- First use.

// Closing the endpoint for messages loses the messages that are on their way to other peers.
// Broken by a rank that closes it again and again for a stopped peer, or before a connection can
// exist.
TEST_F(Messages, a_new_endpoint_for_messages_is_tried_less_and_less_often) {
    there[2].is_stopped = true;
    (void)network->submit(&put(1, 2));
    std::vector<std::int64_t> times;
    std::set<std::uint16_t> seen;
    const std::int64_t begin = time_ns;
    while (time_ns - begin < 9'000 * kMs) {
        pass(10 * kMs);
        step();
        for (const std::uint16_t port : there[2].senders())
            if (seen.insert(port).second) times.push_back((time_ns - begin) / kMs);
    }
    ASSERT_GE(times.size(), 4u);
    EXPECT_LE(times.size(), 8u);
    EXPECT_GT(times[1], 1'000) << "a first connection may take a second";
    EXPECT_GT(times[3] - times[2], (times[2] - times[1]) * 3 / 2);
}

TEST_F(Messages,
       a_peer_that_takes_no_connection_at_its_first_use_is_out_of_reach_until_it_answers) {
    Job &first = put(1);
    (void)network->submit(&first);
    ASSERT_TRUE(hear(MessageKind::question));
    pass(10'500 * kMs);
    steps(300);
    EXPECT_EQ(network->submit(&first), Submit::again) << "its kernel takes connections for it";
    network->settle(2, NodeTrial{static_cast<std::uint8_t>((1u << rails) - 1), 0});
    Job &other = put(1, 2);
    (void)network->submit(&other);
    there[2].close();
    pass(10'500 * kMs);
    EXPECT_TRUE(until([&] {
        (void)network->progress();
        return network->submit(&other) == Submit::failed;
    }));
    EXPECT_FALSE(other.over);
    there[1].answer();
    start(first);
    land(first);
}

class ManyRanks : public ToldPeers {
  protected:
    void SetUp() override {
        world = 100'000;
        ToldPeers::SetUp();
    }
};

// Rows for all peers would take 32 MB. Broken by allocating them all, or by a query that allocates
// one.
TEST_F(ManyRanks, a_rank_has_memory_for_the_peers_that_it_uses) {
    meet();
    there[2].ask(0);
    ASSERT_TRUE(hear(MessageKind::endpoint, 2));
    for (int r = 1; r < world; r += 7) {
        sennit_rail rail{};
        char trouble[8] = "";
        ASSERT_TRUE(network->describe_rail(r, 0, &rail));
        EXPECT_EQ(rail.is_used, 1);
        EXPECT_EQ(network->rails_to(r), 1u);
        EXPECT_EQ(network->reach(r).code, Reason::Code::taken);
        network->describe_trouble(r, trouble, sizeof trouble);
        EXPECT_STREQ(trouble, "");
    }
    looks(8);
    EXPECT_LT(resident_kb() - resident_before_kb, 12'000);
}

}  // namespace
