// Locks whose holder or keeper ends, with ranks as threads and on message paths, where the lock's
// words are a round trip away. tests/faults/ kills processes. Broken by a holder that stays in the
// lock's word, a death that is reported never or twice, or a wait that does not end.
#include <gtest/gtest.h>
#include <sennit/sennit.h>

#include <atomic>
#include <string>
#include <vector>

#include "job.hpp"

namespace sennit::test {
namespace {

constexpr int kRanks = 3;
constexpr int other_of(int one, int another) {
    return 3 - one - another;  // of the ranks 0, 1 and 2
}

// State that the ranks of one job share outside Sennit. A rank that waits for it makes progress.
struct Scene {
    std::atomic<int> made{0};  // ranks that have the lock's handle
    std::atomic<bool> held{false};
    std::atomic<bool> left{false};
    std::atomic<int> told{0};     // calls that returned SENNIT_ERR_OWNER_DIED
    std::atomic<int> entered{0};  // ranks that had the lock after the victim
    std::atomic<int> inside{-1};  // the rank with the lock
    std::atomic<int> through{0};
};

struct OneRank {
    Job &job;
    Scene &scene;
    int rank;
    sennit_gptr segment = SENNIT_GPTR_NULL;
    sennit_lock lock = SENNIT_LOCK_NULL;

    OneRank(Job &its_job, Scene &its_scene, int its_rank)
        : job(its_job), scene(its_scene), rank(its_rank) {
        sennit_status status = sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &segment);
        if (status == SENNIT_OK) status = sennit_lock_create(SENNIT_TEAM_WORLD, &lock);
        job.expect(status, "making a lock");
        if (status == SENNIT_OK) ++scene.made;
    }

