// Locks of teams: parts of the world, nested and overlapping teams; several locks held at once,
// random programs, the end of locks, and handles in the wrong place.
#include <algorithm>
#include <numeric>

#include "teams.hpp"
#include "threads.hpp"

using namespace conformance;

namespace {

constexpr std::int64_t kLong = 60 * kSecond;

// A team with a lock, and two words that are equal while nobody holds the lock. The words are in
// the memory of any rank, member or not.
struct Guarded {
    std::vector<int> members;  // world ranks
    sennit_team team = SENNIT_TEAM_NULL;
    sennit_lock lock = SENNIT_LOCK_NULL;
    sennit_gptr words = SENNIT_GPTR_NULL;
    std::uint64_t times = 0;  // count of this rank's turns with the lock

    bool has(int rank) const { return place_in(members, rank) != SENNIT_RANK_NONE; }
};

std::vector<int> numbers(int first, int end) {
    std::vector<int> all(static_cast<std::size_t>(std::max(0, end - first)));
    std::iota(all.begin(), all.end(), first);
    return all;
}

// A team of these ranks of the parent. All members of the parent call it.
Guarded open_team(Ranks &test, const Guarded &parent, const std::vector<int> &ranks) {
    Guarded made;
    for (const int rank : ranks)
        made.members.push_back(parent.members[static_cast<std::size_t>(rank)]);
    if (parent.has(test.rank))
        test.ok(sennit_team_create(parent.team, ranks.size(), ranks.data(), &made.team));
    if (made.has(test.rank)) test.ok(sennit_lock_create(made.team, &made.lock));
    return made;
}

Guarded world(const Ranks &test) {
    Guarded all;
    all.members = numbers(0, test.size);
    all.team = SENNIT_TEAM_WORLD;
    return all;
}

// Gives each team its words in a new segment, which has room for kMostGuarded teams.
constexpr std::size_t kMostGuarded = 8;
sennit_gptr give_words(Ranks &test, std::vector<Guarded> &all) {
    const sennit_gptr segment = test.allocate(16 * kMostGuarded);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const int owner =
            static_cast<int>(test.common.below(static_cast<std::uint64_t>(test.size)));
        all[i].words =
            sennit_gptr_add(sennit_gptr_at(segment, owner), static_cast<std::int64_t>(16 * i));
    }
    return segment;
}

// With the lock held: enter() increments the first word and leave() the second, so another rank
// inside shows.
void enter(Ranks &test, Guarded &guarded, Where where = Where::current()) {
    std::uint64_t words[2] = {};
    test.ok(sennit_get(words, guarded.words, sizeof words), where);
    test.equal(words[1], words[0], where);
    ++words[0];
    test.ok(sennit_put(guarded.words, &words[0], 8), where);
    ++guarded.times;
}
void leave(Ranks &test, const Guarded &guarded, Where where = Where::current()) {
    std::uint64_t words[2] = {};
    test.ok(sennit_get(words, guarded.words, sizeof words), where);
    test.equal(words[1] + 1, words[0], where);
    test.ok(sennit_put_nbi(sennit_gptr_add(guarded.words, 8), &words[0], 8), where);
    test.ok(sennit_lock_release(guarded.lock), where);
}

// Checks that the words count every rank's turns. All ranks of the world call it.
void check_times(Ranks &test, const std::vector<Guarded> &all, sennit_gptr segment) {
    test.barrier();
    for (const Guarded &guarded : all) {
        const auto times = test.tell_all(guarded.times);
        std::uint64_t words[2] = {};
        test.ok(sennit_get(words, guarded.words, sizeof words));
        test.equal(words[0], std::accumulate(times.begin(), times.end(), std::uint64_t{0}));
        test.equal(words[1], words[0]);
    }
    test.barrier();
    test.free(segment);
}

void close_team(Ranks &test, const Guarded &guarded) {
    if (!guarded.has(test.rank)) return;
    test.ok(sennit_lock_destroy(guarded.lock));
    test.ok(sennit_team_destroy(guarded.team));
}

