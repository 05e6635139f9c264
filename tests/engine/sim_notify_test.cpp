// Notified puts and gets over the path sim, with ranks as threads in lockstep, over random
// networks: parts that overtake each other, messages split over rails, full queues, failing rails;
// at every support level, with each width of completion data. Broken by an event before its data, a
// lost event, an event counted twice because another rail repeated it, or data that is put again
// after its owner has continued. A failing seed is printed and repeats exactly. The program is
// built twice: for few steps of each width, and for a million.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "job.hpp"
#include "op/engine_state.hpp"

namespace sennit::test {
namespace {

constexpr std::size_t kPart = 3000;         // most bytes of a message
constexpr std::uint64_t kMost = 3;          // most messages of a pair in an epoch
constexpr std::uint64_t kMostSignals = 20;  // beside the counted one; 8 bits distinguish 16

struct Network {
    int ranks = 2;
    std::uint64_t epochs = 6;
    bool is_shaky = false;
    std::string paths;
};

Network network_of(std::uint64_t seed, unsigned bits) {
    std::mt19937_64 random(seed ^ 0x51C4A1);
    Network network;
    network.ranks = static_cast<int>(2 + random() % 3);
    const auto rails = 1 + random() % 8;
    // Few epochs, or more epochs than tags of 6 bits can tell apart.
    if (random() % 2 == 0) network.epochs = random() % 16 == 0 ? 150 : 2;
    network.paths = "sim:lockstep=1+events=" + std::to_string(bits) +
                    "+seed=" + std::to_string(seed) + "+rails=" + std::to_string(rails) +
                    "+order=" + std::to_string(random() % 2) +
                    "+depth=" + std::to_string(1 + random() % 8) +
                    "+delay=" + std::to_string(1 + random() % 24) +
                    "+max_piece=" + std::to_string(64 << random() % 5) +
                    "+eager=" + std::to_string(seed % 2 == 0 ? 488 : 0);
    network.is_shaky = rails > 1 && random() % 4 != 0;
    if (network.is_shaky) network.paths += "+shaky=" + std::to_string(3 + random() % 30);
    // Only the last rail is not shaky.
    const std::uint64_t survivor = network.is_shaky ? rails - 1 : random() % rails;
    for (std::uint64_t rail = 0; rail < rails; ++rail)
        if (rail != survivor && random() % 4 != 0)
            network.paths +=
                "+fail_rail=" + std::to_string(rail) + "@" + std::to_string(1 + random() % 3000);
    return network;
}

// A message, computed alike by its sender and its receiver.
struct Message {
    std::size_t bytes;
    std::uint8_t first;

    Message(std::uint64_t seed, std::uint64_t epoch, int from, int to, std::uint64_t number) {
        std::seed_seq words{seed, epoch, static_cast<std::uint64_t>(from),
                            static_cast<std::uint64_t>(to), number};
        std::mt19937 random(words);
        bytes = random() % 4 == 0 ? 8 : random() % (kPart + 1);
        first = static_cast<std::uint8_t>(random());
    }
    std::uint8_t at(std::size_t i) const { return static_cast<std::uint8_t>(first + i * 7); }
};

// One rank of a run.
class Member {
  public:
    Member(Job &job, std::uint64_t seed, int rank, const Network &network)
        : job_(job),
          seed_(seed),
          rank_(rank),
          size_(network.ranks),
          epochs_(network.epochs),
          random_(seed * 31 + 7) {
        const int size = size_;
        const std::uint64_t turn = kPart * kMost * static_cast<std::uint64_t>(size);
        turn_bytes_ = turn;
        messages_ = 1 + random_() % kMost;  // for every pair
        job_.expect(sennit_alloc(SENNIT_TEAM_WORLD, 2 * turn, 0, 0, &memory_), "alloc");
        const auto events =
            static_cast<std::uint32_t>(messages_ * static_cast<std::uint64_t>(size));
        for (std::uint64_t i = random_() % kMostSignals; i > 0; --i)
            job_.expect(sennit_signal_create(1, 1, 0, &arrived_), "signal_create");
        job_.expect(sennit_signal_create(events, events + 5, 0, &arrived_), "signal_create");
        job_.expect(sennit_waitset_create(&set_), "set_create");
        job_.expect(sennit_waitset_add(set_, arrived_, 0), "set_add");
        sennit_block mine;
        job_.expect(sennit_block_init({memory_, 2 * turn}, 0, 2 * turn, SENNIT_SIGNAL_NULL,
                                      arrived_, &mine),
                    "block_init");
        std::vector<sennit_block> blocks(static_cast<std::size_t>(size));
        job_.expect(sennit_allgather(SENNIT_TEAM_WORLD, &mine, blocks.data(), sizeof mine, kLong),
                    "allgather");
        for (const sennit_block &block : blocks) {
            sennit_peer_block peer = SENNIT_PEER_BLOCK_NULL;
            job_.expect(sennit_block_attach(&block, &peer), "block_attach");
            peers_.push_back(peer);
        }
        job_.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "barrier");
    }

    void run() {
        for (std::uint64_t epoch = 0; epoch < epochs_ && job_.fault.empty(); ++epoch) {
            for (int to = 0; to < size_; ++to)
                for (std::uint64_t number = 0; number < messages_; ++number)
                    send((to + rank_) % size_, epoch, number);
            if (epoch % 2 == 0) {
                job_.expect(sennit_signal_wait(arrived_, kLong), "signal_wait");
            } else {
                sennit_fired fired{};
                job_.expect(sennit_waitset_wait_any(set_, kLong, &fired), "wait_any");
                if (fired.signal.handle != arrived_.handle) job_.note("another signal");
            }
            look(epoch);
            go_on(epoch);
            job_.expect(sennit_signal_reset(arrived_), "signal_reset");
        }
        job_.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "the last barrier");
        std::uint32_t left = 0;
        job_.expect(sennit_signal_remaining(arrived_, &left), "remaining");
        if (left != messages_ * static_cast<std::uint64_t>(size_))
            job_.note("an event was counted that nobody sent");
    }

