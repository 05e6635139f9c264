// The ranks that a wait checks. Broken by a wait for any rank that goes through all peers, by a
// death that it is not told of, or by treating a rank that has left as dead.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "../engine/ranks.hpp"
#include "base/process_age.hpp"
#include "runtime/wait.hpp"

namespace sennit::test {
namespace {

// A rank with two peers on its node, and many on others. Each peer has a living process, so that
// checks of it are recorded.
class Detector : public testing::Test {
  protected:
    static constexpr int kPeers = 1000;
    static constexpr int kMates = 3;  // includes this rank
    static constexpr std::int64_t kSecond = 1'000'000'000;

    Detector() : ranks(1) {
        rank().peers.close();
        EXPECT_TRUE(rank().peers.open(kPeers));
        rank().size = kPeers;
        for (int r = 0; r < kPeers; ++r) {
            Peer &peer = rank().peers.make(r);
            peer.same_node = r < kMates;
            peer.process_id = getpid();
            peer.start_ticks = process_start_ticks(getpid());
        }
        rank().mates = mates_;
        rank().mate_count = kMates - 1;
    }
    ~Detector() override { rank().mates = nullptr; }

    Rank &rank() { return ranks[0]; }
    int find() {
        const int anybody = kAnyPeer;
        return find_lost(rank(), &anybody);
    }
    int looks(int first, int end) {
        int count = 0;
        for (int r = first; r < end; ++r)
            count += rank().peers[r].proc_read_ns != 0 ? 1 : 0;
        return count;
    }

    Ranks ranks;

  private:
    int mates_[kMates - 1] = {1, 2};
};

TEST_F(Detector, a_wait_for_any_rank_looks_at_its_own_node_only) {
    ASSERT_NE(rank().peers[1].start_ticks, 0u) << "no /proc";
    const sennit_status status =
        wait_until(rank(), Deadline::after(20'000'000), kAnyPeer, [] { return false; });
    EXPECT_EQ(status, SENNIT_ERR_TIMEOUT);
    EXPECT_EQ(looks(0, kMates), kMates - 1);
    EXPECT_EQ(looks(kMates, kPeers), 0);
}

TEST_F(Detector, a_noted_death_ends_a_wait_for_any_rank_and_a_departure_does_not) {
    note_gone(rank(), 700, Gone::left);
    EXPECT_EQ(find(), -1);
    EXPECT_EQ(count_ended(rank()), 1u);
    note_gone(rank(), 800, Gone::died);
    note_gone(rank(), 600, Gone::died);
    note_gone(rank(), 800, Gone::left);
    EXPECT_EQ(count_ended(rank()), 3u) << "the end of a peer is counted once";
    EXPECT_EQ(find(), 800);
    EXPECT_EQ(known_gone(rank(), 800), Gone::died);
    EXPECT_EQ(wait_until(rank(), Deadline::after(kSecond), kAnyPeer, [] { return false; }),
              SENNIT_ERR_PEER_LOST);
    EXPECT_EQ(sennit_last_error()->peer, 800);
}

TEST_F(Detector, a_rank_of_the_node_that_has_died_is_found_by_looking) {
    rank().peers[2].start_ticks -= 1;  // now another process has its number
    EXPECT_EQ(find(), 2);
    EXPECT_EQ(find(), 2);
}

// The launcher's connection is closed.
TEST_F(Detector, the_end_of_the_launcher_is_the_end_of_ranks_on_other_nodes) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    rank().launcher_fd = ends[0];
    rank().mate_count = 0;
    EXPECT_EQ(find(), -1);
    EXPECT_EQ(looks(0, kPeers), 0);
    (void)close(ends[1]);
    EXPECT_GE(find(), 0);
    EXPECT_EQ(known_gone(rank(), kPeers - 1), Gone::died);
    (void)close(ends[0]);
    rank().launcher_fd = -1;
}

}  // namespace
}  // namespace sennit::test