// The lower and the upper half, which share the rank in the middle; the upper half starts with the
// last rank. Then all ranks except 0 in reverse order, and a team inside that one.
std::vector<Guarded> open_overlapping(Ranks &test) {
    const int middle = test.size / 2;
    std::vector<int> upper = numbers(middle, test.size);
    std::reverse(upper.begin(), upper.end());
    std::vector<int> rest = numbers(std::min(1, test.size - 1), test.size);
    std::reverse(rest.begin(), rest.end());
    std::vector<Guarded> all;
    all.push_back(open_team(test, world(test), numbers(0, middle + 1)));
    all.push_back(open_team(test, world(test), upper));
    all.push_back(open_team(test, world(test), rest));
    all.push_back(open_team(test, all[2], numbers(0, (static_cast<int>(rest.size()) + 1) / 2)));
    return all;
}

}  // namespace

// Broken by a home, a place in the queue or a grant that uses the rank in the world instead of the
// team's, or by two teams that share any of these.
RANK_TEST(lock, locks_of_teams_and_of_teams_within_them_exclude_their_members, kAtomics) {
    std::vector<Guarded> all = open_overlapping(test);
    const sennit_gptr segment = give_words(test, all);
    const int rounds = test.quick ? 6 : 150;
    for (int round = 0; round < rounds; ++round) {
        for (Guarded &guarded : all) {
            if (!guarded.has(test.rank)) continue;
            test.ok(sennit_lock_acquire(guarded.lock, kLong));
            enter(test, guarded);
            leave(test, guarded);
        }
    }
    check_times(test, all, segment);
    for (const Guarded &guarded : all)
        close_team(test, guarded);
}

// Broken by a rank that can hold or release only its last lock, or that releases one lock with
// another.
RANK_TEST(lock, locks_of_teams_that_overlap_are_held_at_once, kAtomics) {
    std::vector<Guarded> all = open_overlapping(test);
    const sennit_gptr segment = give_words(test, all);
    const int rounds = test.quick ? 5 : 100;
    for (int round = 0; round < rounds; ++round) {
        std::vector<Guarded *> held;
        // All ranks take them in one order, so no deadlock is possible.
        for (Guarded &guarded : all) {
            if (!guarded.has(test.rank)) continue;
            test.ok(sennit_lock_acquire(guarded.lock, kLong));
            enter(test, guarded);
            held.push_back(&guarded);
        }
        while (!held.empty()) {
            const std::size_t place = test.own.below(held.size());
            leave(test, *held[place]);
            held.erase(held.begin() + static_cast<std::ptrdiff_t>(place));
            int got = 9;
            for (const Guarded *still : held)
                test.is(sennit_lock_try(still->lock, &got), SENNIT_ERR_STATE);
        }
    }
    check_times(test, all, segment);
    for (const Guarded &guarded : all)
        close_team(test, guarded);
}

