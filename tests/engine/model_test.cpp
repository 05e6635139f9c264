// The op engine over the path sim, with a sequential oracle: one thread drives random programs of
// two to four ranks, over random networks: rails that overtake, full queues, pieces down to a word,
// failing rails, a dying rank. Broken by a lost byte or a late second write, a completion before
// its data, a fence or flush that misses an operation, a lost error, or a broken invariant of the
// engine. A failing seed is printed and repeats exactly.
#include <gtest/gtest.h>

#include <random>

#include "op/engine_state.hpp"
#include "oracle.hpp"
#include "ranks.hpp"
#include "runtime/wait.hpp"

namespace sennit::test {
namespace {

using op::Direction;

constexpr std::size_t kBytes = 512;

struct Shape {
    int ranks = 2;
    bool in_order = false;
    int victim = -1;
    std::uint64_t death = 0;
    bool rail_fails = false;
    std::string settings;

    static Shape of(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        Shape shape;
        shape.ranks = 2 + static_cast<int>(random() % 3);
        const auto rails = 1 + random() % 3;
        const auto order = random() % 2;
        shape.in_order = order == 1 && rails == 1;
        shape.settings = "seed=" + std::to_string(seed) + "+rails=" + std::to_string(rails) +
                         "+order=" + std::to_string(order) +
                         "+depth=" + std::to_string(1 + random() % 8) +
                         "+delay=" + std::to_string(1 + random() % 40) +
                         "+max_piece=" + std::to_string(8 << random() % 5);
        for (std::uint64_t rail = 1; rail < rails; ++rail) {  // rail 0 works
            if (random() % 2 == 0) continue;
            shape.rail_fails = true;
            shape.settings +=
                "+fail_rail=" + std::to_string(rail) + "@" + std::to_string(1 + random() % 1500);
        }
        if (random() % 3 == 0) {
            shape.victim = static_cast<int>(random() % static_cast<unsigned>(shape.ranks));
            shape.death = 1 + random() % 1500;
            shape.settings +=
                "+kill=" + std::to_string(shape.victim) + "@" + std::to_string(shape.death);
        }
        return shape;
    }
};

class Model {
  public:
    explicit Model(std::uint64_t seed)
        : shape_(Shape::of(seed)),
          world_(shape_.ranks, shape_.settings, kBytes),
          oracle_(shape_.ranks, kBytes, shape_.in_order),
          random_(seed),
          requests_(SimWorld::at(shape_.ranks)),
          implicit_(SimWorld::at(shape_.ranks)) {
        world_.make_engines();
    }

    void run(int actions) {
        for (int i = 0; i < actions && fault.empty(); ++i)
            act();
        for (int rank = 0; rank < shape_.ranks && fault.empty(); ++rank) {
            flush(rank, kAnyPeer);
            while (!requests_[SimWorld::at(rank)].empty() && fault.empty())
                test(rank, 0, true);
        }
        for (int rank = 0; rank < shape_.ranks && fault.empty(); ++rank) {
            if (rank != shape_.victim) note(oracle_.check(rank, memory(rank)));
            if (world_.ranks[rank].engine->records.in_use() != 0) note("a record is left behind");
        }
        counters = world_.counters();
        certain = oracle_.certain();
    }

    const Shape &shape() const { return shape_; }
    std::string fault;
    transport::sim::Counters counters{};
    std::size_t certain = 0;
    int lost = 0;  // operations that ended with SENNIT_ERR_PEER_LOST

  private:
    struct Open {
        sennit_request request;
        Oracle::Operation *operation;
    };

    unsigned draw(unsigned limit) { return static_cast<unsigned>(random_() % limit); }
    const std::byte *memory(int rank) const { return world_.memory[SimWorld::at(rank)].data(); }
    void note(const std::string &what) {
        if (fault.empty() && !what.empty()) fault = what;
    }

