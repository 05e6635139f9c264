// Events that engine_post_short() sends in fewer steps. Broken by a task that differs from that of
// engine_start(), an event that overtakes queued operations or a fence, data in a segment that has
// ended, or a record that is lost when the transport refuses the task.
#include <array>

#include "base/fail.hpp"
#include "between.hpp"
#include "pair.hpp"

namespace sennit::test {
namespace {

// Notes the tasks, and refuses operations on the test's request.
class Noting final : public Between {
  public:
    using Between::Between;

    struct Noted {
        Operation operation;
        std::vector<std::byte> payload;
    };
    std::vector<Noted> tasks;
    bool has_rooms = false;  // for payloads
    int rooms_in_use = 0;
    bool refuses_puts = false;                 // answers "again"
    Submit answer_to_task = Submit::accepted;  // another answer is given once

    std::byte *take_room(std::size_t bytes) override {
        if (!has_rooms) return nullptr;
        ++rooms_in_use;
        return static_cast<std::byte *>(std::malloc(bytes));
    }
    void give_room_back(std::byte *room) override {
        --rooms_in_use;
        std::free(room);
    }

    Submit submit(Operation *operation) override {
        if (operation->kind == Operation::Kind::put && refuses_puts) return Submit::again;
        if (operation->kind == Operation::Kind::execute) {
            if (answer_to_task == Submit::failed) (void)fail(SENNIT_ERR_OS, "refused by the test");
            const Submit answer = std::exchange(answer_to_task, Submit::accepted);
            if (answer != Submit::accepted) return answer;
            const auto *const payload = static_cast<const std::byte *>(operation->local);
            tasks.emplace_back(
                Noted{*operation, {payload, payload + operation->task.payload_bytes}});
        }
        return inner().submit(operation);
    }
};

// Rank 0 of a Pair whose signal counts kEvents in its epoch 0.
constexpr std::uint32_t kEvents = 1000;
constexpr std::size_t kInside = op::ShortEvent::kMostInside;
constexpr std::size_t kMostBytes = 400;  // fits in a task of sim
struct Sender {
    const Pair &pair;
    Rank &rank = *current_rank();
    const signal::Attached &to = *signal::find_attached(rank, pair.block);
    op::PeerQueue &queue = rank.engine->queues[1];
    std::array<char, kMostBytes> data = {};
    std::uint32_t sent = 0;