// Broken by an end that frees another lock's memory, by a slot that stays taken, or by a handle
// that becomes valid again with another lock in its slot.
RANK_TEST(lock, locks_of_a_team_end_in_any_order_while_others_are_held, kAtomics) {
    Guarded all = open_team(test, world(test), numbers(test.size / 3, test.size));
    for (int round = 0; round < (test.quick ? 3 : 25) && all.has(test.rank); ++round) {
        constexpr std::size_t kLocks = 5;
        std::vector<sennit_lock> locks(kLocks);
        for (sennit_lock &lock : locks)
            test.ok(sennit_lock_create(all.team, &lock));
        // All members draw the same numbers, without the other ranks.
        Random draw(test.base + static_cast<std::uint64_t>(round) * 77);
        for (std::size_t i = kLocks; i > 1; --i)
            std::swap(locks[i - 1], locks[draw.below(i)]);
        const sennit_lock held = locks.back();
        const bool is_first = test.rank == all.members[0];
        if (is_first) test.ok(sennit_lock_acquire(held, kLong));
        for (std::size_t i = 0; i + 1 < kLocks; ++i) {
            test.ok(sennit_lock_acquire(locks[i], kLong));
            test.is(sennit_lock_destroy(locks[i]), SENNIT_ERR_STATE);
            test.ok(sennit_lock_release(locks[i]));
            test.ok(sennit_barrier(all.team, SENNIT_FOREVER));
            test.ok(sennit_lock_destroy(locks[i]));
            test.is(sennit_team_destroy(all.team), SENNIT_ERR_STATE);
            int got = 9;
            for (std::size_t gone = 0; gone <= i; ++gone) {
                test.is(sennit_lock_try(locks[gone], &got), SENNIT_ERR_ARG);
                test.is(sennit_lock_destroy(locks[gone]), SENNIT_ERR_ARG);
            }
            test.equal(got, 9);
            if (is_first) continue;
            test.ok(sennit_lock_try(held, &got));
            test.equal(got, 0);
        }
        test.ok(sennit_barrier(all.team, SENNIT_FOREVER));
        if (is_first) test.ok(sennit_lock_release(held));
        test.ok(sennit_barrier(all.team, SENNIT_FOREVER));
        test.ok(sennit_lock_destroy(held));
    }
    close_team(test, all);
}

// Broken by a lock that is found by its segment alone, or on ranks outside its team.
RANK_TEST(lock, a_lock_of_a_team_is_refused_outside_of_it, kAtomics | kTwoRanks) {
    const Guarded rest = open_team(test, world(test), numbers(1, test.size));
    const sennit_lock lock = test.tell_all(rest.lock).back();
    test.is(sennit_team_destroy(rest.team), test.rank == 0 ? SENNIT_ERR_ARG : SENNIT_ERR_STATE);
    const sennit_lock no_locks[] = {{lock.segment, SENNIT_TEAM_WORLD.handle},
                                    {lock.segment, SENNIT_TEAM_NODE.handle},
                                    test.rank == 0 ? lock : SENNIT_LOCK_NULL};
    for (const sennit_lock wrong : no_locks) {
        int got = 9;
        test.is(sennit_lock_acquire(wrong, kLong), SENNIT_ERR_ARG);
        test.is(sennit_lock_try(wrong, &got), SENNIT_ERR_ARG);
        test.is(sennit_lock_release(wrong), SENNIT_ERR_ARG);
        test.is(sennit_lock_destroy(wrong), SENNIT_ERR_ARG);
        test.equal(got, 9);
    }
    test.barrier();
    sennit_lock made = {77, 78};
    const sennit_team no_teams[] = {SENNIT_TEAM_NULL,
                                    {0xFFFFFFFFu},
                                    test.rank == 0 ? sennit_team{lock.team} : SENNIT_TEAM_NULL};
    for (const sennit_team wrong : no_teams)
        test.is(sennit_lock_create(wrong, &made), SENNIT_ERR_ARG);
    if (test.rank != 0) {
        // One member has no output for the lock: no member gets a lock, and the team is unchanged.
        const bool is_last = test.rank == test.size - 1;
        test.is(sennit_lock_create(rest.team, is_last ? nullptr : &made), SENNIT_ERR_ARG);
        test.ok(sennit_lock_acquire(rest.lock, kLong));
        test.ok(sennit_lock_release(rest.lock));
        test.ok(sennit_barrier(rest.team, SENNIT_FOREVER));
    }
    test.equal(made.segment, 77u);
    test.equal(made.team, 78u);
    close_team(test, rest);
    test.is(sennit_lock_create(rest.team, &made), SENNIT_ERR_ARG);
    test.is(sennit_lock_acquire(lock, kLong), SENNIT_ERR_ARG);
    test.is(sennit_lock_destroy(lock), SENNIT_ERR_ARG);
    test.equal(made.segment, 77u);
}

