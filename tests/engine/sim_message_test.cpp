// Messages whose rail fails during an event, one case at a time: the owner reuses its memory after
// an event, memory is short while a message is closed, messages fail. sim_notify_test.cpp covers
// random networks. Broken by data that is put again over the owner's later stores, a message that
// is counted twice or by half, or an error about something else.
#include <algorithm>

#include "base/fail.hpp"
#include "between.hpp"
#include "pair.hpp"

namespace sennit::test {
namespace {

using transport::Operation;
using transport::Submit;

// Makes selected operations fail.
class Troubled final : public Between {
  public:
    using Between::Between;

    struct Trouble {
        Operation::Kind kind;
        int number;  // within its kind, from 1; 0: all
        sennit_status status;
        bool is_done;  // executed, but the answer says that it was not
    };
    std::vector<Trouble> troubles;
    int asked = 0;  // submitted tasks

    Submit submit(Operation *operation) override {
        const int number = ++seen_[static_cast<unsigned>(operation->kind)];
        if (operation->kind == Operation::Kind::execute) ++asked;
        for (const Trouble &trouble : troubles) {
            if (trouble.kind != operation->kind ||
                (trouble.number != 0 && trouble.number != number))
                continue;
            if (!trouble.is_done) {
                (void)fail(trouble.status, "trouble with an operation");
                return Submit::failed;
            }
            completed_ = operation->completed;
            answer_ = trouble.status;
            operation->completed = [](Operation *over, sennit_status status) {
                completed_(over, status == SENNIT_OK ? answer_ : status);
            };
        }
        return inner().submit(operation);
    }