    // In lockstep a waiting rank must make progress. False: the peer or this rank is lost.
    bool look(int peer) const {
        std::uint64_t word = 0;
        return sennit_get(&word, sennit_gptr_at(segment, peer), 8) == SENNIT_OK;
    }
    template <class Condition>
    void wait_for(int peer, const Condition &condition) const {
        const double end = sennit_wtime() + 60;
        while (!condition()) {
            (void)look(peer);
            if (sennit_wtime() < end) continue;
            job.note("rank " + std::to_string(rank) + " waits in vain");
            return;
        }
    }
    // The lock's first word, at rank 0, counts its changes: taking it and joining its queue are one
    // change each.
    void wait_for_changes(std::uint64_t least) const {
        std::uint64_t word = 0;
        const auto have_come = [&] {
            const sennit_gptr changes{0, lock.segment, 0};
            job.expect(sennit_atomic_fetch_u64(changes, &word), "sennit_atomic_fetch_u64");
            return (word >> 26) >= least;
        };
        wait_for(rank == 0 ? 1 : 0, have_come);
    }
    void acquire_first() const {
        job.expect(sennit_lock_acquire(lock, kLong), "the first acquire");
        scene.held = true;
    }
    void kill(int victim) const {
        transport::sim::World *world = transport::sim::hold_world(*current_rank());
        transport::sim::kill(*world, victim);
        transport::sim::release_world(world);
    }
    bool is_dead() const {
        transport::sim::World *world = transport::sim::hold_world(*current_rank());
        const bool found = transport::sim::is_dead(*world, rank);
        transport::sim::release_world(world);
        return found;
    }
    void be_inside(sennit_status status) const {
        if (scene.inside.exchange(rank) != -1) job.note("two ranks had the lock");
        if (status == SENNIT_ERR_OWNER_DIED) {
            ++scene.told;
        } else {
            job.expect(status, "an acquire after the victim");
            if (scene.told == 0) job.note("a rank had the lock before anybody was told");
        }
        (void)look(rank == 0 ? 1 : 0);
        ++scene.entered;
        if (scene.inside.exchange(-1) != rank) job.note("another rank came in meanwhile");
    }
    // One of the two survivors: takes the lock once and waits for the other one.
    void take_after(int victim) const {
        be_inside(sennit_lock_acquire(lock, kLong));
        job.expect(sennit_lock_release(lock), "sennit_lock_release");
        ++scene.through;
        wait_for(other_of(rank, victim), [&] { return scene.through == kRanks - 1; });
    }
};

std::string network(int seed, bool lockstep) {
    return "sim:rails=2+order=0+depth=4+delay=12+lockstep=" + std::to_string(lockstep ? 1 : 0) +
           "+seed=" + std::to_string(seed);
}

std::vector<std::string> all_paths() {
    std::vector<std::string> paths{"inproc", "mapped"};
    for (int seed = 1; seed <= 12; ++seed)
        paths.push_back(network(seed, seed % 4 != 0));
    return paths;
}

void expect_one_was_told(const Job &job, const Scene &scene, const std::string &which) {
    ASSERT_EQ(job.fault, "") << which;
    ASSERT_EQ(scene.told, 1) << which;
    ASSERT_EQ(scene.entered, kRanks - 1) << which;
}

TEST(lock_end, the_next_rank_gets_the_lock_of_a_killed_holder_with_owner_died) {
    for (int seed = 1; seed <= 24; ++seed) {
        Job job(kRanks, network(seed, seed % 4 != 0));
        Scene scene;
        const int victim = 1 + seed % 2;
        const bool in_queue = seed % 3 != 0;
        job.run(
            [&](int rank) {
                const OneRank one(job, scene, rank);
                if (rank == victim) {
                    one.acquire_first();
                    one.wait_for(0, [&] { return scene.made == kRanks; });
                    if (in_queue) one.wait_for_changes(kRanks);
                    one.kill(victim);
                    if (sennit_lock_release(one.lock) != SENNIT_ERR_PEER_LOST)
                        job.note("a rank that is cut off released the lock");
                    return;
                }
                one.wait_for(other_of(rank, victim), [&] { return scene.held.load(); });
                one.take_after(victim);
            },
            {SENNIT_ERR_PEER_LOST});
        expect_one_was_told(job, scene, "seed " + std::to_string(seed));
    }
}

TEST(lock_end, the_next_rank_gets_the_lock_of_a_finalized_holder_with_owner_died) {
    for (const std::string &path : all_paths()) {
        Job job(kRanks, path);
        Scene scene;
        const int victim = kRanks - 1;
        job.run(
            [&](int rank) {
                const OneRank one(job, scene, rank);
                if (rank == victim) return one.acquire_first();
                one.wait_for(1 - rank, [&] { return scene.held.load(); });
                // This barrier meets the holder's finalize, which may therefore return
                // SENNIT_ERR_ARG.
                job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
                one.take_after(victim);
            },
            {SENNIT_ERR_PEER_LOST, SENNIT_ERR_ARG});
        expect_one_was_told(job, scene, path);
    }
}

// Rank 0 keeps the lock's words, rank 1 holds it and cannot release it, rank 2 cannot get it.
void expect_lost(const OneRank &one, std::atomic<int> &lost) {
    if (one.rank == 1) {
        if (sennit_lock_release(one.lock) == SENNIT_ERR_PEER_LOST) ++lost;
    } else {
        int got = 9;
        if (sennit_lock_acquire(one.lock, kLong) == SENNIT_ERR_PEER_LOST) ++lost;
        if (sennit_lock_try(one.lock, &got) == SENNIT_ERR_PEER_LOST) ++lost;
        if (got != 9) one.job.note("a failed try wrote its output");
    }
    if (sennit_last_error()->peer != 0) one.job.note("the error does not name the keeper");
    ++one.scene.through;
    one.wait_for(other_of(one.rank, 0), [&] { return one.scene.through == kRanks - 1; });
}

TEST(lock_end, every_call_of_a_lock_is_peer_lost_after_its_keeper_died) {
    for (int seed = 1; seed <= 12; ++seed) {
        Job job(kRanks, network(seed, seed % 4 != 0));
        Scene scene;
        std::atomic<int> lost{0};
        job.run(
            [&](int rank) {
                const OneRank one(job, scene, rank);
                if (rank == 0) {
                    one.wait_for_changes(2);
                    return one.kill(0);
                }
                if (rank == 1) one.acquire_first();
                if (rank == 1) one.wait_for(2, [&] { return !one.look(0); });
                if (rank == 2) one.wait_for(1, [&] { return scene.held.load(); });
                expect_lost(one, lost);
            },
            {SENNIT_ERR_PEER_LOST});
        ASSERT_EQ(job.fault, "") << "seed " << seed;
        ASSERT_EQ(lost, 3) << "seed " << seed;
    }
}

TEST(lock_end, every_call_of_a_lock_is_peer_lost_after_its_keeper_left) {
    for (const std::string &path : all_paths()) {
        Job job(kRanks, path);
        Scene scene;
        std::atomic<int> lost{0};
        job.run(
            [&](int rank) {
                const OneRank one(job, scene, rank);
                if (rank == 1) one.acquire_first();
                job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "sennit_barrier");
                if (rank == 0) {
                    const bool is_reported = path == "inproc" || path == "mapped";
                    const sennit_status wanted = is_reported ? SENNIT_ERR_ARG : SENNIT_OK;
                    if (sennit_finalize() != wanted)
                        job.note("wrong status of the keeper's finalize");
                    scene.left = true;
                    return;
                }
                job.expect(sennit_barrier(SENNIT_TEAM_WORLD, kLong), "its last barrier");
                // Ranks of a process share mappings: a get now would read freed memory.
                one.wait_for(other_of(rank, 0), [&] { return scene.left.load(); });
                expect_lost(one, lost);
            },
            {SENNIT_ERR_PEER_LOST, SENNIT_ERR_STATE});
        ASSERT_EQ(job.fault, "") << path;
        ASSERT_EQ(lost, 3) << path;
    }
}

