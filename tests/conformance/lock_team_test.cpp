// Locks of teams: parts of the world, teams within teams, teams that overlap; several locks held at
// once, random programs of them, their ends, and handles where they do not belong.
#include <algorithm>
#include <numeric>

#include "teams.hpp"
#include "threads.hpp"

using namespace conformance;

namespace {

constexpr std::int64_t kLong = 60 * kSecond;

// A team with a lock, and two words that are equal whenever nobody holds it. The words are in the
// memory of some rank, which need not be a member.
struct Guarded {
    std::vector<int> members;  // world ranks
    sennit_team team = SENNIT_TEAM_NULL;
    sennit_lock lock = SENNIT_LOCK_NULL;
    sennit_gptr words = SENNIT_GPTR_NULL;
    std::uint64_t times = 0;  // that this rank held it

    bool has(int rank) const { return place_in(members, rank) != SENNIT_RANK_NONE; }
};

std::vector<int> numbers(int first, int end) {
    std::vector<int> all(static_cast<std::size_t>(std::max(0, end - first)));
    std::iota(all.begin(), all.end(), first);
    return all;
}

// A team of these ranks of the parent, which all members of the parent make.
Guarded open_team(Ranks &it, const Guarded &parent, const std::vector<int> &ranks) {
    Guarded made;
    for (const int rank : ranks)
        made.members.push_back(parent.members[static_cast<std::size_t>(rank)]);
    if (parent.has(it.rank))
        it.ok(sennit_team_create(parent.team, ranks.size(), ranks.data(), &made.team));
    if (made.has(it.rank)) it.ok(sennit_lock_create(made.team, &made.lock));
    return made;
}

Guarded world(const Ranks &it) {
    Guarded all;
    all.members = numbers(0, it.size);
    all.team = SENNIT_TEAM_WORLD;
    return all;
}

// Each gets its words in the segment, which has room for kMostGuarded of them.
constexpr std::size_t kMostGuarded = 8;
sennit_gptr give_words(Ranks &it, std::vector<Guarded> &all) {
    const sennit_gptr segment = it.allocate(16 * kMostGuarded);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const int owner = static_cast<int>(it.common.below(static_cast<std::uint64_t>(it.size)));
        all[i].words =
            sennit_gptr_add(sennit_gptr_at(segment, owner), static_cast<std::int64_t>(16 * i));
    }
    return segment;
}

// With the lock held: both words count one more, which shows everybody else inside.
void enter(Ranks &it, Guarded &guarded, Where where = Where::current()) {
    std::uint64_t words[2] = {};
    it.ok(sennit_get(words, guarded.words, sizeof words), where);
    it.equal(words[1], words[0], where);
    ++words[0];
    it.ok(sennit_put(guarded.words, &words[0], 8), where);
    ++guarded.times;
}
void leave(Ranks &it, const Guarded &guarded, Where where = Where::current()) {
    std::uint64_t words[2] = {};
    it.ok(sennit_get(words, guarded.words, sizeof words), where);
    it.equal(words[1] + 1, words[0], where);
    it.ok(sennit_put_nbi(sennit_gptr_add(guarded.words, 8), &words[0], 8), where);
    it.ok(sennit_lock_release(guarded.lock), where);
}

// Did every rank get in as often as it says? All ranks of the world call it.
void check_times(Ranks &it, const std::vector<Guarded> &all, sennit_gptr segment) {
    it.barrier();
    for (const Guarded &guarded : all) {
        const auto times = it.tell_all(guarded.times);
        std::uint64_t words[2] = {};
        it.ok(sennit_get(words, guarded.words, sizeof words));
        it.equal(words[0], std::accumulate(times.begin(), times.end(), std::uint64_t{0}));
        it.equal(words[1], words[0]);
    }
    it.barrier();
    it.free(segment);
}

void close_team(Ranks &it, const Guarded &guarded) {
    if (!guarded.has(it.rank)) return;
    it.ok(sennit_lock_destroy(guarded.lock));
    it.ok(sennit_team_destroy(guarded.team));
}

// The lower and the upper half, which share the rank in the middle; the upper one begins with the
// last rank. Then all but rank 0 in reverse, and a team within it.
std::vector<Guarded> open_overlapping(Ranks &it) {
    const int middle = it.size / 2;
    std::vector<int> upper = numbers(middle, it.size);
    std::reverse(upper.begin(), upper.end());
    std::vector<int> rest = numbers(std::min(1, it.size - 1), it.size);
    std::reverse(rest.begin(), rest.end());
    std::vector<Guarded> all;
    all.push_back(open_team(it, world(it), numbers(0, middle + 1)));
    all.push_back(open_team(it, world(it), upper));
    all.push_back(open_team(it, world(it), rest));
    all.push_back(open_team(it, all[2], numbers(0, (static_cast<int>(rest.size()) + 1) / 2)));
    return all;
}

}  // namespace

