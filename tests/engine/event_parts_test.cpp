// Messages in several tasks: the owner counts one message with the last task, in any order of
// arrival. Tests the target's side directly, and the sender's over a fake transport. Broken by an
// event that comes before all data, or twice; by a failed message mistaken for a part of another
// one; by a task without the word that names its message.
#include <algorithm>
#include <numeric>

#include "engine_fixture.hpp"
#include "op/packed.hpp"

namespace sennit::test {
namespace {

constexpr std::size_t kRun = 8;

// The words of the messages that the consumer has counted. Refused parts are not stored.
struct Counted {
    std::vector<std::uint32_t> words;
    bool refuses = false;
};
Counted *counted = nullptr;

std::uint64_t consume(Rank &, const op::ArrivedEvent &arrived) {
    if (counted->refuses) return 2;
    if (op::store_arrived(arrived)) counted->words.push_back(arrived.task.index);
    return 1;
}

class PartsTest : public EngineTest {
  protected:
    PartsTest() : memory(64 * kRun) { counted = &told; }
    void listen() {
        start();
        static constexpr op::EventHandlers kHandlers{nullptr, consume};
        op::engine_take_events(rank(), &kHandlers);
    }
    // A task with one run, which goes to the place with the task's number.
    sennit_status arrive(std::uint64_t sequence, std::uint32_t word, int from = 1) {
        const std::uint64_t place = sequence % 64 * kRun;
        op::EventTask event{7, 1, 0, word, 0};
        event.set(op::EventAction::scatter, 1);
        const op::RunWord run = op::run_word(place, kRun);
        std::vector<std::byte> payload(sizeof event + sizeof run + kRun);
        std::memcpy(payload.data(), &event, sizeof event);
        std::memcpy(payload.data() + sizeof event, &run, sizeof run);
        std::memcpy(payload.data() + sizeof event + sizeof run, &sequence, kRun);
        transport::Task task{};
        task.sequence = sequence;
        task.count = static_cast<std::uint32_t>(memory.size() / 8);
        task.payload_bytes = static_cast<std::uint32_t>(payload.size());
        task.reply_bytes = 8;
        task.operation = op::kEventTask;
        task.type = SENNIT_UINT64;
        return op::engine_execute(
            &rank(), transport::Arrived{from, &task, nullptr, memory.data(), memory.size(),
                                        payload.data(), reinterpret_cast<std::byte *>(&answer)});
    }

