// Results of the start-up between nodes that follow from the cards alone, without a network.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "runtime/watch/watch.hpp"
#include "transport/fabric/cards.hpp"

namespace sennit {
namespace {

using transport::Address;
using transport::NodeTrial;
using transport::fabric::Cards;
using transport::fabric::RailCard;

// Broken by a trial in one direction only, or by nodes that no chain of trials connects.
TEST(Start, neighbours_are_mutual_and_few_and_join_all_nodes) {
    for (std::size_t count : {1u, 2u, 3u, 16u, 17u, 64u, 78u, 781u}) {
        std::vector<bool> is_joined(count, false);
        std::vector<std::size_t> to_look{0};
        is_joined[0] = true;
        for (std::size_t i = 0; i < to_look.size(); ++i) {
            std::size_t neighbours = 0;
            for (std::size_t other = 0; other < count; ++other) {
                if (other == to_look[i]) continue;
                const bool is_one = watch::are_neighbours(to_look[i], other, count);
                ASSERT_EQ(is_one, watch::are_neighbours(other, to_look[i], count)) << count;
                neighbours += is_one ? 1 : 0;
                if (!is_one || is_joined[other]) continue;
                is_joined[other] = true;
                to_look.push_back(other);
            }
            EXPECT_TRUE(count > 16 || neighbours == count - 1);
            EXPECT_LE(neighbours, 20u);
        }
        EXPECT_EQ(to_look.size(), count);
    }
}

// Broken by ranks of a node that share ports.
TEST(Start, each_rank_gets_its_own_card_back) {
    std::vector<Address> addresses(64);
    const auto card_for = [](std::size_t rank) {
        RailCard card{};
        card.machine = rank / 8 % 3;  // three nodes, each several times
        card.addresses[0] = static_cast<std::uint32_t>(10 + card.machine);
        card.interfaces = rank == 5 ? 0 : 1;
        card.port = static_cast<std::uint16_t>(1000 + rank);
        card.watch_port = static_cast<std::uint16_t>(2000 + rank);
        return card;
    };
    for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
        const RailCard card = card_for(rank);
        std::memcpy(addresses[rank].bytes, &card, sizeof card);
    }
    Cards cards;
    ASSERT_TRUE(cards.fill({addresses.data(), sizeof addresses[0], addresses.size()}));
    for (std::size_t rank = 0; rank < addresses.size(); ++rank) {
        const RailCard card = card_for(rank);
        const RailCard kept = cards.of(static_cast<int>(rank));
        EXPECT_EQ(std::memcmp(&card, &kept, sizeof card), 0) << rank;
    }
}

// Broken by treating a rank without a trial as one that has reached nothing.
TEST(Start, a_rank_without_a_trial_does_not_count) {
    NodeTrial both;
    both.add(NodeTrial{});
    EXPECT_FALSE(both.is_tried());
    both.add(NodeTrial{0x7, 0});
    both.add(NodeTrial{});
    EXPECT_EQ(both.rails, 0x7);
    EXPECT_TRUE(both.is_tried());
    both.add(NodeTrial{0x5, 111});
    both.add(NodeTrial{0x6, 0});
    EXPECT_EQ(both.rails, 0x4);
    EXPECT_EQ(both.error, 111);
}

// Broken by treating completion data as usable if it comes in one direction only.
TEST(Start, a_rail_brings_data_only_if_it_does_in_both_directions) {
    NodeTrial both;
    NodeTrial found{0x3, 0};
    both.add(found);
    EXPECT_EQ(both.dataless, 0);
    found.dataless = 0x2;
    EXPECT_FALSE(found.is_like(both)) << "nodes that differ in it alone would not be told apart";
    both.add(found);
    both.add(NodeTrial{0x3, 0});
    EXPECT_EQ(both.dataless, 0x2);
    EXPECT_EQ(both.rails, 0x3);
}

}  // namespace
}  // namespace sennit