// Broken by a home, a place in the queue or a grant that is that of the world's rank and not the
// team's, or by two teams that share one.
RANK_TEST(lock, locks_of_teams_and_of_teams_within_them_exclude_their_members, kAtomics) {
    std::vector<Guarded> all = open_overlapping(it);
    const sennit_gptr segment = give_words(it, all);
    const int rounds = it.quick ? 6 : 150;
    for (int round = 0; round < rounds; ++round) {
        for (Guarded &guarded : all) {
            if (!guarded.has(it.rank)) continue;
            it.ok(sennit_lock_acquire(guarded.lock, kLong));
            enter(it, guarded);
            leave(it, guarded);
        }
    }
    check_times(it, all, segment);
    for (const Guarded &guarded : all)
        close_team(it, guarded);
}

// Broken by a rank that can hold or release only the lock it took last, or that lets one go with
// another.
RANK_TEST(lock, locks_of_teams_that_overlap_are_held_at_once, kAtomics) {
    std::vector<Guarded> all = open_overlapping(it);
    const sennit_gptr segment = give_words(it, all);
    const int rounds = it.quick ? 5 : 100;
    for (int round = 0; round < rounds; ++round) {
        std::vector<Guarded *> held;
        // All take them in one order, so nobody waits in a circle.
        for (Guarded &guarded : all) {
            if (!guarded.has(it.rank)) continue;
            it.ok(sennit_lock_acquire(guarded.lock, kLong));
            enter(it, guarded);
            held.push_back(&guarded);
        }
        while (!held.empty()) {
            const std::size_t place = it.own.below(held.size());
            leave(it, *held[place]);
            held.erase(held.begin() + static_cast<std::ptrdiff_t>(place));
            int got = 9;
            for (const Guarded *still : held)
                it.is(sennit_lock_try(still->lock, &got), SENNIT_ERR_STATE);
        }
    }
    check_times(it, all, segment);
    for (const Guarded &guarded : all)
        close_team(it, guarded);
}

// Broken by an end that takes another lock's memory along, by a place that stays taken, or by a
// handle that is good again when its place has another lock.
RANK_TEST(lock, locks_of_a_team_end_in_any_order_while_others_are_held, kAtomics) {
    Guarded all = open_team(it, world(it), numbers(it.size / 3, it.size));
    for (int round = 0; round < (it.quick ? 3 : 25) && all.has(it.rank); ++round) {
        constexpr std::size_t kLocks = 5;
        std::vector<sennit_lock> locks(kLocks);
        for (sennit_lock &lock : locks)
            it.ok(sennit_lock_create(all.team, &lock));
        // The members draw alike; the others are not here.
        Random draw(it.base + static_cast<std::uint64_t>(round) * 77);
        for (std::size_t i = kLocks; i > 1; --i)
            std::swap(locks[i - 1], locks[draw.below(i)]);
        const sennit_lock held = locks.back();
        const bool is_first = it.rank == all.members[0];
        if (is_first) it.ok(sennit_lock_acquire(held, kLong));
        for (std::size_t i = 0; i + 1 < kLocks; ++i) {
            it.ok(sennit_lock_acquire(locks[i], kLong));
            it.is(sennit_lock_destroy(locks[i]), SENNIT_ERR_STATE);
            it.ok(sennit_lock_release(locks[i]));
            it.ok(sennit_barrier(all.team, SENNIT_FOREVER));
            it.ok(sennit_lock_destroy(locks[i]));
            it.is(sennit_team_destroy(all.team), SENNIT_ERR_STATE);
            int got = 9;
            for (std::size_t gone = 0; gone <= i; ++gone) {
                it.is(sennit_lock_try(locks[gone], &got), SENNIT_ERR_ARG);
                it.is(sennit_lock_destroy(locks[gone]), SENNIT_ERR_ARG);
            }
            it.equal(got, 9);
            if (is_first) continue;
            it.ok(sennit_lock_try(held, &got));
            it.equal(got, 0);
        }
        it.ok(sennit_barrier(all.team, SENNIT_FOREVER));
        if (is_first) it.ok(sennit_lock_release(held));
        it.ok(sennit_barrier(all.team, SENNIT_FOREVER));
        it.ok(sennit_lock_destroy(held));
    }
    close_team(it, all);
}

