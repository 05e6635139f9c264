// Division of a large operation over rails of different speeds: the functions of op/rail_load.hpp,
// called like the engine does, on simulated rails. Broken by equal parts, with which the slow rail
// delays all others, or by pieces on equal rails that are smaller than necessary.
#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <vector>

#include "op/rail_load.hpp"

namespace sennit::test {
namespace {

constexpr std::uint64_t kMost = 1 << 30;

// The rate of all rails in bytes per nanosecond, for operations one after the other; the first few
// do not count, because the rates are unknown.
double rate_over(const std::vector<double> &rails, std::uint64_t bytes) {
    constexpr int kOperations = 20;
    constexpr int kNotCounted = 4;
    std::vector<op::RailLoad> loads(rails.size());
    const std::uint64_t usable = (std::uint64_t{1} << rails.size()) - 1;
    std::int64_t now = 1;
    std::int64_t counted = 0;
    for (int operation = 0; operation < kOperations; ++operation) {
        const std::uint64_t piece = op::share_of(loads.data(), usable, bytes, kMost);
        std::vector<std::vector<std::uint64_t>> parts(rails.size());
        for (std::uint64_t cut = 0; cut < bytes; cut += piece) {
            const std::uint64_t part = std::min(piece, bytes - cut);
            std::size_t best = 0;
            for (std::size_t rail = 1; rail < rails.size(); ++rail)
                if (op::is_sooner(loads[rail], loads[best], part)) best = rail;
            loads[best].out_bytes += part;
            op::note_submitted(loads[best], part, now);
            parts[best].push_back(part);
        }
        std::int64_t last = now;
        for (std::size_t rail = 0; rail < rails.size(); ++rail) {
            double at = static_cast<double>(now);
            for (const std::uint64_t part : parts[rail]) {
                at += static_cast<double>(part) / rails[rail];
                op::note_done(loads[rail], part, true, static_cast<std::int64_t>(at));
                loads[rail].out_bytes -= part;
            }
            last = std::max(last, static_cast<std::int64_t>(at));
        }
        if (operation >= kNotCounted) counted += last - now;
        now = last;
    }
    return static_cast<double>(bytes * (kOperations - kNotCounted)) / static_cast<double>(counted);
}

TEST(rail_load, rails_get_parts_in_proportion_to_their_rates) {
    constexpr std::uint64_t kBytes = 16 << 20;
    EXPECT_GT(rate_over({1, 1}, kBytes), 1.99);
    EXPECT_GT(rate_over({1, 3}, kBytes), 0.95 * 4);
    EXPECT_GT(rate_over({3, 1}, kBytes), 0.95 * 4);
    EXPECT_GT(rate_over({1, 2}, kBytes), 0.9 * 3);
    EXPECT_GT(rate_over({0.1, 0.4, 0.7}, kBytes), 0.9 * 1.2);
    EXPECT_GT(rate_over({1, 1.3}, kBytes), 0.85 * 2.3);  // similar rails: one piece each
    EXPECT_GT(rate_over({1, 10}, kBytes), 0.9 * 11);
}

TEST(rail_load, equal_rails_get_one_piece_each) {
    op::RailLoad loads[3];
    EXPECT_EQ(op::share_of(loads, 7, 3 << 20, kMost), 1u << 20);
    for (op::RailLoad &load : loads)
        load.rate = 2;
    EXPECT_EQ(op::share_of(loads, 7, 3 << 20, kMost), 1u << 20);
    loads[1].rate = 1;
    EXPECT_EQ(op::share_of(loads, 7, 6 << 20, kMost), 6u * (1 << 20) / 24);
    EXPECT_EQ(op::share_of(loads, 5, 6 << 20, kMost), 3u << 20) << "a slow rail that is not usable";
}

TEST(rail_load, equal_rails_get_equal_parts_even_if_each_has_several) {
    op::RailLoad loads[4];
    EXPECT_EQ(op::share_of(loads, 3, 12 << 20, 4 << 20), 3u << 20);
    EXPECT_EQ(op::share_of(loads, 15, 20 << 20, 4 << 20), 5u << 19);
    EXPECT_EQ(op::share_of(loads, 3, (8 << 20) + 2, 4 << 20), (2u << 20) + 64);
    loads[0].rate = 1;
    loads[1].rate = 3;
    EXPECT_EQ(op::share_of(loads, 3, 1 << 30, 4 << 20), 1u << 19);
}

// Two rails for operations of 1 MiB: one part each, or more.
class Shared {
  public:
    // Each part takes its time at `rates`. Returns whether the operation has equal parts.
    bool is_divided_evenly(const double (&rates)[2]) {
        constexpr std::uint64_t kBytes = 1 << 20;
        const bool is_even = op::share_of(m_loads, 3, kBytes, kMost) == kBytes / 2;
        for (int rail = 0; rail < 2; ++rail) {
            op::note_submitted(m_loads[rail], kBytes / 2, m_now);
            op::note_done(m_loads[rail], kBytes / 2, true,
                          m_now + static_cast<std::int64_t>(kBytes / 2 / rates[rail]));
        }
        m_now += 10'000'000;
        return is_even;
    }

  private:
    op::RailLoad m_loads[2];
    std::int64_t m_now = 1;
};

// Broken by parts that follow the momentary load by others: it will have changed at the next
// operation.
TEST(rail_load, equal_rails_stay_equal_with_occasional_other_traffic) {
    constexpr double kKinds[][2] = {{1, 1}, {0.5, 1}, {1, 0.5}, {0.5, 1}, {0.5, 0.5}};
    Shared shared;
    std::mt19937 draws(1);
    int evenly = 0;
    for (int i = 0; i < 1000; ++i)
        evenly += shared.is_divided_evenly(kKinds[draws() % std::size(kKinds)]) ? 1 : 0;
    EXPECT_GT(evenly, 950);
}

TEST(rail_load, a_rail_that_stays_slower_soon_gets_less) {
    Shared shared;
    for (int i = 0; i < 20; ++i)
        EXPECT_TRUE(shared.is_divided_evenly({1, 1}));
    int evenly = 0;
    while (shared.is_divided_evenly({1, 0.25}))
        ++evenly;
    EXPECT_LT(evenly, 8);
}

// Broken by a rail that looked slow once and is never tried again.
TEST(rail_load, a_rail_that_was_idle_for_long_is_tried_again) {
    op::RailLoad loads[2];
    loads[0].rate = 1;
    loads[0].since_ns = 10'000'000'000;
    loads[1].rate = 0.001;
    loads[1].since_ns = 9'000'000'000;
    (void)op::share_of(loads, 3, 1 << 24, kMost);
    EXPECT_GT(loads[1].rate, 0) << "a second ago it was slow";
    loads[1].since_ns = 7'000'000'000;
    EXPECT_EQ(op::share_of(loads, 3, 1 << 24, kMost), 1u << 23);
    EXPECT_EQ(loads[1].rate, 0);
}

// Broken by a rate that includes a rail's idle time.
TEST(rail_load, an_idle_rail_does_not_count_as_slow) {
    op::RailLoad load;
    for (std::int64_t now = 1; now < 100; ++now) {
        op::note_submitted(load, 1 << 20, now * 1'000'000'000);
        op::note_done(load, 1 << 20, true, now * 1'000'000'000 + 1'000'000);
    }
    EXPECT_NEAR(load.rate, (1 << 20) / 1e6, 1e-3);
    EXPECT_EQ(load.large_out, 0u);
}

}  // namespace
}  // namespace sennit::test
