// Tables shared by the ranks of a node. Two ranks of a node run in one process; their memory files
// are real, and each maps the other's control block.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <vector>

#include "memory/segments.hpp"
#include "runtime/watch/table.hpp"
#include "transport/control_view.hpp"
#include "transport/fabric/cards.hpp"

namespace sennit::transport::fabric {
namespace {

constexpr int kSize = 5;  // ranks 2 to 4 are on another node

struct NodeTables : testing::Test {
    struct OneRank {
        Rank rank;
        NodeRoom room;  // declared first: the members below lie in it
        Cards cards;
        NodeTable names;
    };
    std::unique_ptr<OneRank> of[2];

    void SetUp() override {
        for (int r = 0; r < 2; ++r) {
            of[r] = std::make_unique<OneRank>();
            Rank &rank = of[r]->rank;
            rank.world_rank = r;
            rank.size = kSize;
            ASSERT_TRUE(rank.peers.open(kSize));
            for (int other = 0; other < kSize; ++other) {
                Peer &peer = rank.peers.make(other);
                peer.same_node = other < 2;
                peer.first_of_node = other < 2 ? 0 : 2;
            }
            ASSERT_EQ(memory::segments_open(rank, r, kSize), SENNIT_OK);
        }
        std::vector<Address> addresses(kSize);
        for (int r = 0; r < kSize; ++r) {
            RailCard card{};
            card.machine = r < 2 ? 7 : 8;
            card.port = static_cast<std::uint16_t>(1000 + r);
            card.watch_port = static_cast<std::uint16_t>(2000 + r);
            std::memcpy(addresses[static_cast<std::size_t>(r)].bytes, &card, sizeof card);
        }
        for (const auto &one : of)
            ASSERT_TRUE(one->cards.fill({addresses.data(), sizeof(Address), kSize}));
    }
    void meet() {
        for (int r = 0; r < 2; ++r) {
            Peer &other = of[r]->rank.peers[1 - r];
            other.memory_file = dup(of[1 - r]->rank.memory_file);
            ASSERT_EQ(control_view_open(of[r]->rank, 1 - r).code, Reason::Code::taken);
        }
    }
    void publish() { of[0]->room.publish(of[0]->rank, {&of[0]->cards.places(), &of[0]->names}); }
    void take() { of[1]->room.map_published(of[1]->rank, {&of[1]->cards.places(), &of[1]->names}); }
    std::uint64_t published() {
        return watch::table_in(*of[0]->rank.control, kSize).head->tables_offset;
    }
    // True if the rank uses its own table.
    bool has_own(int r) { return of[r]->cards.places().to_fill() != nullptr; }
    void expect_all_cards() {
        for (const auto &one : of)
            for (int r = 0; r < kSize; ++r) {
                const RailCard card = one->cards.of(r);
                EXPECT_EQ(card.machine, r < 2 ? 7u : 8u);
                EXPECT_EQ(card.port, 1000 + r);
                EXPECT_EQ(card.watch_port, 2000 + r);
            }
    }

    void TearDown() override {
        for (int r = 0; r < 2; ++r) {
            Rank &rank = of[r]->rank;
            Peer &other = rank.peers[1 - r];
            if (other.control != nullptr) control_view_close(rank, 1 - r);
            if (other.memory_file >= 0) (void)close(other.memory_file);
        }
        for (const auto &one : of) {
            memory::segments_close(one->rank, true);
            one->rank.peers.close();
        }
    }
};

TEST_F(NodeTables, tables_lie_once_in_the_memory_of_the_lowest_rank) {
    meet();
    for (const auto &one : of) {
        ASSERT_TRUE(one->names.make(100));
        one->names.to_fill()[99] = std::byte{5};
    }
    publish();
    EXPECT_FALSE(has_own(0));
    take();
    EXPECT_FALSE(has_own(1));
    expect_all_cards();
    for (const auto &one : of)
        EXPECT_EQ(one->names.begin()[99], std::byte{5});
    // Both ranks use the same memory, not a copy on the heap.
    const_cast<std::byte *>(of[0]->names.begin())[98] = std::byte{6};
    EXPECT_EQ(of[1]->names.begin()[98], std::byte{6});
}

TEST_F(NodeTables, a_missing_table_is_missing_on_both_ranks) {
    meet();
    publish();
    take();
    EXPECT_FALSE(of[0]->names.exists());
    EXPECT_FALSE(of[1]->names.exists());
    expect_all_cards();
}

TEST_F(NodeTables, a_rank_that_does_not_map_the_lowest_rank_keeps_its_own) {
    meet();
    control_view_close(of[1]->rank, 0);
    publish();
    take();
    EXPECT_TRUE(has_own(1));
    expect_all_cards();
}

TEST_F(NodeTables, a_rank_earlier_than_the_lowest_one_keeps_its_own) {
    meet();
    take();
    publish();
    EXPECT_TRUE(has_own(1));
    expect_all_cards();
}

// The other rank has another number of rails.
TEST_F(NodeTables, tables_of_another_length_are_not_taken) {
    meet();
    publish();
    ASSERT_TRUE(of[1]->names.make(memory::kLargestSmallPage));
    take();
    EXPECT_TRUE(has_own(1));
    expect_all_cards();
}

TEST_F(NodeTables, a_rank_without_others_of_its_node_keeps_its_own) {
    publish();
    EXPECT_EQ(published(), 0u);
    EXPECT_TRUE(has_own(0));
}

}  // namespace
}  // namespace sennit::transport::fabric