// Takes the lock in all forms and checks the result, also after the network has lost the victim.
class Visitor {
  public:
    Visitor(const OneRank &one, int victim, std::uint64_t seed)
        : one_(one), victim_(victim), state_(seed * 977 + static_cast<std::uint64_t>(one.rank)) {}

    // False: this rank is dead.
    bool visit() {
        const std::int64_t limits[] = {0, 20'000, 2'000'000, kLong};
        int got = 0;
        const std::uint64_t form = draw() % 5;
        sennit_status status = form == 4 ? sennit_lock_try(one_.lock, &got)
                                         : sennit_lock_acquire(one_.lock, limits[form]);
        if (form == 4 && status == SENNIT_OK && got == 0) return true;
        if (status == SENNIT_ERR_TIMEOUT) return true;
        if (dead(status)) return false;
        const int before = one_.scene.inside.exchange(one_.rank);
        if (status == SENNIT_ERR_OWNER_DIED) {
            ++one_.scene.told;
            if (before != -1 && before != victim_) one_.job.note("the rank inside is alive");
        } else {
            one_.job.expect(status, "a visit");
            if (before != -1) one_.job.note("two ranks had the lock, or a death was hidden");
        }
        for (std::uint64_t rounds = draw() % 4; rounds > 0; --rounds)
            if (dead(SENNIT_OK)) return false;
        if (one_.scene.inside.exchange(-1) != one_.rank) one_.job.note("another rank came in");
        status = sennit_lock_release(one_.lock);
        if (one_.rank == victim_ && status == SENNIT_ERR_PEER_LOST) return false;
        one_.job.expect(status, "a release");
        return true;
    }

  private:
    // In lockstep nothing happens between this call and the next. Operations that were complete
    // before the death are still handed to the rank, so a successful look() proves nothing.
    bool dead(sennit_status status) const {
        if (one_.rank != victim_) return false;
        return status == SENNIT_ERR_PEER_LOST || !one_.look(0) || one_.is_dead();
    }
    std::uint64_t draw() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return state_ >> 33;
    }

    const OneRank &one_;
    int victim_;
    std::uint64_t state_;
};

TEST(lock_end, a_lock_outlives_a_kill_at_any_step) {
    int told = 0;
    // The few kills under a sanitizer may miss every critical step: then more follow.
    const auto wanted = [&](int seed) {
        return seed <= SENNIT_TEST_KILLS || (told == 0 && seed <= 20 * SENNIT_TEST_KILLS);
    };
    for (int seed = 1; wanted(seed); ++seed) {
        const int victim = 1 + seed % 2;
        Job job(kRanks, network(seed, true) + "+kill=" + std::to_string(victim) + "@" +
                            std::to_string(3000 + 37 * seed));
        Scene scene;
        job.run(
            [&](int rank) {
                const OneRank one(job, scene, rank);
                if (one.lock.segment == 0) return;
                Visitor visitor(one, victim, static_cast<std::uint64_t>(seed));
                if (rank == victim) {
                    while (visitor.visit()) {
                    }
                    return;
                }
                const int other = other_of(rank, victim);
                for (bool after = false; !after;) {
                    after = !one.look(victim);
                    (void)visitor.visit();
                }
                ++scene.through;
                one.wait_for(other, [&] { return scene.through == kRanks - 1; });
            },
            {SENNIT_ERR_PEER_LOST});
        ASSERT_EQ(job.fault, "") << "seed " << seed;
        ASSERT_FALSE(job.counters.lockstep_broken) << "seed " << seed;
        ASSERT_LE(scene.told, 1) << "seed " << seed;
        told += scene.told;
    }
    // Otherwise no death ever happened at a critical step.
    EXPECT_GT(told, 0);
}

}  // namespace
}  // namespace sennit::test