// Broken by a refusal that depends on the world instead of the team.
RANK_TEST(lock, a_team_has_locks_if_all_its_ranks_reach_the_first_ones_memory, kAnything) {
    sennit_team alone{};
    sennit_team reversed{};
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, test.rank, 0, &alone));
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, 0, -test.rank, &reversed));
    sennit_lock lock = SENNIT_LOCK_NULL;
    test.ok(sennit_lock_create(alone, &lock));
    for (int i = 0; i < 3; ++i) {
        test.ok(sennit_lock_acquire(lock, kLong));
        test.is(sennit_lock_acquire(lock, kLong), SENNIT_ERR_STATE);
        test.ok(sennit_lock_release(lock));
    }
    test.ok(sennit_lock_destroy(lock));
    test.ok(sennit_team_destroy(alone));
    sennit_path path = SENNIT_PATH_NONE;
    test.ok(sennit_peer_path(test.size - 1, &path));
    bool by_kernel = false;
    for (const sennit_path theirs : test.tell_all(path))
        by_kernel = by_kernel || theirs == SENNIT_PATH_CMA;
    lock = SENNIT_LOCK_NULL;
    test.is(sennit_lock_create(reversed, &lock), by_kernel ? SENNIT_ERR_UNSUPPORTED : SENNIT_OK);
    if (!by_kernel) test.ok(sennit_lock_destroy(lock));
    test.ok(sennit_team_destroy(reversed));
}

namespace {

// One rank takes one or two locks, changes their words, and releases them.
struct Step {
    std::uint64_t number = 0;
    int user = 0;
    std::vector<std::size_t> locks;  // in the order that all ranks use
    std::uint64_t form = 0;          // of each: try, a short limit, a longer one, a long one
    std::int64_t limit_ns = 0;
    bool in_order = false;  // of the releases
};

std::string describe(const Step &step) {
    static const char *const kForms[] = {"try", "a limit", "a limit", "no limit"};
    std::string text = "step " + std::to_string(step.number) + ": rank " +
                       std::to_string(step.user) + " takes lock";
    for (const std::size_t lock : step.locks)
        text += " " + std::to_string(lock);
    return text + " by " + kForms[step.form];
}

class Program {
  public:
    explicit Program(Ranks &test) : test_(test), all_(open_overlapping(test)) {
        all_.push_back(open_team(test, world(test), numbers(0, test.size)));
        segment_ = give_words(test, all_);
    }

    void run(int steps) {
        for (int i = 1; i <= steps; ++i) {
            const Step step = draw_step(static_cast<std::uint64_t>(i));
            if (step.user != test_.rank || !test_.chosen.has(step.number)) continue;
            test_.begin_step(step.number);
            test_.show(describe(step));
            perform(step);
        }
        check_times(test_, all_, segment_);
        // In a random order.
        while (!all_.empty()) {
            const std::size_t place = test_.common.below(all_.size());
            close_team(test_, all_[place]);
            all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(place));
        }
    }

  private:
    Step draw_step(std::uint64_t number) {
        Random &draw = test_.common;
        Step step;
        step.number = number;
        step.user = static_cast<int>(draw.below(static_cast<std::uint64_t>(test_.size)));
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (all_[i].has(step.user) && draw.one_in(2)) step.locks.push_back(i);
        if (step.locks.size() > 2) step.locks.resize(2);
        step.form = draw.below(4);
        step.limit_ns = static_cast<std::int64_t>(draw.below(step.form == 1 ? 3000 : 300000));
        step.in_order = draw.one_in(2);
        return step;
    }

    // False: another rank has it.
    bool take(const Step &step, sennit_lock lock) {
        int got = 0;
        sennit_status status = SENNIT_OK;
        if (step.form == 0) {
            status = sennit_lock_try(lock, &got);
        } else {
            status = sennit_lock_acquire(lock, step.form == 3 ? kLong : step.limit_ns);
            got = 1;
        }
        if (step.form != 3 && status == SENNIT_ERR_TIMEOUT) return false;
        if (status != SENNIT_OK)
            test_.fail(Where::current(), describe(step) + ": " + sennit_status_string(status) +
                                             ": " + sennit_last_error()->text);
        return got != 0;
    }