  private:
    int seen_[4] = {};
    // For the single operation whose answer is changed.
    static inline transport::CompletionFunction completed_ = nullptr;
    static inline sennit_status answer_ = SENNIT_OK;
};

// The number of events that were counted in a slot of the signal.
std::uint64_t counted(const Pair &pair, sennit_signal signal, unsigned slot) {
    const signal::Own *own = signal::find_own(*current_rank(), signal);
    if (own == nullptr) pair.job.note("no signal");
    return own == nullptr ? 0 : 0 - own->record->slot[slot].load();
}

enum class GoesOn : std::uint8_t { writes, frees };

// One message after the other, over rails that lose half of their operations. The owner reuses its
// memory as soon as it has a message.
void owner_goes_on(GoesOn how) {
    std::uint64_t unacknowledged = 0;
    for (int seed = 1; seed <= 120; ++seed) {
        const std::string bits = seed % 3 == 0 ? "8" : seed % 3 == 1 ? "32" : "64";
        Job job(2, "sim:lockstep=1+order=0+rails=3+shaky=2+delay=24+max_piece=1024+events=" + bits +
                       "+seed=" + std::to_string(seed));
        job.run(
            [&](int rank) {
                const Pair pair(job, rank, 1);
                constexpr std::size_t kLength = 3000;
                pair.pass(kLength);
                const std::uint64_t epochs = how == GoesOn::frees ? 3 : 6;
                for (std::uint64_t epoch = 2; epoch < epochs; ++epoch) {
                    if (rank == 0) pair.put(kLength, epoch);
                    if (rank == 1) {
                        pair.ok(sennit_signal_wait(pair.arrived, kLong), "wait");
                        auto *own = static_cast<char *>(sennit_ptr(pair.memory));
                        if (how == GoesOn::frees) {
                            pair.ok(sennit_free(pair.memory), "free");
                        } else {
                            std::fill(own, own + kLength, 'o');
                        }
                        pair.progress();
                        if (how == GoesOn::writes && std::count(own, own + kLength, 'o') != kLength)
                            job.note("data was put again");
                        pair.ok(sennit_signal_reset(pair.arrived), "reset");
                    }
                    pair.barrier();
                }
                pair.barrier();
                for (unsigned slot = 0; rank == 1 && slot < 2; ++slot)
                    if (counted(pair, pair.arrived, slot) != (epochs + 1 - slot) / 2)
                        job.note("slot " + std::to_string(slot));
                pair.barrier();
            },
            {SENNIT_ERR_PEER_LOST});
        ASSERT_EQ(job.fault, "") << "seed " << seed;
        unacknowledged += job.counters.unacknowledged_events;
    }
    std::printf("the rails of %llu events failed after they had come\n",
                static_cast<unsigned long long>(unacknowledged));
    EXPECT_GT(unacknowledged, how == GoesOn::frees ? 3u : 10u);
}

TEST(sim_message, data_is_not_repeated_over_later_writes_of_the_owner) {
    owner_goes_on(GoesOn::writes);
}

TEST(sim_message, data_is_not_repeated_into_freed_memory) {
    owner_goes_on(GoesOn::frees);
}

// Data and event have arrived, but the sender does not know. Its question about them finds no
// memory, before or after it was executed.
TEST(sim_message, without_memory_while_a_message_is_closed_every_event_is_counted_once) {
    for (const bool is_done : {false, true}) {
        Job job(2, "sim:lockstep=1+events=64+max_piece=256");
        job.run([&](int rank) {
            const Pair pair(job, rank, 1);
            pair.pass();
            if (rank == 0) {
                Troubled troubled(*current_rank());
                troubled.troubles.push_back(
                    {Operation::Kind::put_event, 2, SENNIT_ERR_FABRIC, true});
                pair.put(kRides, 2);
                EXPECT_EQ(troubled.asked, 2) << "the question and the end of the message";
                troubled.troubles.push_back(
                    {Operation::Kind::put_event, 5, SENNIT_ERR_FABRIC, true});
                troubled.troubles.push_back(
                    {Operation::Kind::execute, 3, SENNIT_ERR_NOMEM, is_done});
                pair.put(kRides, 3);
                pair.ok(sennit_flush(1, kLong), "flush");
                EXPECT_EQ(troubled.asked, 5);
            }
            if (rank == 1) {
                pair.ok(sennit_signal_wait(pair.arrived, kLong), "wait");
                pair.ok(sennit_signal_reset(pair.arrived), "reset");
            }
            pair.barrier();
            if (rank == 1) {
                pair.progress();
                if (counted(pair, pair.arrived, 0) != 2 || counted(pair, pair.arrived, 1) != 2)
                    job.note("an event was lost, or counted twice");
            }
            pair.barrier();
        });
        EXPECT_EQ(job.fault, "") << (is_done ? "done" : "");
    }
}

// The first part is counted, the second is refused. Then the count is undone, and the owner never
// sees the message.
TEST(sim_message, a_failed_message_has_a_reason_and_is_not_counted_in_part) {
    Job job(2, "sim:lockstep=1+events=64+max_piece=256");
    job.run([&](int rank) {
        const Pair pair(job, rank, 1);
        pair.pass();
        if (rank == 0) {
            Troubled troubled(*current_rank());
            troubled.troubles.push_back(
                {Operation::Kind::put_event, 2, SENNIT_ERR_NOT_REGISTERED, false});
            const std::vector<char> data(kRides, 'x');
            pair.is(sennit_put_notify(pair.block, 0, data.data(), kRides),
                    SENNIT_ERR_NOT_REGISTERED, "put_notify");
            if (sennit_last_error()->status != SENNIT_ERR_NOT_REGISTERED || !mentions("put of"))
                job.note(std::string("the error says: ") + sennit_last_error()->text);
            pair.ok(sennit_flush(1, kLong), "flush");
            pair.barrier();
            pair.barrier();
            troubled.troubles.clear();
            pair.put(kRides, 2);
        } else {
            pair.barrier();
            const signal::Own *own = signal::find_own(*current_rank(), pair.arrived);
            if (signal::own_value(*own) != 1) job.note("half a message was counted");
            pair.barrier();
            pair.ok(sennit_signal_wait(pair.arrived, kLong), "wait");
            pair.ok(sennit_signal_reset(pair.arrived), "reset");
        }
        pair.barrier();
        if (rank == 1 && counted(pair, pair.arrived, 0) != 2) job.note("counted by half");
    });
    EXPECT_EQ(job.fault, "");
}

}  // namespace
}  // namespace sennit::test