    Counted told;
    std::vector<std::byte> memory;
    std::uint64_t answer = 0;
};

constexpr auto parts_word = op::EventTask::parts_word;

TEST(PartsWord, the_word_has_the_number_of_tasks_and_the_message) {
    for (const std::uint32_t parts : {2u, 3u, 1u << 20})
        for (const std::uint32_t message : {0u, 1u, 4095u}) {
            EXPECT_EQ(op::EventTask::parts_in(parts_word(message, parts)), parts);
            EXPECT_EQ(op::EventTask::message_in(parts_word(message, parts)), message);
            EXPECT_NE(parts_word(message, parts), 0u) << "that is a message in one task";
        }
}

TEST_F(PartsTest, a_message_counts_once_with_the_last_of_its_tasks_in_any_order) {
    listen();
    std::uint64_t sequence = 1;
    std::uint32_t message = 0;
    std::vector<std::uint64_t> order(4);
    std::iota(order.begin(), order.end(), 0);
    do {
        const std::uint32_t word = parts_word(message++, 4);
        told.words.clear();
        for (std::size_t i = 0; i < order.size(); ++i) {
            EXPECT_TRUE(told.words.empty());
            EXPECT_EQ(arrive(sequence + order[i], word), SENNIT_OK);
            // A repeated task does not count again.
            EXPECT_EQ(arrive(sequence + order[i], word), SENNIT_OK);
        }
        EXPECT_EQ(told.words, std::vector<std::uint32_t>{word});
        sequence += 4;
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(PartsTest, all_messages_of_a_window_and_all_senders_are_distinguished) {
    listen();
    // The second task of each message arrives after the first tasks of all.
    for (const int from : {1, 2})
        for (std::uint32_t i = 0; i < op::kTaskWindow; ++i)
            EXPECT_EQ(arrive(i + 1, parts_word(4090 + i, 2), from), SENNIT_OK);
    EXPECT_TRUE(told.words.empty());
    for (const int from : {1, 2})
        for (std::uint32_t i = 0; i < op::kTaskWindow; ++i)
            EXPECT_EQ(arrive(op::kTaskWindow + i + 1, parts_word(4090 + i, 2), from), SENNIT_OK);
    EXPECT_EQ(told.words.size(), 2u * op::kTaskWindow);
}

TEST_F(PartsTest, failed_messages_and_refused_tasks_are_no_part_of_later_messages) {
    listen();
    // Its other task never arrives, and all messages after it are complete.
    EXPECT_EQ(arrive(1, parts_word(0, 2)), SENNIT_OK);
    std::uint64_t sequence = 2;
    for (std::uint32_t message = 1; message <= 2 * op::kTaskWindow; ++message)
        for (int part = 0; part < 3; ++part)
            EXPECT_EQ(arrive(sequence++, parts_word(message, 3)), SENNIT_OK);
    EXPECT_EQ(told.words.size(), 2u * op::kTaskWindow);
    told.words.clear();
    EXPECT_EQ(arrive(sequence++, parts_word(0, 2)), SENNIT_OK);
    EXPECT_TRUE(told.words.empty());

    told.refuses = true;
    EXPECT_EQ(arrive(sequence++, parts_word(1, 2)), SENNIT_OK);
    EXPECT_EQ(answer, 2u);
    told.refuses = false;
    EXPECT_EQ(arrive(sequence++, parts_word(1, 2)), SENNIT_OK);
    EXPECT_TRUE(told.words.empty());
}

// A put of 100 runs, whose tasks stay with the transport until it is destroyed.
class SenderTest : public PartsTest {
  protected:
    SenderTest() { fake.fake.task_bytes = transport::kMostTaskBytes; }
    void put() {
        constexpr std::size_t kCount = 100;
        const sennit_box box = sennit_box_line(kRun, kCount, 2 * kRun, kRun);
        op::Layout layout;
        ASSERT_EQ(op::layout_of_box(box, Direction::put, &layout), SENNIT_OK);
        const op::EventTask event{7, 1, 0, 0, 0};
        op::Work work;
        work.event = &event;
        op::Target target = to(1);
        target.work = &work;
        target.layout = &layout;
        ASSERT_EQ(op::engine_start(rank(), Direction::execute, target, source(), kCount * kRun,
                                   {op::Completion::Mode::implicit}),
                  SENNIT_OK);
    }
    static op::EventTask task_of(const transport::Operation &operation) {
        op::EventTask event;
        std::memcpy(&event, operation.local, sizeof event);
        return event;
    }
};

TEST_F(SenderTest, all_tasks_of_a_message_have_the_same_word) {
    start();
    put();
    const std::size_t parts = fake.held.size();
    put();
    ASSERT_GT(parts, 1u);
    ASSERT_EQ(fake.held.size(), 2 * parts);
    std::uint32_t runs = 0;
    for (std::size_t i = 0; i < fake.held.size(); ++i) {
        const op::EventTask event = task_of(*fake.held[i]);
        EXPECT_EQ(event.index, parts_word(i < parts ? 0 : 1, static_cast<std::uint32_t>(parts)));
        EXPECT_EQ(event.messages, 1u);
        runs += event.number();
    }
    EXPECT_EQ(runs, 200u);
    expect_sound();
}

// Broken by a payload outside the transport's memory, by one that is given back during its
// operation, or never, and by a put with room for only a part of its payloads.
TEST_F(SenderTest, payloads_lie_in_the_rooms_of_the_transport) {
    fake.rooms = 5;
    start();
    put();
    const std::size_t parts = fake.held.size();
    ASSERT_EQ(fake.rooms_out.size(), parts);
    for (const transport::Operation *const operation : fake.held) {
        EXPECT_TRUE(operation->is_in_room);
        EXPECT_EQ(fake.rooms_out.count(static_cast<std::byte *>(operation->local)), 1u);
    }
    put();
    EXPECT_EQ(fake.rooms_out.size(), fake.rooms) << "not enough for all of another one";
    EXPECT_TRUE(fake.held[parts]->is_in_room);
    EXPECT_FALSE(fake.held.back()->is_in_room);
    while (!fake.held.empty())
        fake.complete(fake.held.front(), SENNIT_ERR_PEER_LOST);
    op::progress(*rank().engine);
    EXPECT_TRUE(fake.rooms_out.empty());
    expect_sound();
}

}  // namespace
}  // namespace sennit::test
