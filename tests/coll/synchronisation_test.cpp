// The synchronisations in frees, team calls, allocations, exchanges of regions and large barriers:
// after a timeout, the same call continues. Also a barrier that meets a finalize.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "../engine/job.hpp"
#include "runtime/detector.hpp"
#include "team/create.hpp"

namespace sennit::test {
namespace {

// Broken by a free that waits longer than SENNIT_TIMEOUT, or that starts anew when it is repeated.
TEST(synchronisation, a_timed_out_free_goes_on_when_called_again) {
    (void)setenv("SENNIT_TIMEOUT", "0.05", 1);
    Job job(2, "self,inproc");
    std::atomic<bool> may_come{false};
    job.run([&](int rank) {
        sennit_gptr gptr = SENNIT_GPTR_NULL;
        job.expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), "sennit_alloc");
        if (rank == 0) {
            if (sennit_free(gptr) != SENNIT_ERR_TIMEOUT) job.note("the free has not timed out");
            if (sennit_barrier(SENNIT_TEAM_WORLD, 0) != SENNIT_ERR_STATE)
                job.note("a barrier is accepted during a free");
        }
        if (rank == 0) may_come = true;
        while (!may_come)
            std::this_thread::yield();
        sennit_status status = SENNIT_ERR_TIMEOUT;
        while (status == SENNIT_ERR_TIMEOUT)
            status = sennit_free(gptr);
        job.expect(status, "sennit_free");
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
        if (sennit_free(gptr) != SENNIT_ERR_NOT_REGISTERED) job.note("the memory was not freed");
    });
    (void)unsetenv("SENNIT_TIMEOUT");
    EXPECT_EQ(job.fault, "");
}

// Broken by a destruction that waits longer than SENNIT_TIMEOUT in one of its two synchronisations,
// or that starts anew when it is repeated.
TEST(synchronisation, a_timed_out_destruction_goes_on_when_called_again) {
    (void)setenv("SENNIT_TIMEOUT", "0.05", 1);
    Job job(2, "self,inproc");
    std::atomic<int> timed_out{0};
    job.run([&](int rank) {
        sennit_team team = SENNIT_TEAM_NULL;
        job.expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), "sennit_team_split");
        // Rank 0 times out in the first synchronisation, and then rank 1 in the second one.
        while (timed_out < rank)
            std::this_thread::yield();
        if (sennit_team_destroy(team) != SENNIT_ERR_TIMEOUT)
            job.note("a synchronisation has not timed out");
        if (sennit_barrier(team, 0) != SENNIT_ERR_STATE)
            job.note("a barrier is accepted during a destruction");
        ++timed_out;
        while (timed_out < 2)
            std::this_thread::yield();
        job.expect(sennit_team_destroy(team), "sennit_team_destroy");
        if (sennit_team_destroy(team) != SENNIT_ERR_ARG) job.note("the team was not destroyed");
        job.expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), "the slot again");
        job.expect(sennit_barrier(team, kLong), "sennit_barrier");
        job.expect(sennit_team_destroy(team), "sennit_team_destroy");
    });
    (void)unsetenv("SENNIT_TIMEOUT");
    EXPECT_EQ(job.fault, "");
}

// Waits until rank 0, whose object is `first`, has arrived in the next synchronisation of the
// world.
void await_synchronisation(Rank &first) {
    const team::Team &world = team::world_of(first);
    const std::uint64_t epoch = team::world_of(*current_rank()).epoch + 1;
    // relaxed: only the arrival counts.
    while (world.own->arrived.epoch.load(std::memory_order_relaxed) < epoch)
        std::this_thread::yield();
}

// Broken by a creation whose vote waits longer than SENNIT_TIMEOUT, or that starts anew when it is
// repeated.
TEST(synchronisation, a_creation_with_a_timed_out_vote_goes_on_when_called_again) {
    (void)setenv("SENNIT_TIMEOUT", "0.4", 1);
    Job job(2, "self,inproc");
    std::atomic<Rank *> first{nullptr};
    job.run([&](int rank) {
        sennit_team team = SENNIT_TEAM_NULL;
        if (rank == 0) first = current_rank();
        while (first == nullptr)
            std::this_thread::yield();
        if (rank == 1) {
            await_synchronisation(*first);
            // Rank 0 has proposed and cannot take a slot.
            const team::RegistryLock lock(*first);
            if (sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team) != SENNIT_ERR_TIMEOUT)
                job.note("the vote has not timed out");
            if (sennit_team_split(SENNIT_TEAM_WORLD, 1, 0, &team) != SENNIT_ERR_STATE ||
                sennit_barrier(SENNIT_TEAM_WORLD, 0) != SENNIT_ERR_STATE)
                job.note("another call is accepted during a creation");
        }
        job.expect(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team), "sennit_team_split");
        job.expect(sennit_barrier(team, kLong), "sennit_barrier");
        job.expect(sennit_team_destroy(team), "sennit_team_destroy");
    });
    (void)unsetenv("SENNIT_TIMEOUT");
    EXPECT_EQ(job.fault, "");
}

