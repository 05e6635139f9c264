// Completion data of puts (events.cpp): which data reaches a rank's event sink and which never
// does, and what happens to the events that the rank sends.
#include "told_peer.hpp"

namespace {

using namespace told;

constexpr std::uint64_t kDatum = 0xA1B2C3D4E5F60718;

std::uint64_t low(std::uint64_t data, unsigned bits) {
    return bits == 64 ? data : data & ((std::uint64_t{1} << bits) - 1);
}

class Events : public ToldPeers {
  protected:
    // A put with data that the peer sends to an endpoint and a handle of the rank.
    struct Event {
        std::uint64_t data;
        std::uint64_t value = 1;
        std::uint64_t handle = kControlHandle;
        std::uint64_t offset = kPlace;
        std::size_t bytes = 8;
    };
    // Starts the put. `while_full` makes room for it and for its connection.
    void send(const Word &endpoint, const Event &event, const std::function<void()> &while_full) {
        Sent &one = sent_.emplace_back();
        one.value = event.value;
        if (number_ != endpoint.header.id) to_ = there[1].enter(endpoint);
        number_ = endpoint.header.id;
        const auto tag = static_cast<std::uint16_t>(endpoint.header.handle);
        Rail::Transfer transfer{
            to_,    key_of(event.handle, tag), event.offset, &one.value, event.bytes, &one.context,
            nullptr};
        transfer.has_data = true;
        transfer.data = event.data;
        ssize_t code = -FI_EAGAIN;
        for (int i = 0; i < 100000 && code == -FI_EAGAIN; ++i) {
            code = there[1].rail_of_memory().put(transfer);
            there[1].look_at_memory();
            if (code == -FI_EAGAIN) while_full();
        }
        ASSERT_EQ(code, 0);
    }
    void send(const Word &endpoint, const Event &event) {
        send(endpoint, event, [&] { step(); });
    }
    // Connects the peer to the endpoint; afterwards nothing is on its way.
    Word connect() {
        const Word endpoint = ask_endpoint();
        send(endpoint, {0});
        EXPECT_TRUE(come(1));
        events.clear();
        return endpoint;
    }
    // The provider's bits of completion data.
    unsigned bits() { return network->traits().event_bits; }
    Word ask_endpoint() {
        there[1].ask(0);
        const auto answer = hear(MessageKind::endpoint);
        return answer ? *answer : Word{};
    }
    bool come(std::size_t count) {
        return until([&] {
            there[1].look_at_memory();
            return events.size() >= count;
        });
    }
    void drive(int count) {
        for (int i = 0; i < count; ++i) {
            there[1].look_at_memory();
            step();
        }
    }
    std::uint64_t *at_place() {
        return reinterpret_cast<std::uint64_t *>(static_cast<char *>(block_) + kPlace);
    }
    // Looks at the network as the progress thread does: it hands over no events.
    void look_as_thread() {
        auto sleep = std::make_unique<ThreadSleep>();
        for (int i = 0; i < 2; ++i) {
            sleep->count = 1;
            (void)network->serve_rank(sleep.get());
        }
        there[1].look_at_memory();
        there[1].poll();
    }

    // The data that the rank's puts bring to the peer until the operation is over.
    std::vector<std::uint64_t> data_of(const Job &one) {
        std::vector<std::uint64_t> data;
        const auto look = [&] {
            fabric::RailCompletion found[8];
            const std::size_t count = there[1].rail_of_memory().poll_all(found, 8);
            for (std::size_t i = 0; i < count; ++i)
                if (found[i].has_data) data.push_back(found[i].data);
        };
        EXPECT_TRUE(until([&] {
            look();
            return one.over;
        }));
        for (int i = 0; i < 100; ++i) {
            look();
            step();
        }
        return data;
    }
    Job &event(std::uint64_t value, std::uint64_t handle = ToldPeer::kHandle) {
        Job &made = put(value, 1, 0, handle);
        made.kind = Operation::Kind::put_event;
        made.event.low = kDatum;
        return made;
    }