    // Notes an error unless an operation between the two ranks may fail with this status now.
    void judge(sennit_status status, int rank, int peer) {
        if (status == SENNIT_OK) return;
        const bool death = shape_.victim >= 0 && world_.counters().steps >= shape_.death &&
                           (shape_.victim == rank || shape_.victim == peer || peer == kAnyPeer);
        if (status == SENNIT_ERR_PEER_LOST && death) {
            ++lost;
        } else {
            note(std::string("unexpected ") + sennit_status_string(status) + ": " +
                 sennit_last_error()->text);
        }
    }

    void finish(Oracle::Operation *operation, sennit_status status) {
        note(oracle_.finish(operation, status == SENNIT_OK));
    }

    void act() {
        const int rank = static_cast<int>(draw(static_cast<unsigned>(shape_.ranks)));
        const unsigned what = draw(100);
        if (what < 40) {
            start(rank);
        } else if (what < 75) {
            make_progress(world_.ranks[rank]);
        } else if (what < 90) {
            const std::size_t open = requests_[SimWorld::at(rank)].size();
            if (open > 0) test(rank, draw(static_cast<unsigned>(open)), draw(2) == 0);
        } else if (what < 95) {
            oracle_.fence(rank);
            note(op::engine_fence(world_.ranks[rank], kAnyPeer) == SENNIT_OK ? "" : "fence failed");
        } else {
            const bool all = draw(2) == 0;
            const auto other = draw(static_cast<unsigned>(shape_.ranks) - 1);
            flush(rank, all ? kAnyPeer : (rank + 1 + static_cast<int>(other)) % shape_.ranks);
        }
        if (const char *broken = op::engine_check(*world_.ranks[rank].engine)) note(broken);
    }

    void start(int rank) {
        const int peer =
            (rank + 1 + static_cast<int>(draw(static_cast<unsigned>(shape_.ranks) - 1))) %
            shape_.ranks;
        const bool is_put = draw(3) != 0;
        // Mostly few places, so that operations overlap.
        const std::uint64_t offset = draw(2) == 0 ? draw(64) : draw(kBytes);
        const unsigned most = static_cast<unsigned>(kBytes - offset);
        const unsigned bytes = draw(std::min(most, draw(4) == 0 ? 300u : 24u) + 1);
        std::vector<std::byte> buffer(bytes);
        for (std::byte &byte : buffer)
            byte = is_put ? static_cast<std::byte>(draw(256)) : std::byte{0};
        Oracle::Operation *operation = oracle_.start(rank, peer, is_put, offset, std::move(buffer));
        const Direction direction = is_put ? Direction::put : Direction::get;
        const op::Target target = world_.target(rank, peer, offset);
        Rank &me = world_.ranks[rank];
        std::byte *local = operation->buffer.data();
        sennit_status status = SENNIT_OK;
        bool over = true;
        switch (draw(5)) {
            case 0:
                status = op::engine_start(me, direction, target, local, bytes, {});
                break;
            case 1:
            case 2: {
                sennit_request request{};
                status = op::engine_start(me, direction, target, local, bytes,
                                          {op::Completion::Mode::request, &request});
                over = status != SENNIT_OK || request.handle == 0;
                if (!over) requests_[SimWorld::at(rank)].push_back({request, operation});
                break;
            }
            default:
                status = op::engine_start(me, direction, target, local, bytes,
                                          {op::Completion::Mode::implicit});
                over = status != SENNIT_OK || bytes == 0;
                if (!over) implicit_[SimWorld::at(rank)].push_back(operation);
        }
        judge(status, rank, peer);
        if (over) finish(operation, status);
    }

    void test(int rank, std::size_t index, bool progress) {
        std::vector<Open> &open = requests_[SimWorld::at(rank)];
        int done = 0;
        const Open pending = open[index];
        const sennit_status status =
            op::engine_test(world_.ranks[rank], pending.request, progress, &done);
        judge(status, rank, pending.operation->owner);
        if (done == 0) return;
        finish(pending.operation, status);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(index));
        if (op::engine_test(world_.ranks[rank], pending.request, false, &done) != SENNIT_ERR_ARG)
            note("a handle was accepted twice");
    }

