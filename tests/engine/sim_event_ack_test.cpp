// Events whose rail fails under them, one case at a time: what the owner does with its memory once
// an event has come, memory that is short during the acknowledgement, and calls that have ended by
// TIMEOUT. What random networks make of it is in sim_notify_test.cpp. Would break: data that is put
// again over what the owner has written since, an event that is counted twice or into another
// signal, an error of the wrong thing.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/fail.hpp"
#include "op/engine_state.hpp"
#include "pair.hpp"

namespace sennit::test {
namespace {

using transport::Operation;
using transport::Submit;

// Stands between a rank's engine and its transport, and makes what a test asks for go wrong.
class Troubled final : public transport::Transport {
  public:
    explicit Troubled(Rank &rank)
        : rank_(rank), path_(rank.engine->paths[0]), inner_(path_.transport) {
        take(inner_, this);
    }
    ~Troubled() override { take(this, inner_); }
    Troubled(const Troubled &) = delete;
    Troubled &operator=(const Troubled &) = delete;

    struct Trouble {
        Operation::Kind kind;
        int number;  // of its kind, from 1; 0: all
        sennit_status status;
        bool is_done;  // it is carried out, and the answer says that it was not
    };
    std::vector<Trouble> troubles;

    const transport::Traits &traits() const override { return inner_->traits(); }
    sennit_status open(Rank &, const char *, const transport::EventSink &) override {
        return SENNIT_ERR_INTERNAL;
    }
    void address(transport::Address *) override {}
    sennit_status connect(const transport::Address *, const Deadline &) override {
        return SENNIT_ERR_INTERNAL;
    }
    Reason reach(int peer) override { return inner_->reach(peer); }
    void forget(int peer) override { inner_->forget(peer); }
    sennit_status attach(int peer, const SegmentRecord &record,
                         transport::RemoteMemory *out) override {
        return inner_->attach(peer, record, out);
    }
    void detach(int peer, const transport::RemoteMemory &remote) override {
        inner_->detach(peer, remote);
    }
    Submit submit(Operation *operation) override {
        const int number = ++seen_[static_cast<unsigned>(operation->kind)];
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
        return inner_->submit(operation);
    }
    int progress() override { return inner_->progress(); }
    std::uint64_t rails_to(int peer) const override { return inner_->rails_to(peer); }
    void close(const Deadline &) override {}

  private:
    void take(transport::Transport *before, transport::Transport *now) {
        path_.transport = now;
        for (int peer = 0; peer < world_size(rank_); ++peer)
            if (rank_.peers[peer].transport == before) rank_.peers[peer].transport = now;
    }