    explicit Sender(const Pair &the_pair) : pair(the_pair) {
        for (std::size_t i = 0; i < data.size(); ++i)
            data[i] = static_cast<char>('a' + i % 26);
    }
    sennit_gptr place(std::uint64_t offset) const {
        sennit_gptr place = to.gptr;
        place.offset += offset;
        return place;
    }
    bool post_short(std::size_t bytes = 8, std::uint64_t offset = 16,
                    std::uint32_t other_segment = 0, const signal::Messages &messages = {0, 1}) {
        op::EventTask task{pair.arrived.handle, messages.count, messages.epoch, 0, 0};
        task.set(op::EventAction::count, 0);
        const auto check = [](Rank &, int, const op::EventTask &, std::uint64_t) {
            return SENNIT_OK;
        };
        const bool is_sent = op::engine_post_short(
            rank, {place(offset), to.live_value + other_segment, data.data(), bytes, &task, check});
        sent += is_sent ? messages.count : 0;
        return is_sent;
    }
    void post_otherwise(std::size_t bytes = 8, const signal::Messages &messages = {0, 1}) {
        pair.ok(
            signal::start_posted(rank, {&to.put.remote, messages, place(16), data.data(), bytes}),
            "start_posted");
        sent += messages.count;
    }
    void put() { pair.ok(sennit_put_nbi(place(0), data.data(), 8), "put_nbi"); }
    void flush() const { pair.ok(sennit_flush(1, kLong), "flush"); }
    void expect_sound() const {
        const char *const fault = op::engine_check(*rank.engine);
        EXPECT_EQ(fault, nullptr) << fault;
    }
};

void run(const std::function<void(Sender &, Noting &)> &body) {
    Job job(2, "sim:lockstep=1+events=64+delay=4");
    std::uint32_t sent = 0;
    job.run([&](int rank) {
        const Pair pair(job, rank, kEvents);
        if (rank == 0) {
            Sender sender(pair);
            {
                Noting noting(sender.rank);
                body(sender, noting);
                sender.flush();
            }
            sender.expect_sound();
            EXPECT_EQ(sender.rank.engine->records.in_use(), 0u);
            sent = sender.sent;
        }
        pair.barrier();
        if (rank == 1 && pair.left() != kEvents - sent)
            job.note("not every sent event was counted");
        pair.barrier();
    });
    EXPECT_EQ(job.fault, "");
}

// Expects the last two tasks of the transport to be equal except for their numbers.
void expect_same(const Noting &noting) {
    ASSERT_EQ(noting.tasks.size(), 2u);
    const transport::Operation &mine = noting.tasks[0].operation;
    const transport::Operation &other = noting.tasks[1].operation;
    EXPECT_EQ(noting.tasks[0].payload, noting.tasks[1].payload);
    EXPECT_EQ(mine.rail, other.rail);
    EXPECT_EQ(mine.is_hint, other.is_hint);
    EXPECT_EQ(mine.peer, other.peer);
    EXPECT_EQ(mine.remote.pointer, other.remote.pointer);
    EXPECT_EQ(mine.remote.handle, other.remote.handle);
    EXPECT_EQ(mine.offset, other.offset);
    EXPECT_EQ(mine.is_in_room, other.is_in_room);
    EXPECT_EQ(mine.is_in_room, noting.has_rooms && mine.bytes > kInside);
    EXPECT_EQ(mine.bytes, other.bytes);
    EXPECT_EQ(mine.completed, other.completed);
    transport::Task task = mine.task;
    EXPECT_EQ(task.sequence + 1, other.task.sequence);
    ++task.sequence;
    EXPECT_EQ(std::memcmp(&task, &other.task, sizeof task), 0);
}

TEST(short_event, it_is_the_same_task_as_by_the_general_way) {
    run([](Sender &sender, Noting &noting) {
        for (const bool has_rooms : {false, true}) {
            noting.has_rooms = has_rooms;
            for (const std::size_t bytes :
                 {std::size_t{1}, std::size_t{13}, kInside, kInside + 1, kMostBytes}) {
                noting.tasks.clear();
                EXPECT_TRUE(sender.post_short(bytes));
                sender.expect_sound();
                sender.post_otherwise(bytes);
                sender.expect_sound();
                expect_same(noting);
            }
        }
        EXPECT_EQ(noting.rooms_in_use, 4);
        sender.flush();
        EXPECT_EQ(noting.rooms_in_use, 0);
    });
}

TEST(short_event, it_carries_several_messages_and_the_current_epoch_too) {
    run([](Sender &sender, Noting &noting) {
        for (const signal::Messages messages :
             {signal::Messages{0, 3}, signal::Messages{SENNIT_EPOCH_CURRENT, 2}}) {
            noting.tasks.clear();
            EXPECT_TRUE(sender.post_short(kMostBytes, 16, 0, messages));
            sender.post_otherwise(kMostBytes, messages);
            expect_same(noting);
        }
    });
}

// A plan of one put whose data fits in its message: once by the short way, and once after a fence
// by the other way.
TEST(short_event, it_carries_the_message_of_a_plan) {
    run([](Sender &sender, Noting &noting) {
        const Pair &pair = sender.pair;
        sennit_plan plan = SENNIT_PLAN_NULL;
        pair.ok(sennit_plan_create(&plan), "plan_create");
        pair.ok(sennit_plan_put(plan, pair.block, 16, sender.data.data(), kMostBytes), "plan_put");
        pair.ok(sennit_plan_commit(plan, SENNIT_EPOCH_CURRENT, 0), "plan_commit");
        for (const bool after_fence : {false, true}) {
            if (after_fence) {
                EXPECT_TRUE(sender.post_short());
                noting.tasks.pop_back();
                EXPECT_EQ(op::engine_fence(sender.rank, 1), SENNIT_OK);
            }
            EXPECT_EQ(sender.queue.next_put_is_barrier, after_fence);
            pair.ok(sennit_plan_start(plan), "plan_start");
            pair.ok(sennit_plan_wait(plan, kLong), "plan_wait");
            EXPECT_FALSE(sender.queue.next_put_is_barrier);
            sender.flush();
            ++sender.sent;
        }
        ASSERT_EQ(noting.tasks.size(), 2u);
        EXPECT_EQ(noting.tasks[0].payload, noting.tasks[1].payload);
        pair.ok(sennit_plan_destroy(plan), "plan_destroy");
    });
}

TEST(short_event, it_does_not_overtake_queued_operations) {
    run([](Sender &sender, Noting &noting) {
        noting.refuses_puts = true;
        sender.put();
        EXPECT_FALSE(sender.post_short());
        noting.refuses_puts = false;
        sender.flush();
        EXPECT_TRUE(sender.post_short());
    });
}

TEST(short_event, it_does_not_overtake_a_put_before_a_fence) {
    run([](Sender &sender, Noting &) {
        sender.put();
        EXPECT_TRUE(sender.post_short());
        EXPECT_EQ(op::engine_fence(sender.rank, 1), SENNIT_OK);
        EXPECT_FALSE(sender.post_short());
        sender.post_otherwise();
        EXPECT_FALSE(sender.queue.next_put_is_barrier);
        sender.flush();
        EXPECT_TRUE(sender.post_short());
    });
}

TEST(short_event, data_above_the_eager_limit_goes_by_the_general_way) {
    run([](Sender &sender, Noting &) {
        op::MessagePath &path = sender.rank.engine->paths[0];
        const std::uint64_t before = std::exchange(path.eager_bytes, 8);
        EXPECT_TRUE(sender.post_short(8));
        EXPECT_FALSE(sender.post_short(9));
        path.eager_bytes = before;
    });
}

TEST(short_event, a_window_limits_short_events_as_other_tasks) {
    run([](Sender &sender, Noting &) {
        for (unsigned i = 0; i < op::kTaskWindow; ++i)
            EXPECT_TRUE(sender.post_short()) << i;
        EXPECT_FALSE(sender.post_short());
        sender.expect_sound();
        sender.post_otherwise();
        sender.flush();
        EXPECT_TRUE(sender.post_short());
    });
}

TEST(short_event, it_is_sent_only_within_the_attached_segment) {
    run([](Sender &sender, Noting &) {
        EXPECT_FALSE(sender.post_short(8, 16, 1));
        EXPECT_FALSE(sender.post_short(8, kBytes - 7));
        EXPECT_FALSE(sender.post_short(8, UINT64_MAX - 3));
        EXPECT_TRUE(sender.post_short(8, kBytes - 8));
    });
}

TEST(short_event, a_refused_task_leaves_nothing_behind) {
    run([](Sender &sender, Noting &noting) {
        using transport::Submit;
        for (const Submit answer : {Submit::again, Submit::failed}) {
            for (const std::size_t bytes : {kInside, kMostBytes}) {
                noting.has_rooms = true;
                noting.answer_to_task = answer;
                EXPECT_FALSE(sender.post_short(bytes));
                EXPECT_EQ(sender.rank.engine->records.in_use(), 0u);
                EXPECT_EQ(noting.rooms_in_use, 0);
                sender.expect_sound();
                EXPECT_TRUE(sender.post_short(bytes));
                sender.flush();
            }
        }
    });
}

}  // namespace
}  // namespace sennit::test