    void flush(int rank, int peer) {
        const sennit_status status =
            op::engine_flush(world_.ranks[rank], peer, Deadline::after(10'000'000'000));
        judge(status, rank, peer);
        std::vector<Oracle::Operation *> &open = implicit_[SimWorld::at(rank)];
        for (Oracle::Operation *operation : open) {
            if (peer != kAnyPeer && operation->owner != peer) continue;
            // With a dead rank involved, the success of each operation is unknown.
            const bool doubt = shape_.victim == rank || shape_.victim == operation->owner;
            finish(operation, doubt ? SENNIT_ERR_PEER_LOST : SENNIT_OK);
        }
        std::erase_if(open, [&](const Oracle::Operation *operation) { return operation->over; });
        // Puts with a request have arrived as well, although the request stays.
        if (shape_.victim >= 0) return;
        for (const Open &pending : requests_[SimWorld::at(rank)])
            if (pending.operation->is_put && (peer == kAnyPeer || pending.operation->owner == peer))
                finish(pending.operation, SENNIT_OK);
    }

    const Shape shape_;
    SimWorld world_;
    Oracle oracle_;
    std::mt19937_64 random_;
    std::vector<std::vector<Open>> requests_;                 // [rank]
    std::vector<std::vector<Oracle::Operation *>> implicit_;  // [rank]
};

struct Sum {
    int seeds = 0;
    int with_death = 0;
    int with_rail_failure = 0;
    int lost = 0;
    std::uint64_t steps = 0;
    std::uint64_t agains = 0;
    std::uint64_t overtakings = 0;
    std::uint64_t certain = 0;
};

void run_seeds(std::uint64_t first, std::uint64_t end, Sum *sum) {
    for (std::uint64_t seed = first; seed < end; ++seed) {
        Model model(seed);
        model.run(500);
        ASSERT_EQ(model.fault, "") << "seed " << seed << ", sim:" << model.shape().settings;
        ++sum->seeds;
        sum->with_death += model.lost > 0 ? 1 : 0;
        sum->with_rail_failure += model.shape().rail_fails && model.counters.cancelled > 0 ? 1 : 0;
        sum->lost += model.lost;
        sum->steps += model.counters.steps;
        sum->agains += model.counters.agains;
        sum->overtakings += model.counters.overtakings + model.counters.rail_overtakings;
        sum->certain += model.certain;
    }
}

TEST(model, engine_over_sim_agrees_with_the_oracle_for_many_seeds) {
    Sum sum;
    // 400 seeds, or a share of them under a sanitizer.
    constexpr unsigned kSeeds = 400 / SENNIT_TEST_SHARE;
    run_seeds(1, 1 + kSeeds, &sum);
    // The runs covered these cases.
    EXPECT_GT(sum.with_death, 60 / SENNIT_TEST_SHARE);
    EXPECT_GT(sum.with_rail_failure, 60 / SENNIT_TEST_SHARE);
    EXPECT_GT(sum.agains, 10'000u / SENNIT_TEST_SHARE);
    EXPECT_GT(sum.overtakings, 5'000u / SENNIT_TEST_SHARE);
    EXPECT_GT(sum.certain, kSeeds * kBytes);
    RecordProperty("steps", std::to_string(sum.steps));
}

TEST(model, a_seed_repeats_exactly) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Model one(seed);
        Model two(seed);
        one.run(300);
        two.run(300);
        EXPECT_EQ(one.counters.trace_hash, two.counters.trace_hash) << "seed " << seed;
        EXPECT_EQ(one.counters.steps, two.counters.steps) << "seed " << seed;
    }
}

}  // namespace
}  // namespace sennit::test