    Rank &rank_;
    op::MessagePath &path_;
    transport::Transport *inner_;
    int seen_[4] = {};
    // Of the one operation whose answer is changed.
    static inline transport::CompletionFunction completed_ = nullptr;
    static inline sennit_status answer_ = SENNIT_OK;
};

// What was added to a slot of the signal, as a number of events.
std::uint64_t counted(const Pair &pair, sennit_signal signal, unsigned slot) {
    const signal::Own *own = signal::find_own(*current_rank(), signal);
    if (own == nullptr) pair.job.note("no signal");
    return own == nullptr ? 0 : 0 - own->record->slot[slot].load();
}

// The events of this rank go by no rail: they are counted by operations. Right before a put, which
// makes the queue active: the library closes rails for a message that it sends.
void close_rails(Rank &rank) {
    rank.engine->queues[1].events->tickets.closed = UINT64_MAX;
}

enum class GoesOn : std::uint8_t { writes, frees };

// One message after the other, over rails that lose half of what goes by them. The owner uses its
// memory otherwise as soon as it has a message.
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
                for (std::uint64_t epoch = 0; epoch < (how == GoesOn::frees ? 1 : 4); ++epoch) {
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
                const std::uint64_t wanted = how == GoesOn::frees ? 0 : 2;
                if (rank == 1 && counted(pair, pair.arrived, 1) != wanted) job.note("slot 1");
                if (rank == 1 && counted(pair, pair.arrived, 0) != (how == GoesOn::frees ? 1 : 2))
                    job.note("slot 0");
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

TEST(sim_event_ack, data_is_not_put_again_after_its_event_over_what_the_owner_has_written) {
    owner_goes_on(GoesOn::writes);
}

TEST(sim_event_ack, data_is_not_put_again_after_its_event_into_memory_that_was_freed) {
    owner_goes_on(GoesOn::frees);
}

// Whichever operation of the settling it is that finds no memory, before or after it was done.
TEST(sim_event_ack, without_memory_in_the_midst_of_acknowledging_every_event_is_counted_once) {
    for (const bool is_done : {false, true}) {
        for (int number = 1; number <= 8; ++number) {
            Job job(2, "sim:lockstep=1+events=64+max_piece=256");
            job.run([&](int rank) {
                const Pair pair(job, rank, 1);
                if (rank == 0) pair.put(600, 0);
                if (rank == 1) {
                    pair.ok(sennit_signal_wait(pair.arrived, kLong), "wait");
                    pair.ok(sennit_signal_reset(pair.arrived), "reset");
                }
                pair.barrier();
                if (rank == 0) {
                    Troubled troubled(*current_rank());
                    troubled.troubles.push_back(
                        {Operation::Kind::execute, number, SENNIT_ERR_NOMEM, is_done});
                    close_rails(*current_rank());
                    pair.put(600, 1);
                    pair.put(600, 2);
                }
                pair.barrier();
                if (rank == 1) {
                    pair.progress();
                    if (counted(pair, pair.arrived, 0) != 2 || counted(pair, pair.arrived, 1) != 1)
                        job.note("an event was lost, or counted twice");
                }
                pair.barrier();
            });
            EXPECT_EQ(job.fault, "") << "operation " << number << (is_done ? ", done" : "");
        }
    }
}

// The limit of time of calls; all of a job's.
class Limit {
  public:
    explicit Limit(const char *seconds) { (void)setenv("SENNIT_TIMEOUT", seconds, 1); }
    ~Limit() { (void)unsetenv("SENNIT_TIMEOUT"); }
};

TEST(sim_event_ack,
     what_is_retransmitted_after_a_timeout_is_not_counted_in_a_signal_that_has_the_place_since) {
    const Limit limit("0.5");
    std::atomic<bool> is_over{false};
    Job job(2, "sim:delay=1+events=64");
    job.run([&](int rank) {
        // So many that the place of one is given again at once.
        const Pair pair(job, rank, 1, 70);
        sennit_signal next = SENNIT_SIGNAL_NULL;
        for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
            if (rank == 0) {
                if (epoch == 1) close_rails(*current_rank());
                pair.put(8, epoch);
            } else {
                pair.ok(sennit_signal_wait(pair.arrived, kLong), "wait");
                pair.ok(sennit_signal_reset(pair.arrived), "reset");
            }
            pair.barrier();
        }
        if (rank == 0) {
            const std::uint64_t word = 1;
            const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 2, 0};
            pair.is(sennit_put_notify_with(pair.block, 0, &word, sizeof word, &notice),
                    SENNIT_ERR_TIMEOUT, "put_notify to a rank that does not answer");
            if (current_rank()->engine->queues[1].events->tickets.ended == 0)
                job.note("nothing is unconfirmed");
            is_over = true;
        } else {
            while (!is_over)
                std::this_thread::yield();
            pair.ok(sennit_signal_destroy(pair.arrived), "destroy");
            pair.ok(sennit_signal_create(3, 3, &next), "create");
            if (signal::index_of(next.handle) != signal::index_of(pair.arrived.handle))
                job.note("the place is another one");
        }
        pair.ok(sennit_broadcast(SENNIT_TEAM_WORLD, 1, &next, sizeof next, kLong), "broadcast");
        if (rank == 0) {
            const sennit_notice notice{next, SENNIT_SIGNAL_NULL, 0, 0};
            const std::uint64_t word = 2;
            pair.ok(sennit_put_notify_with(pair.block, 0, &word, sizeof word, &notice),
                    "put_notify");
        }
        pair.barrier();
        if (rank == 1) pair.progress();
        if (rank == 1 && (counted(pair, next, 0) != 1 || counted(pair, next, 1) != 0))
            job.note("an event of the signal before it was counted");
        pair.barrier();
    });
    EXPECT_EQ(job.fault, "");
}

TEST(sim_event_ack,
     a_message_that_has_failed_tells_why_also_where_its_events_can_not_be_acknowledged) {
    Job job(2, "sim:lockstep=1+events=64+max_piece=256");
    job.run([&](int rank) {
        const Pair pair(job, rank, 1);
        if (rank == 0) {
            Troubled troubled(*current_rank());
            troubled.troubles.push_back(
                {Operation::Kind::put_event, 2, SENNIT_ERR_NOT_REGISTERED, false});
            troubled.troubles.push_back({Operation::Kind::execute, 0, SENNIT_ERR_FABRIC, false});
            const std::vector<char> data(512, 'x');
            pair.is(sennit_put_notify(pair.block, 0, data.data(), data.size()),
                    SENNIT_ERR_NOT_REGISTERED, "put_notify");
            if (sennit_last_error()->status != SENNIT_ERR_NOT_REGISTERED || !mentions("put of"))
                job.note(std::string("the error says: ") + sennit_last_error()->text);
            pair.is(sennit_put_notify(pair.block, 0, data.data(), data.size()), SENNIT_ERR_FABRIC,
                    "put_notify while nothing can be acknowledged");
            pair.barrier();
            pair.barrier();
            troubled.troubles.clear();
            pair.ok(sennit_put_notify(pair.block, 0, data.data(), data.size()), "put_notify");
        } else {
            pair.barrier();
            pair.is(sennit_signal_reset(pair.arrived), SENNIT_ERR_STATE, "reset");
            if (!mentions("0 are still to come, and parts of others"))
                job.note(sennit_last_error()->text);
            pair.barrier();
        }
        pair.barrier();
        if (rank == 1) {
            pair.ok(sennit_signal_wait(pair.arrived, kLong), "wait");
            if (counted(pair, pair.arrived, 0) != 1) job.note("counted by half");
        }
        pair.barrier();
    });
    EXPECT_EQ(job.fault, "");
}

}  // namespace
}  // namespace sennit::test
