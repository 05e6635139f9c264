// Locks: mutual exclusion, order, time limits, and errors of wrong use. tests/faults/ tests the
// death of a holder.
#include "harness.hpp"

using namespace conformance;

namespace {

constexpr std::int64_t kLong = 60 * kSecond;

sennit_lock make_lock(Ranks &test) {
    sennit_lock lock = SENNIT_LOCK_NULL;
    test.ok(sennit_lock_create(SENNIT_TEAM_WORLD, &lock));
    return lock;
}

// Called with the lock held. A get and a put change the word, so updates are lost if two ranks are
// inside.
void increment(Ranks &test, sennit_gptr word) {
    std::uint64_t value = 0;
    test.ok(sennit_get(&value, word, 8));
    ++value;
    test.ok(sennit_put(word, &value, 8));
}

}  // namespace

// Broken by two ranks inside at the same time, a lost wake-up, or a release that overtakes a put.
RANK_TEST(lock, one_rank_at_a_time_holds_a_lock_and_sees_earlier_writes, kAtomics) {
    const int rounds = test.quick ? 8 : 300;
    const sennit_gptr segment = test.allocate(64);
    const sennit_gptr word = sennit_gptr_at(segment, test.size - 1);
    const sennit_lock lock = make_lock(test);
    for (int i = 0; i < rounds; ++i) {
        test.ok(sennit_lock_acquire(lock, kLong));
        increment(test, word);
        test.ok(sennit_lock_release(lock));
    }
    test.barrier();
    std::uint64_t value = 0;
    test.ok(sennit_get(&value, word, 8));
    test.equal(value, static_cast<std::uint64_t>(rounds) * static_cast<std::uint64_t>(test.size));
    test.barrier();
    test.ok(sennit_lock_destroy(lock));
    test.free(segment);
}

namespace {

// Tries to take the lock in a random form. Returns whether this rank has it.
bool take_somehow(Ranks &test, std::uint64_t step, sennit_lock lock) {
    const std::uint64_t form = test.own.below(4);
    const auto limit = static_cast<std::int64_t>(test.own.below(form == 1 ? 3000 : 300000));
    test.show("step " + std::to_string(step) + ": form " + std::to_string(form));
    int got = 0;
    if (form == 0) {
        test.ok(sennit_lock_try(lock, &got));
        return got != 0;
    }
    const sennit_status status = sennit_lock_acquire(lock, form == 3 ? kLong : limit);
    if (form != 3 && status == SENNIT_ERR_TIMEOUT) return false;
    test.ok(status);
    return true;
}

void run_program_of_two_locks(Ranks &test) {
    const std::uint64_t steps = test.quick ? 12 : 400;
    const sennit_gptr segment = test.allocate(128);
    const sennit_lock locks[2] = {make_lock(test), make_lock(test)};
    struct Counts {
        std::uint64_t of[2];
    };
    Counts mine{};
    const auto word_of = [&](std::size_t which) {
        return sennit_gptr_add(sennit_gptr_at(segment, static_cast<int>(which) % test.size),
                               static_cast<std::int64_t>(64 * which));
    };
    for (std::uint64_t step = 1; step <= steps; ++step) {
        if (!test.chosen.has(step)) continue;
        test.begin_step(step);
        const std::size_t which = test.own.below(2);
        if (!take_somehow(test, step, locks[which])) continue;
        increment(test, word_of(which));
        ++mine.of[which];
        test.ok(sennit_lock_release(locks[which]));
    }
    test.barrier();
    Counts all{};
    for (const Counts &theirs : test.tell_all(mine))
        for (std::size_t which = 0; which < 2; ++which)
            all.of[which] += theirs.of[which];
    for (std::size_t which = 0; which < 2; ++which) {
        std::uint64_t value = 0;
        test.ok(sennit_get(&value, word_of(which), 8));
        test.equal(value, all.of[which]);
    }
    test.barrier();
    for (const sennit_lock lock : locks)
        test.ok(sennit_lock_destroy(lock));
    test.free(segment);
}

}  // namespace

// Broken by a place in the queue that is given up and granted at the same moment, or by leftover
// tickets.
RANK_TEST(lock, random_programs_of_acquire_try_and_time_limits_exclude_each_other, kAtomics) {
    test.programs(1, [&] { run_program_of_two_locks(test); });
}

namespace {

// While the first member holds the lock, the others of a team of `size` join its queue one after
// the other. The lock's memory is at world rank `home`; `mine` is the caller's number. All ranks of
// the world call it.
void queue_up(Ranks &test, sennit_lock lock, int home, int mine, int size) {
    const sennit_gptr segment = test.allocate(64);
    const sennit_gptr served = sennit_gptr_at(segment, 0);
    const bool is_member = mine >= 0 && mine < size;
    if (mine == 0) test.ok(sennit_lock_acquire(lock, kLong));
    test.barrier();
    // Member r waits until r - 1 is in the queue: the lock's own word counts its changes.
    const sennit_gptr changes{home, lock.segment, 0};
    std::uint64_t before = 0;
    if (is_member) test.ok(sennit_atomic_fetch_u64(changes, &before));
    test.barrier();
    const auto wait_for_others = [&](int count) {
        std::uint64_t now = 0;
        do {
            test.ok(sennit_atomic_fetch_u64(changes, &now));
            test.ok(sennit_flush_all(kLong));
        } while ((now >> 26) - (before >> 26) < static_cast<std::uint64_t>(count));
    };
    std::int64_t place = -1;
    if (mine == 0) {
        wait_for_others(size - 1);
        test.ok(sennit_lock_release(lock));
    } else if (is_member) {
        wait_for_others(mine - 1);
        test.ok(sennit_lock_acquire(lock, kLong));
        test.ok(sennit_atomic_fetch_inc_i64(served, &place));
        test.ok(sennit_lock_release(lock));
        test.equal(place, mine - 1);
    }
    test.barrier();
    test.free(segment);
}

}  // namespace