// Broken by a lock that is known by its segment alone, or on ranks that are not in its team.
RANK_TEST(lock, a_lock_of_a_team_is_refused_where_it_does_not_belong, kAtomics | kTwoRanks) {
    const Guarded rest = open_team(it, world(it), numbers(1, it.size));
    const sennit_lock lock = it.tell_all(rest.lock).back();
    it.is(sennit_team_destroy(rest.team), it.rank == 0 ? SENNIT_ERR_ARG : SENNIT_ERR_STATE);
    const sennit_lock no_locks[] = {{lock.segment, SENNIT_TEAM_WORLD.handle},
                                    {lock.segment, SENNIT_TEAM_NODE.handle},
                                    it.rank == 0 ? lock : SENNIT_LOCK_NULL};
    for (const sennit_lock wrong : no_locks) {
        int got = 9;
        it.is(sennit_lock_acquire(wrong, kLong), SENNIT_ERR_ARG);
        it.is(sennit_lock_try(wrong, &got), SENNIT_ERR_ARG);
        it.is(sennit_lock_release(wrong), SENNIT_ERR_ARG);
        it.is(sennit_lock_destroy(wrong), SENNIT_ERR_ARG);
        it.equal(got, 9);
    }
    it.barrier();
    sennit_lock made = {77, 78};
    const sennit_team no_teams[] = {
        SENNIT_TEAM_NULL, {0xFFFFFFFFu}, it.rank == 0 ? sennit_team{lock.team} : SENNIT_TEAM_NULL};
    for (const sennit_team wrong : no_teams)
        it.is(sennit_lock_create(wrong, &made), SENNIT_ERR_ARG);
    if (it.rank != 0) {
        // One that gives no place for the lock: none of them gets one, and the team is as before.
        const bool is_last = it.rank == it.size - 1;
        it.is(sennit_lock_create(rest.team, is_last ? nullptr : &made), SENNIT_ERR_ARG);
        it.ok(sennit_lock_acquire(rest.lock, kLong));
        it.ok(sennit_lock_release(rest.lock));
        it.ok(sennit_barrier(rest.team, SENNIT_FOREVER));
    }
    it.equal(made.segment, 77u);
    it.equal(made.team, 78u);
    close_team(it, rest);
    it.is(sennit_lock_create(rest.team, &made), SENNIT_ERR_ARG);
    it.is(sennit_lock_acquire(lock, kLong), SENNIT_ERR_ARG);
    it.is(sennit_lock_destroy(lock), SENNIT_ERR_ARG);
    it.equal(made.segment, 77u);
}

// Broken by a refusal that looks at the world and not at the team.
RANK_TEST(lock, a_team_has_locks_where_all_its_ranks_can_operate_on_its_firsts_memory, kAnything) {
    sennit_team alone{};
    sennit_team reversed{};
    it.ok(sennit_team_split(SENNIT_TEAM_WORLD, it.rank, 0, &alone));
    it.ok(sennit_team_split(SENNIT_TEAM_WORLD, 0, -it.rank, &reversed));
    sennit_lock lock = SENNIT_LOCK_NULL;
    it.ok(sennit_lock_create(alone, &lock));
    for (int i = 0; i < 3; ++i) {
        it.ok(sennit_lock_acquire(lock, kLong));
        it.is(sennit_lock_acquire(lock, kLong), SENNIT_ERR_STATE);
        it.ok(sennit_lock_release(lock));
    }
    it.ok(sennit_lock_destroy(lock));
    it.ok(sennit_team_destroy(alone));
    sennit_path path = SENNIT_PATH_NONE;
    it.ok(sennit_peer_path(it.size - 1, &path));
    bool by_kernel = false;
    for (const sennit_path theirs : it.tell_all(path))
        by_kernel = by_kernel || theirs == SENNIT_PATH_CMA;
    lock = SENNIT_LOCK_NULL;
    it.is(sennit_lock_create(reversed, &lock), by_kernel ? SENNIT_ERR_UNSUPPORTED : SENNIT_OK);
    if (!by_kernel) it.ok(sennit_lock_destroy(lock));
    it.ok(sennit_team_destroy(reversed));
}

namespace {

// One rank takes one lock or two, does something, and lets go.
struct Step {
    std::uint64_t number = 0;
    int user = 0;
    std::vector<std::size_t> locks;  // in the order in which all take them
    std::uint64_t form = 0;          // of each: try, a short limit, a longer one, a long one
    std::int64_t limit_ns = 0;
    bool in_order = false;  // the release
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
    explicit Program(Ranks &it) : it_(it), all_(open_overlapping(it)) {
        all_.push_back(open_team(it, world(it), numbers(0, it.size)));
        segment_ = give_words(it, all_);
    }

    void run(int steps) {
        for (int i = 1; i <= steps; ++i) {
            const Step step = draw_step(static_cast<std::uint64_t>(i));
            if (step.user != it_.rank || !it_.chosen.has(step.number)) continue;
            it_.begin_step(step.number);
            it_.show(describe(step));
            perform(step);
        }
        check_times(it_, all_, segment_);
        // In an order of their own.
        while (!all_.empty()) {
            const std::size_t place = it_.common.below(all_.size());
            close_team(it_, all_[place]);
            all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(place));
        }
    }