// Broken by an allocation that does not time out, does not name the late rank, or leaves something
// behind: the next allocation would differ between the ranks.
TEST(synchronisation, a_timed_out_allocation_names_the_late_rank_and_leaves_nothing) {
    (void)setenv("SENNIT_TIMEOUT", "0.4", 1);
    Job job(3, "self,inproc");
    std::atomic<int> timed_out{0};
    job.run([&](int rank) {
        sennit_gptr gptr = SENNIT_GPTR_NULL;
        while (rank == 2 && timed_out < 2)
            std::this_thread::yield();
        if (rank != 2) {
            if (sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr) != SENNIT_ERR_TIMEOUT)
                job.note("the allocation has not timed out");
            if (rank == 0 && sennit_last_error()->peer != 2) job.note(sennit_last_error()->text);
            if (sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr) != SENNIT_ERR_STATE)
                job.note("a second allocation is accepted during the first");
            ++timed_out;
            // The second barrier meets the late rank's vote, which is another collective call.
            job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "the rest of the synchronisation");
            job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
        } else if (sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr) != SENNIT_ERR_ARG) {
            job.note("the late rank gets no error");
        }
        job.expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), "sennit_alloc");
        const std::uint64_t word = static_cast<std::uint64_t>(rank) + 5;
        job.expect(sennit_put(sennit_gptr_at(gptr, (rank + 1) % 3), &word, 8), "sennit_put");
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
        if (*static_cast<std::uint64_t *>(sennit_ptr(gptr)) != (word - 5 + 2) % 3 + 5)
            job.note("the ranks have different memory");
        job.expect(sennit_free(gptr), "sennit_free");
    });
    (void)unsetenv("SENNIT_TIMEOUT");
    EXPECT_EQ(job.fault, "");
}

// Broken by an allocation whose vote waits longer than SENNIT_TIMEOUT, or that starts anew when it
// is repeated.
TEST(synchronisation, an_allocation_with_a_timed_out_vote_completes_when_called_again) {
    (void)setenv("SENNIT_TIMEOUT", "1", 1);
    Job job(2, "self,inproc");
    std::atomic<Rank *> first{nullptr};
    std::atomic<std::uint32_t> segments[2] = {};
    job.run([&](int rank) {
        sennit_gptr gptr = SENNIT_GPTR_NULL;
        if (rank == 0) first = current_rank();
        while (first == nullptr)
            std::this_thread::yield();
        if (rank == 1) {
            await_synchronisation(*first);
            // Rank 0 has made its piece and cannot attach rank 1's.
            const ColdLock lock(*first);
            if (sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr) != SENNIT_ERR_TIMEOUT ||
                sennit_last_error()->peer != 0)
                job.note("the vote has not timed out, or does not name the late rank");
            if (sennit_alloc(SENNIT_TEAM_WORLD, 128, 0, 0, &gptr) != SENNIT_ERR_STATE ||
                sennit_barrier(SENNIT_TEAM_WORLD, 0) != SENNIT_ERR_STATE)
                job.note("another call is accepted during an allocation");
        }
        job.expect(sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &gptr), "sennit_alloc");
        segments[rank] = gptr.segment;
        const std::uint64_t word = static_cast<std::uint64_t>(rank) + 5;
        job.expect(sennit_put(sennit_gptr_at(gptr, 1 - rank), &word, 8), "sennit_put");
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
        if (segments[0] != segments[1] ||
            *static_cast<std::uint64_t *>(sennit_ptr(gptr)) != 11 - word)
            job.note("the ranks have different memory");
        job.expect(sennit_free(gptr), "sennit_free");
    });
    (void)unsetenv("SENNIT_TIMEOUT");
    EXPECT_EQ(job.fault, "");
}

