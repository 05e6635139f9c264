// Counts the words of other members that a barrier of a large team touches. One thread takes the
// steps of all ranks in turn, protects the words of all other members, and counts the faults.
#include <gtest/gtest.h>
#include <sennit/sennit.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

#include "team/cluster.hpp"

namespace sennit::test {
namespace {

std::byte *page_of(const void *address) {
    const auto bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    return reinterpret_cast<std::byte *>(reinterpret_cast<std::uintptr_t>(address) / bytes * bytes);
}

void protect(std::byte *page, int protection) {
    ASSERT_EQ(mprotect(page, static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), protection), 0);
}

std::atomic<std::size_t> touches{0};

void count_touch(int, siginfo_t *info, void *) {
    ++touches;
    if (mprotect(page_of(info->si_addr), static_cast<std::size_t>(sysconf(_SC_PAGESIZE)),
                 PROT_READ | PROT_WRITE) != 0)
        _exit(9);
}

// A rank with only the peer data that teams need. Its control block contains only the first pages.
struct MadeUp {
    Rank rank;
    team::Team *team = nullptr;
};

constexpr std::uint32_t kSlot = 3;  // its words share no page with the doorbell
constexpr std::size_t kControlBytes =
    offsetof(ControlBlock, first_teams) + sizeof(TeamSync) * kSlot;

// Ranks of one node; `numas` has the NUMA node of each. One thread takes the steps of all ranks.
class MadeUpTeam {
  public:
    explicit MadeUpTeam(const std::vector<int> &numas) : numas_(numas) {
        std::vector<int> world_ranks;
        std::vector<ControlBlock *> blocks;
        for (std::size_t i = 0; i < numas.size(); ++i) {
            world_ranks.push_back(static_cast<int>(i));
            blocks.push_back(static_cast<ControlBlock *>(
                mmap(nullptr, kControlBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)));
        }
        const auto size = static_cast<std::uint32_t>(numas.size());
        for (std::uint32_t i = 0; i < size; ++i) {
            ranks_.push_back(std::make_unique<MadeUp>());
            MadeUp &mine = *ranks_.back();
            EXPECT_TRUE(mine.rank.peers.open(size));
            for (std::size_t peer = 0; peer < size; ++peer) {
                Peer &made = mine.rank.peers.make(static_cast<int>(peer));
                made.control = blocks[peer];
                made.numa = numas[peer];
            }
            mine.rank.world_rank = static_cast<int>(i);
            mine.rank.control = blocks[i];
            EXPECT_EQ(team::make(mine.rank, kSlot, {size, i, world_ranks.data()}, &mine.team),
                      SENNIT_OK);
            team::agree_on_reach(mine.rank, *mine.team, {true, true, true});
        }
    }
    ~MadeUpTeam() {
        for (const auto &one : ranks_) {
            team::drop(*one->team);
            std::free(one->team);
            (void)munmap(one->rank.control, kControlBytes);
            one->rank.peers.close();
        }
    }
    MadeUpTeam(const MadeUpTeam &) = delete;
    MadeUpTeam &operator=(const MadeUpTeam &) = delete;

    // Runs a barrier in which the last rank arrives last; returns how many words of other members
    // all ranks touch.
    std::size_t touches_of_barrier() {
        struct sigaction action {};
        struct sigaction before {};
        action.sa_sigaction = count_touch;
        action.sa_flags = SA_SIGINFO;
        EXPECT_EQ(sigaction(SIGSEGV, &action, &before), 0);
        touches = 0;
        for (const bool is_first : {true, false}) {
            for (const auto &one : ranks_) {
                const bool is_last = one == ranks_.back();
                if (!is_first && is_last) continue;
                EXPECT_EQ(step(*one), !is_first || is_last);
            }
        }
        EXPECT_EQ(sigaction(SIGSEGV, &before, nullptr), 0);
        for (const auto &one : ranks_) {
            ++one->team->epoch;
            one->team->purpose = team::Purpose::none;
        }
        return touches;
    }

    // Returns the number of clusters; each must be on one NUMA node.
    std::size_t clusters() const {
        for (std::size_t i = 0; i < ranks_.size(); ++i) {
            const team::Team &team = *ranks_[i]->team;
            if (team.cluster_count == 0) continue;
            const team::Cluster &own = team.clusters[team.cluster];
            EXPECT_EQ(own.numa, numas_[i]);
            EXPECT_LE(own.size, team::kMostOfCluster);
        }
        return ranks_[0]->team->cluster_count;
    }

  private:
    bool step(MadeUp &mine) {
        for (const auto &one : ranks_)
            if (one.get() != &mine) protect(page_of(one->team->own), PROT_NONE);
        const bool arrived = team::try_synchronise(*mine.team, team::Purpose::barrier);
        for (const auto &one : ranks_)
            protect(page_of(one->team->own), PROT_READ | PROT_WRITE);
        return arrived;
    }

    std::vector<int> numas_;
    std::vector<std::unique_ptr<MadeUp>> ranks_;
};

// Broken by a large team whose members read every member's line: 64 ranks then touch 4032 words.
TEST(clusters, a_barrier_of_64_ranks_touches_two_members_words_a_rank) {
    MadeUpTeam ranks(std::vector<int>(64, -1));
    EXPECT_EQ(ranks.clusters(), 4u);
    for (int i = 0; i < 3; ++i)
        EXPECT_LE(ranks.touches_of_barrier(), 2u * 64);
}

// Broken by clusters that ignore NUMA nodes: neighbours in the team run on different nodes.
TEST(clusters, eight_nodes_of_16_processors_are_eight_clusters) {
    std::vector<int> numas;
    for (int rank = 0; rank < 128; ++rank)
        numas.push_back(rank % 8);
    MadeUpTeam ranks(numas);
    EXPECT_EQ(ranks.clusters(), 8u);
    for (int i = 0; i < 3; ++i)
        EXPECT_LE(ranks.touches_of_barrier(), 2u * 128);
}

// Broken by a small team that pays for counters: its members read all lines.
TEST(clusters, a_team_of_16_ranks_has_no_clusters) {
    MadeUpTeam ranks(std::vector<int>(16, 0));
    EXPECT_EQ(ranks.clusters(), 0u);
    EXPECT_GE(ranks.touches_of_barrier(), 16u * 15);
}

}  // namespace
}  // namespace sennit::test