  private:
    Step draw_step(std::uint64_t number) {
        Random &draw = it_.common;
        Step step;
        step.number = number;
        step.user = static_cast<int>(draw.below(static_cast<std::uint64_t>(it_.size)));
        for (std::size_t i = 0; i < all_.size(); ++i)
            if (all_[i].has(step.user) && draw.one_in(2)) step.locks.push_back(i);
        if (step.locks.size() > 2) step.locks.resize(2);
        step.form = draw.below(4);
        step.limit_ns = static_cast<std::int64_t>(draw.below(step.form == 1 ? 3000 : 300000));
        step.in_order = draw.one_in(2);
        return step;
    }

    // False: somebody else has it.
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
            it_.fail(Where::current(), describe(step) + ": " + sennit_status_string(status) + ": " +
                                           sennit_last_error()->text);
        return got != 0;
    }

    void perform(const Step &step) {
        std::vector<Guarded *> held;
        for (const std::size_t lock : step.locks) {
            if (!take(step, all_[lock].lock)) continue;
            enter(it_, all_[lock]);
            held.push_back(&all_[lock]);
        }
        if (!step.in_order) std::reverse(held.begin(), held.end());
        for (const Guarded *guarded : held)
            leave(it_, *guarded);
    }

    Ranks &it_;
    std::vector<Guarded> all_;
    sennit_gptr segment_ = SENNIT_GPTR_NULL;
};

}  // namespace

// Broken by two ranks inside, a count that is lost, or a rank that waits for ever.
RANK_TEST(lock, random_programs_of_locks_of_several_teams_exclude_their_members, kAtomics) {
    const int steps = (it.quick ? 12 : 120) * it.size;
    it.programs(it.quick ? 2 : 4, [&] { Program(it).run(steps); });
}

// Broken by a lock that belongs to a thread, or by threads of a rank whose locks share something.
RANK_TEST(lock, threads_hold_locks_of_their_rank_each_one_of_its_own, kAtomics | kFreeThreads) {
    std::vector<Guarded> all = open_overlapping(it);
    const sennit_gptr segment = give_words(it, all);
    const int rounds = it.quick ? 6 : 100;
    in_threads(it, static_cast<int>(all.size()), [&](Ranks &mine, int number) {
        Guarded &guarded = all[static_cast<std::size_t>(number)];
        for (int round = 0; round < rounds && guarded.has(mine.rank); ++round) {
            mine.ok(sennit_lock_acquire(guarded.lock, kLong));
            enter(mine, guarded);
            leave(mine, guarded);
        }
    });
    check_times(it, all, segment);
    for (const Guarded &guarded : all)
        close_team(it, guarded);
}

// Broken by a second thread that waits in its rank's place, or by a lock that only the thread which
// took it can let go.
RANK_TEST(lock, while_a_thread_holds_or_awaits_a_lock_others_of_its_rank_are_refused,
          kAtomics | kTwoRanks | kFreeThreads | kOnce) {
    const Guarded pair = open_team(it, world(it), {1, 0});
    if (it.rank == 0) {
        it.ok(sennit_lock_acquire(pair.lock, kLong));
        in_threads(it, 1, [&](Ranks &mine, int) {
            int got = 9;
            mine.is(sennit_lock_try(pair.lock, &got), SENNIT_ERR_STATE);
            mine.is(sennit_lock_acquire(pair.lock, kLong), SENNIT_ERR_STATE);
            mine.equal(got, 9);
        });
    }
    const sennit_gptr refused = it.allocate(8);
    if (it.rank == 0) {
        std::uint64_t word = 0;
        while (word == 0) {
            it.ok(sennit_get(&word, refused, sizeof word));
            std::this_thread::yield();
        }
        in_threads(it, 1, [&](Ranks &mine, int) { mine.ok(sennit_lock_release(pair.lock)); });
    }
    std::atomic<int> times{0};
    if (it.rank == 1) {
        // One of the two waits, and the other is refused; then rank 0 is told to let go.
        in_threads(it, 2, [&](Ranks &mine, int) {
            const sennit_status status = sennit_lock_acquire(pair.lock, kLong);
            if (status == SENNIT_OK) return;
            mine.is(status, SENNIT_ERR_STATE);
            const std::uint64_t word = static_cast<std::uint64_t>(++times);
            mine.ok(sennit_put(sennit_gptr_at(refused, 0), &word, sizeof word));
        });
        it.equal(times.load(), 1);
        it.ok(sennit_lock_release(pair.lock));
    }
    it.barrier();
    it.free(refused);
    close_team(it, pair);
}