// Broken by an exchange of regions whose vote waits longer than SENNIT_TIMEOUT, or that starts anew
// when it is repeated.
TEST(synchronisation, an_exchange_of_regions_with_a_timed_out_vote_goes_on_when_called_again) {
    (void)setenv("SENNIT_TIMEOUT", "0.4", 1);
    Job job(2, "self,inproc");
    std::atomic<Rank *> first{nullptr};
    static std::uint64_t memory[2][8];
    job.run([&](int rank) {
        sennit_region mine = SENNIT_REGION_NULL;
        sennit_region all[2] = {};
        job.expect(sennit_register(memory[rank], sizeof memory[rank], 0, &mine), "sennit_register");
        if (rank == 0) first = current_rank();
        while (first == nullptr)
            std::this_thread::yield();
        if (rank == 1) {
            await_synchronisation(*first);
            // Rank 0 has given its region and cannot attach rank 1's.
            const ColdLock lock(*first);
            if (sennit_region_attach(SENNIT_TEAM_WORLD, mine, all) != SENNIT_ERR_TIMEOUT)
                job.note("the vote has not timed out");
            if (sennit_region_attach(SENNIT_TEAM_WORLD, SENNIT_REGION_NULL, all) !=
                    SENNIT_ERR_STATE ||
                sennit_barrier(SENNIT_TEAM_WORLD, 0) != SENNIT_ERR_STATE)
                job.note("another call is accepted during an exchange");
        }
        job.expect(sennit_region_attach(SENNIT_TEAM_WORLD, mine, all), "sennit_region_attach");
        const std::uint64_t word = 5 + static_cast<std::uint64_t>(rank);
        job.expect(sennit_put(all[1 - rank].gptr, &word, sizeof word), "sennit_put");
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
        if (memory[rank][0] != 6 - static_cast<std::uint64_t>(rank)) job.note("a wrong region");
        job.expect(sennit_deregister(mine), "sennit_deregister");
    });
    (void)unsetenv("SENNIT_TIMEOUT");
    EXPECT_EQ(job.fault, "");
}

// Broken by a barrier in clusters that counts a rank twice after a timeout, does not name the late
// rank, or lets a rank leave before it sees the stores that all made before it.
TEST(synchronisation, a_timed_out_barrier_of_many_ranks_names_the_late_one_and_goes_on) {
    constexpr int kRanks = 20;
    Job job(kRanks, "self,inproc");
    std::atomic<int> timed_out{0};
    std::uint64_t words[kRanks] = {};
    job.run([&](int rank) {
        const bool is_late = rank == kRanks - 1;
        if (!is_late) {
            if (sennit_barrier(SENNIT_TEAM_WORLD, 1'000'000) != SENNIT_ERR_TIMEOUT)
                job.note("the barrier has not timed out");
            ++timed_out;
        }
        // When all other ranks have timed out, they have all arrived.
        while (timed_out < kRanks - 1)
            std::this_thread::yield();
        if (rank == 0) {
            (void)sennit_barrier(SENNIT_TEAM_WORLD, 0);
            if (sennit_last_error()->peer != kRanks - 1) job.note(sennit_last_error()->text);
            ++timed_out;
        }
        while (is_late && timed_out < kRanks)
            std::this_thread::yield();
        job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
        for (std::uint64_t round = 1; round <= 50; ++round) {
            words[rank] = round;
            job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
            for (const std::uint64_t word : words)
                if (word != round) job.note("a rank has left a barrier early");
            job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
        }
    });
    EXPECT_EQ(job.fault, "");
}

// Broken by a barrier in clusters that waits for a lost rank.
TEST(synchronisation, a_barrier_of_many_ranks_ends_when_one_is_gone) {
    constexpr int kRanks = 20;
    Job job(kRanks, "self,inproc");
    job.run(
        [&](int rank) {
            if (rank == 7) return;
            note_gone(*current_rank(), 7, Gone::died);
            if (sennit_barrier(SENNIT_TEAM_WORLD, kLong) != SENNIT_ERR_PEER_LOST ||
                sennit_last_error()->peer != 7)
                job.note(sennit_last_error()->text);
        },
        {SENNIT_ERR_PEER_LOST, SENNIT_ERR_ARG});
    EXPECT_EQ(job.fault, "");
}

// Broken by a rank that mistakes a peer's sennit_barrier for its sennit_finalize.
TEST(synchronisation, a_barrier_that_meets_a_finalize_is_an_error_of_one_side) {
    Job job(2, "self,inproc");
    sennit_status met = SENNIT_OK;
    job.run(
        [&](int rank) {
            if (rank == 1) job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
            if (rank == 0) met = sennit_finalize();
        },
        {SENNIT_ERR_STATE, SENNIT_ERR_PEER_LOST});
    EXPECT_EQ(job.fault, "");
    EXPECT_EQ(met, SENNIT_ERR_ARG);
}

}  // namespace
}  // namespace sennit::test