  private:
    struct Sent {
        fi_context2 context;
        std::uint64_t value;
    };
    std::deque<Sent> sent_;
    fi_addr_t to_ = FI_ADDR_UNSPEC;
    std::uint64_t number_ = 0;
};

class EventsOfWidth : public Events, public testing::WithParamInterface<unsigned> {
  protected:
    void SetUp() override {
        open(("provider=net;host=127.0.0.1;events=" + std::to_string(GetParam())).c_str());
    }
};

// Broken by sending the data at its full width: a card refuses it or cuts it.
TEST_P(EventsOfWidth, a_put_sends_exactly_the_bits_of_its_width) {
    const char *const layer = std::getenv("FABRIC_LAYER");
    const bool has_all = layer == nullptr || std::strstr(layer, "cq_data=4") == nullptr;
    EXPECT_EQ(bits(), has_all ? GetParam() : std::min(GetParam(), 32u));
    EXPECT_EQ(network->event_bits_to(1), bits());
    meet();
    Job &one = event(7);
    start(one);
    EXPECT_EQ(data_of(one), std::vector<std::uint64_t>{low(kDatum, bits())});
    EXPECT_EQ(one.status, SENNIT_OK);
    EXPECT_EQ(there[1].memory[0], 7u);
}

TEST_P(EventsOfWidth, arriving_data_is_handed_over_with_the_bits_of_its_width) {
    const Word endpoint = ask_endpoint();
    std::vector<std::uint64_t> all{low(kDatum, bits()), low(~kDatum, bits())};
    for (const std::uint64_t datum : all)
        send(endpoint, {datum});
    ASSERT_TRUE(come(2));
    std::sort(events.begin(), events.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(events, all);
}

INSTANTIATE_TEST_SUITE_P(bits, EventsOfWidth, testing::Values(8u, 16u, 32u, 64u));

// Broken by handing over an event before the data of its put has arrived.
TEST_F(Events, data_is_there_when_the_sink_gets_its_event) {
    const Word endpoint = ask_endpoint();
    std::vector<std::uint64_t> seen;
    on_event = [&] { seen.push_back(*at_place()); };
    for (std::uint64_t i = 1; i <= 50; ++i) {
        send(endpoint, {i, 1000 + i});
        ASSERT_TRUE(come(i));
        EXPECT_EQ(seen.back(), 1000 + i);
    }
}

TEST_F(Events, an_event_without_bytes_is_sent_and_received) {
    const Word endpoint = ask_endpoint();
    *at_place() = 77;
    send(endpoint, {5, 1, kControlHandle, kPlace, 0});
    ASSERT_TRUE(come(1));
    EXPECT_EQ(*at_place(), 77u);
    meet();
    Job &one = event(9);
    one.local = nullptr;
    one.bytes = 0;
    start(one);
    EXPECT_EQ(data_of(one), std::vector<std::uint64_t>{low(kDatum, bits())});
    EXPECT_EQ(one.status, SENNIT_OK);
    EXPECT_EQ(there[1].memory[0], 1u) << "the value of the first put";
}

// More events than one look reads, and more than the list has room for at first. Broken by handing
// over the list twice, by losing events when the list grows, and by too few receives where data
// takes them.
TEST_F(Events, each_of_many_stored_events_is_handed_over_once) {
    const Word endpoint = connect();
    constexpr std::uint64_t kMany = 200;
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < kMany; ++i) {
        send(endpoint, {i}, [&] { look_as_thread(); });
        all.push_back(i);
    }
    for (int i = 0; i < 200; ++i)
        look_as_thread();
    EXPECT_EQ(events.size(), 0u) << "handed over by the thread, which may not";
    (void)network->progress();
    EXPECT_EQ(events.size(), kMany);
    drive(200);
    std::sort(events.begin(), events.end());
    EXPECT_EQ(events, all);
}

// A rank that computes gets the event too. Broken by a thread that reads only the queues of
// messages, or that calls the engine only for completions.
TEST_F(Events, the_thread_calls_the_engine_for_an_event) {
    const Word endpoint = connect();
    rank.hooks[0].poll = [](void *self) { (void)static_cast<Network *>(self)->progress(); };
    rank.hooks[0].context = network.get();
    rank.hook_count = 1;
    send(endpoint, {7}, [&] { look_as_thread(); });
    for (int i = 0; i < 20 && events.empty(); ++i)
        look_as_thread();
    EXPECT_EQ(events, std::vector<std::uint64_t>{7});
    rank.hook_count = 0;
}

// Broken by a task without the mark "after events" although an event was put before it: the owner
// might read the event later; and by a rank that always sets the mark, so that each task costs a
// read.
TEST_F(Events, tasks_announce_events_until_a_later_task_is_answered) {
    meet();
    const auto send_task = [&] {
        start(job(Operation::Kind::execute));
        const auto heard = hear(MessageKind::task);
        EXPECT_TRUE(heard);
        return heard ? heard->header : MessageHeader{};
    };
    const auto answer = [&](const MessageHeader &task) {
        there[1].say(ToldPeer::word(MessageKind::answer, 0, task.id));
        drive(100);
    };
    const auto put_event = [&] {
        Job &one = event(7);
        start(one);
        (void)data_of(one);
    };
    answer(send_task());
    EXPECT_EQ(send_task().after_events, 0);
    const MessageHeader before = send_task();
    put_event();
    const MessageHeader behind = send_task();
    EXPECT_EQ(behind.after_events, 1);
    answer(before);
    EXPECT_EQ(send_task().after_events, 1) << "the answered task was sent before the event";
    answer(behind);
    EXPECT_EQ(send_task().after_events, 0);
    put_event();
    EXPECT_EQ(send_task().after_events, 1);
}

// Broken by an owner that does not read events when a task says that there are some. When no event
// has come for a while, only some looks read the queue of events.
TEST_F(Events, events_are_handed_over_before_a_task_that_announces_them) {
    const Word endpoint = connect();
    network->expect_events();
    std::size_t seen = SIZE_MAX;
    for (std::uint64_t i = 1; i <= 4; ++i) {
        drive(70'000);  // longer than kDataReads: the queue is read rarely
        events.clear();
        arrived.clear();
        send(endpoint, {i}, [] {});
        for (int k = 0; k < 100; ++k)
            there[1].look_at_memory();
        Word task = ToldPeer::word(MessageKind::task, 0, i);
        task.header.handle = kControlHandle;
        task.header.after_events = 1;
        on_task = [&] { seen = events.size(); };
        there[1].say(task);
        ASSERT_TRUE(until([&] { return !arrived.empty(); }));
        ASSERT_EQ(seen, 1u) << i;
    }
}

// ---- The fence.

// Broken by a list that keeps events of a closed endpoint.
TEST_F(Events, events_of_a_closed_endpoint_are_not_handed_over) {
    const Word endpoint = connect();
    for (std::uint64_t i = 1; i < 20; ++i)
        send(endpoint, {i}, [&] { look_as_thread(); });
    for (int i = 0; i < 100; ++i)
        look_as_thread();
    there[1].heard.clear();
    there[1].ask(1);
    bool is_answered = false;
    for (int i = 0; i < 20000 && !is_answered; ++i) {
        look_as_thread();
        is_answered = heard(MessageKind::endpoint) != 0;
    }
    ASSERT_TRUE(is_answered);
    drive(500);
    EXPECT_EQ(events, std::vector<std::uint64_t>{});
    // Events to the next endpoint arrive.
    const Word next = ask_endpoint();
    EXPECT_EQ(next.header.id, 2u);
    send(next, {50});
    ASSERT_TRUE(come(1));
    EXPECT_EQ(events.back(), 50u);
}

// Broken by answering before the sink has got the events that were read for it.
TEST_F(Events, no_endpoint_is_closed_while_its_events_are_handed_over) {
    const Word endpoint = connect();
    int answers = 0;
    on_event = [&] {
        there[1].heard.clear();
        there[1].ask(1);
        for (int i = 0; i < 500; ++i)
            look_as_thread();
        answers += heard(MessageKind::endpoint);
    };
    send(endpoint, {3});
    ASSERT_TRUE(come(1));
    EXPECT_EQ(answers, 0);
    on_event = nullptr;
    there[1].ask(1);
    const auto answer = hear(MessageKind::endpoint);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->header.id, 2u);
}

// Broken by sending again: the first try's event may have arrived.
TEST_F(Events, an_event_in_doubt_ends_with_fabric_and_is_not_sent_again) {
    meet();
    Job &one = event(5);
    doubt(one);
    EXPECT_FALSE(one.over) << "it may still come";
    there[1].answer(0, kIsNew);
    EXPECT_EQ(data_of(one), std::vector<std::uint64_t>{});
    EXPECT_EQ(one.status, SENNIT_ERR_FABRIC);
    Job &next = event(6);
    start(next);
    EXPECT_EQ(data_of(next), std::vector<std::uint64_t>{low(kDatum, bits())});
    EXPECT_EQ(next.status, SENNIT_OK);
}

// An operation that certainly ended without an event has another status. Broken by giving that
// status to an event that may have arrived before the memory was freed.
TEST_F(Events, an_event_in_doubt_ends_with_fabric_also_if_its_memory_is_gone) {
    meet();
    Job &one = event(5);
    Job &other = put(6);
    there[1].reopen();
    start(one);
    start(other);
    ASSERT_TRUE(hear_doubt(one));
    there[1].answer_that_gone(ToldPeer::kHandle);
    (void)data_of(one);
    EXPECT_EQ(one.status, SENNIT_ERR_FABRIC);
    (void)data_of(other);
    EXPECT_EQ(other.status, SENNIT_ERR_NOT_REGISTERED);
}

// ---- Which nodes events can reach.

struct EventsBeforeStart : Events {
    void SetUp() override {}
    static constexpr const char *kNet = "provider=net;host=127.0.0.1";
};

TEST_F(EventsBeforeStart, no_event_is_sent_if_the_user_wants_none) {
    open("provider=net;host=127.0.0.1;events=0");
    EXPECT_EQ(network->traits().event_bits, 0u);
    EXPECT_EQ(network->event_bits_to(1), 0u);
    meet();
    Job &one = event(5);
    EXPECT_EQ(network->submit(&one), Submit::failed);
    EXPECT_EQ(sennit_last_error()->status, SENNIT_ERR_UNSUPPORTED);
    EXPECT_FALSE(one.over);
}

TEST_F(EventsBeforeStart, the_index_bits_of_the_user_are_reported) {
    open("provider=net;host=127.0.0.1;index=14");
    EXPECT_EQ(network->traits().event_index_bits, 14u);
}

TEST(EventSettings, the_error_for_a_wrong_width_lists_the_right_ones) {
    for (const char *const text :
         {"events=0", "events=8", "events=16", "events=32", "events=64", "index=8", "index=24",
          "eager=0", "eager=131072", "packed=0", "packed=131072", "events=32;index=14"}) {
        Settings settings;
        EXPECT_EQ(read_settings(text, &settings), SENNIT_OK) << text;
    }
    for (const char *const text :
         {"events=4", "events=24", "events=128", "events=", "events=x", "index=7", "eager=131073",
          "packed=131073", "packed=", "index=25", "index=0", "index="}) {
        Settings settings;
        EXPECT_EQ(read_settings(text, &settings), SENNIT_ERR_ARG) << text;
        const std::string error = sennit_last_error()->text;
        EXPECT_NE(error.find(text), error.npos) << error;
        EXPECT_NE(error.find("events (0, 8, 16, 32 or 64) and index (8 to 24)"), error.npos)
            << error;
    }
    Settings settings;
    ASSERT_EQ(read_settings("events=16;index=12", &settings), SENNIT_OK);
    EXPECT_EQ(settings.events, 16u);
    EXPECT_EQ(settings.index, 12u);
}

// Broken by using a rail whose data was never tried, or by giving up a rail for good.
TEST_F(Events, events_need_data_by_each_usable_rail) {
    EXPECT_EQ(network->event_bits_to(0), 0u) << "the rank itself";
    NodeTrial found{1, 0};
    found.dataless = 1;
    network->settle(1, found);
    EXPECT_EQ(network->event_bits_to(1), 0u);
    EXPECT_EQ(network->event_bits_to(2), bits());
    network->settle(1, NodeTrial{1, 0});
    EXPECT_EQ(network->event_bits_to(1), bits());
    network->settle(1, NodeTrial{0, 111});
    EXPECT_EQ(network->event_bits_to(1), 0u);
    network->settle(1, NodeTrial{0, 0, 1});
    EXPECT_EQ(network->event_bits_to(1), 0u);
}

// ---- Trials.

// The offset of a place for the peer's trials in the rank's memory.
constexpr std::uint64_t place_of(unsigned attempt, unsigned which) {
    return sizeof(TrialRoom) + (2 * attempt + which) * sizeof(TrialRoom::Place);
}

// Broken by counting a trial's data as an event, and by losing an event that came before this rank
// knew that the trials were over.
TEST_F(EventsBeforeStart, data_of_trials_goes_to_their_room_and_never_to_the_sink) {
    before_settle = [&] {
        const Word endpoint = ask_endpoint();
        for (unsigned which = 0; which < 2; ++which) {
            const std::uint64_t word = which == 0 ? kDatum : ~kDatum;
            send(endpoint, {low(word, bits()), word, kTrialHandle, place_of(0, which)});
        }
        send(endpoint, {55});  // an event of a rank whose trials are over
        drive(300);
        EXPECT_EQ(events, std::vector<std::uint64_t>{});
    };
    open(kNet);
    ASSERT_TRUE(come(1));
    drive(100);
    EXPECT_EQ(events, std::vector<std::uint64_t>{55});
    EXPECT_EQ(ask_endpoint().header.id, 1u);
}

// Broken by taking wrong data of a trial for an event.
TEST_F(EventsBeforeStart, wrong_data_of_a_trial_is_no_event) {
    before_settle = [&] {
        const Word endpoint = ask_endpoint();
        Job &known = put(1);  // this rank has tried the peer
        (void)network->submit(&known);
        send(endpoint, {low(kDatum, bits() - 8), kDatum, kTrialHandle, place_of(0, 0)});
        drive(300);
    };
    open(kNet);
    drive(300);
    EXPECT_EQ(events, std::vector<std::uint64_t>{});
    EXPECT_EQ(ask_endpoint().header.id, 2u);
}

// A try whose data was late is followed by other tries.
TEST(TrialRooms, late_data_counts_for_its_own_try_only) {
    TrialRoom room{};
    room.places[0][0].put = kDatum;
    room.places[3][1].put = ~kDatum;
    room.places[TrialRoom::kTries][0].put = 4;  // without data
    EXPECT_TRUE(room.misses_data());
    EXPECT_FALSE(room.confirm(4, 64));
    EXPECT_FALSE(room.confirm(low(kDatum, 32), 64));
    EXPECT_TRUE(room.confirm(~kDatum, 64));
    EXPECT_FALSE(room.confirm(~kDatum, 64)) << "twice";
    EXPECT_TRUE(room.misses_data());
    EXPECT_TRUE(room.confirm(low(kDatum, 32), 32));
    EXPECT_FALSE(room.misses_data());
    EXPECT_EQ(room.places[0][0].confirmed, kDatum);
    EXPECT_EQ(room.places[3][1].confirmed, ~kDatum);
}

}  // namespace