  private:
    std::size_t place_of(int from, std::uint64_t epoch, std::uint64_t number) const {
        return epoch % 2 * turn_bytes_ +
               kPart * (kMost * static_cast<std::uint64_t>(from) + number);
    }

    void send(int to, std::uint64_t epoch, std::uint64_t number) {
        const Message message(seed_, epoch, rank_, to, number);
        std::vector<std::uint8_t> data(message.bytes);
        for (std::size_t i = 0; i < data.size(); ++i)
            data[i] = message.at(i);
        const sennit_notice notice{SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch, 0};
        sennit_status status = SENNIT_ERR_SIGNAL_EARLY;
        while (status == SENNIT_ERR_SIGNAL_EARLY)
            status = sennit_put_notify_with(peers_[static_cast<std::size_t>(to)],
                                            place_of(rank_, epoch, number), data.data(),
                                            data.size(), &notice);
        job_.expect(status, "put_notify");
    }

    void look(std::uint64_t epoch) {
        const auto *own = static_cast<const std::uint8_t *>(sennit_ptr(memory_));
        for (int from = 0; from < size_; ++from) {
            for (std::uint64_t number = 0; number < messages_; ++number) {
                const Message message(seed_, epoch, from, rank_, number);
                for (std::size_t i = 0; i < message.bytes; ++i)
                    if (own[place_of(from, epoch, number) + i] != message.at(i))
                        return job_.note("an event came before its data");
            }
        }
    }

    // The owner may use its memory until the reset: no more data may arrive.
    void go_on(std::uint64_t epoch) {
        auto *own = static_cast<std::uint8_t *>(sennit_ptr(memory_)) + epoch % 2 * turn_bytes_;
        std::fill(own, own + turn_bytes_, std::uint8_t{0xE5});
        for (std::uint64_t i = random_() % 24; i > 0; --i)
            job_.expect(sennit_flush_all(kLong), "flush_all");
        if (std::count(own, own + turn_bytes_, std::uint8_t{0xE5}) !=
            static_cast<std::ptrdiff_t>(turn_bytes_))
            job_.note("data came after its event");
        op::Engine &engine = *current_rank()->engine;
        const MutexLock locked(engine.lock);
        if (const char *broken = op::engine_check(engine)) job_.note(broken);
    }

    Job &job_;
    std::uint64_t seed_;
    int rank_;
    int size_;
    std::uint64_t epochs_;
    std::mt19937_64 random_;
    std::uint64_t turn_bytes_ = 0;
    std::uint64_t messages_ = 0;
    sennit_gptr memory_ = SENNIT_GPTR_NULL;
    sennit_signal arrived_ = SENNIT_SIGNAL_NULL;
    sennit_waitset set_ = SENNIT_WAITSET_NULL;
    std::vector<sennit_peer_block> peers_;
};

// The parameter is the number of bits of completion data.
class sim_notify : public testing::TestWithParam<unsigned> {};

TEST_P(sim_notify, no_event_is_lost_doubled_or_early) {
    constexpr std::uint64_t kWanted = SENNIT_TEST_STEPS;
    const unsigned bits = GetParam();
    std::uint64_t steps = 0;
    transport::sim::Counters sum{};
    const std::uint64_t first = 1000 * bits;
    std::uint64_t seed = first;
    while (steps < kWanted) {
        ++seed;
        const Network network = network_of(seed, bits);
        Job job(network.ranks, network.paths);
        // The receiver may leave after the last put of the last barrier while the put's answer is
        // lost.
        job.run([&](int rank) { Member(job, seed, rank, network).run(); },
                {network.is_shaky ? SENNIT_ERR_PEER_LOST : SENNIT_OK});
        ASSERT_EQ(job.fault, "") << "seed " << seed << ", " << network.paths;
        ASSERT_FALSE(job.counters.lockstep_broken) << "seed " << seed;
        steps += job.counters.steps;
        sum.cancelled += job.counters.cancelled;
        sum.lost_answers += job.counters.lost_answers;
        sum.overtakings += job.counters.overtakings + job.counters.rail_overtakings;
        sum.events += job.counters.events;
        sum.unacknowledged_events += job.counters.unacknowledged_events;
        sum.lost_events += job.counters.lost_events;
    }
    // The runs covered these cases: rails failed during an operation, after a count, and before and
    // after the arrival of an event.
    const std::uint64_t networks = seed - first;
    EXPECT_GT(sum.overtakings, networks);
    EXPECT_EQ(sum.events != 0, bits != 0);
    if (kWanted >= 1'000'000) {
        EXPECT_GT(networks, 10u);
        EXPECT_GT(sum.cancelled, networks / 10);
        EXPECT_GT(bits == 0 ? sum.lost_answers : sum.unacknowledged_events, 0u);  // rare
        EXPECT_EQ(sum.lost_events > 0, bits != 0);
    }
    std::printf(
        "%llu steps of %llu networks; %llu events rode; of those on rails that failed, %llu "
        "had come and %llu had not\n",
        static_cast<unsigned long long>(steps), static_cast<unsigned long long>(networks),
        static_cast<unsigned long long>(sum.events),
        static_cast<unsigned long long>(sum.unacknowledged_events),
        static_cast<unsigned long long>(sum.lost_events));
}

INSTANTIATE_TEST_SUITE_P(bits, sim_notify, testing::Values(0u, 8u, 16u, 32u, 64u, 128u),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace sennit::test