    void perform(const Step &step) {
        std::vector<Guarded *> held;
        for (const std::size_t lock : step.locks) {
            if (!take(step, all_[lock].lock)) continue;
            enter(test_, all_[lock]);
            held.push_back(&all_[lock]);
        }
        if (!step.in_order) std::reverse(held.begin(), held.end());
        for (const Guarded *guarded : held)
            leave(test_, *guarded);
    }

    Ranks &test_;
    std::vector<Guarded> all_;
    sennit_gptr segment_ = SENNIT_GPTR_NULL;
};

}  // namespace

// Broken by two ranks inside, a lost count, or a rank that waits for ever.
RANK_TEST(lock, random_programs_of_locks_of_several_teams_exclude_their_members, kAtomics) {
    const int steps = (test.quick ? 12 : 120) * test.size;
    test.programs(test.quick ? 2 : 4, [&] { Program(test).run(steps); });
}

// Broken by a lock that belongs to a thread, or by locks of several threads that share state.
RANK_TEST(lock, threads_of_a_rank_hold_different_locks_at_once, kAtomics | kFreeThreads) {
    std::vector<Guarded> all = open_overlapping(test);
    const sennit_gptr segment = give_words(test, all);
    const int rounds = test.quick ? 6 : 100;
    in_threads(test, static_cast<int>(all.size()), [&](Ranks &mine, int number) {
        Guarded &guarded = all[static_cast<std::size_t>(number)];
        for (int round = 0; round < rounds && guarded.has(mine.rank); ++round) {
            mine.ok(sennit_lock_acquire(guarded.lock, kLong));
            enter(mine, guarded);
            leave(mine, guarded);
        }
    });
    check_times(test, all, segment);
    for (const Guarded &guarded : all)
        close_team(test, guarded);
}

// Broken by a second thread that waits in its rank's place, or by a lock that only the thread that
// took it can release.
RANK_TEST(lock, while_a_thread_holds_or_awaits_a_lock_others_of_its_rank_are_refused,
          kAtomics | kTwoRanks | kFreeThreads | kOnce) {
    const Guarded pair = open_team(test, world(test), {1, 0});
    if (test.rank == 0) {
        test.ok(sennit_lock_acquire(pair.lock, kLong));
        in_threads(test, 1, [&](Ranks &mine, int) {
            int got = 9;
            mine.is(sennit_lock_try(pair.lock, &got), SENNIT_ERR_STATE);
            mine.is(sennit_lock_acquire(pair.lock, kLong), SENNIT_ERR_STATE);
            mine.equal(got, 9);
        });
    }
    const sennit_gptr refused = test.allocate(8);
    if (test.rank == 0) {
        std::uint64_t word = 0;
        while (word == 0) {
            test.ok(sennit_get(&word, refused, sizeof word));
            std::this_thread::yield();
        }
        in_threads(test, 1, [&](Ranks &mine, int) { mine.ok(sennit_lock_release(pair.lock)); });
    }
    std::atomic<int> times{0};
    if (test.rank == 1) {
        // One of the two threads waits and the other is refused; then rank 0 is told to release the
        // lock.
        in_threads(test, 2, [&](Ranks &mine, int) {
            const sennit_status status = sennit_lock_acquire(pair.lock, kLong);
            if (status == SENNIT_OK) return;
            mine.is(status, SENNIT_ERR_STATE);
            const std::uint64_t word = static_cast<std::uint64_t>(++times);
            mine.ok(sennit_put(sennit_gptr_at(refused, 0), &word, sizeof word));
        });
        test.equal(times.load(), 1);
        test.ok(sennit_lock_release(pair.lock));
    }
    test.barrier();
    test.free(refused);
    close_team(test, pair);
}