// Broken by a lock without a fair queue: the ranks join in a known order while the lock is held.
RANK_TEST(lock, ranks_get_a_lock_in_the_order_of_arrival,
          kAtomics | kTwoRanks | kFreeThreads | kOnce) {
    const sennit_lock lock = make_lock(test);
    queue_up(test, lock, 0, test.rank, test.size);
    test.ok(sennit_lock_destroy(lock));
}

// Broken by a place in the queue, or a grant, that uses the rank in the world.
RANK_TEST(lock, ranks_of_a_team_get_a_lock_in_the_order_of_arrival,
          kAtomics | kTwoRanks | kFreeThreads | kOnce) {
    // Rank 1, then the ranks from the last down to 2: the first to wait has the highest rank.
    std::vector<int> ranks{1};
    for (int rank = test.size - 1; rank > 1; --rank)
        ranks.push_back(rank);
    sennit_team team{};
    test.ok(sennit_team_create(SENNIT_TEAM_WORLD, ranks.size(), ranks.data(), &team));
    sennit_lock lock = SENNIT_LOCK_NULL;
    if (test.rank != 0) test.ok(sennit_lock_create(team, &lock));
    const int mine = test.rank == 0 ? -1 : test.rank == 1 ? 0 : test.size - test.rank;
    queue_up(test, lock, 1, mine, test.size - 1);
    if (test.rank == 0) return;
    test.ok(sennit_lock_destroy(lock));
    test.ok(sennit_team_destroy(team));
}

// Broken by a time limit that is not kept, or a try that waits.
RANK_TEST(lock, a_held_lock_is_not_given, kAtomics | kTwoRanks) {
    const sennit_lock lock = make_lock(test);
    if (test.rank == 0) test.ok(sennit_lock_acquire(lock, kLong));
    test.barrier();
    if (test.rank != 0) {
        int got = 9;
        test.ok(sennit_lock_try(lock, &got));
        test.equal(got, 0);
        test.is(sennit_lock_acquire(lock, 0), SENNIT_ERR_TIMEOUT);
        test.is(sennit_lock_acquire(lock, 2 * kMillisecond), SENNIT_ERR_TIMEOUT);
        test.is(sennit_lock_release(lock), SENNIT_ERR_STATE);
    }
    test.barrier();
    if (test.rank == 0) test.ok(sennit_lock_release(lock));
    test.barrier();
    test.ok(sennit_lock_acquire(lock, kLong));
    int got = 9;
    test.is(sennit_lock_try(lock, &got), SENNIT_ERR_STATE);
    test.is(sennit_lock_acquire(lock, kLong), SENNIT_ERR_STATE);
    test.is(sennit_lock_destroy(lock), SENNIT_ERR_STATE);
    test.equal(got, 9);
    test.ok(sennit_lock_release(lock));
    test.is(sennit_lock_release(lock), SENNIT_ERR_STATE);
    test.barrier();
    test.ok(sennit_lock_destroy(lock));
    test.is(sennit_lock_acquire(lock, kLong), SENNIT_ERR_ARG);
    test.is(sennit_lock_release(lock), SENNIT_ERR_ARG);
    test.is(sennit_lock_destroy(lock), SENNIT_ERR_ARG);
}

// Broken by a segment that is accepted as a lock.
RANK_TEST(lock, invalid_locks_are_refused, kAnything) {
    const sennit_gptr segment = test.allocate(4096);
    const sennit_lock no_locks[] = {SENNIT_LOCK_NULL,
                                    {segment.segment, SENNIT_TEAM_WORLD.handle},
                                    {segment.segment, 0},
                                    {segment.segment + 0x100, SENNIT_TEAM_WORLD.handle}};
    for (const sennit_lock lock : no_locks) {
        int got = 9;
        test.is(sennit_lock_acquire(lock, kLong), SENNIT_ERR_ARG);
        test.is(sennit_lock_try(lock, &got), SENNIT_ERR_ARG);
        test.is(sennit_lock_release(lock), SENNIT_ERR_ARG);
        test.is(sennit_lock_destroy(lock), SENNIT_ERR_ARG);
    }
    test.free(segment);
}

// Broken by a lock that some ranks can use and others cannot.
RANK_TEST(lock, no_rank_gets_a_lock_if_only_the_kernel_copies, kTwoRanks) {
    sennit_path path = SENNIT_PATH_NONE;
    test.ok(sennit_peer_path(test.rank == 0 ? 1 : 0, &path));
    bool by_kernel = false;
    for (const sennit_path theirs : test.tell_all(path))
        by_kernel = by_kernel || theirs == SENNIT_PATH_CMA;
    if (!by_kernel) return;
    sennit_lock lock = SENNIT_LOCK_NULL;
    test.is(sennit_lock_create(SENNIT_TEAM_WORLD, &lock), SENNIT_ERR_UNSUPPORTED);
    test.equal(lock.segment, 0u);
}
