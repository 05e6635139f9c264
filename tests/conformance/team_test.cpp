// Creating, using and destroying teams.
#include "harness.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <string>
#include <thread>

#include "teams.hpp"

using namespace conformance;

namespace {

std::vector<int> world_of(const Ranks &test) {
    std::vector<int> all;
    for (int rank = 0; rank < test.size; ++rank)
        all.push_back(rank);
    return all;
}

std::vector<int> node_of(Ranks &test) {
    std::vector<int> here;
    for (const int rank : world_of(test)) {
        sennit_locality_level level = SENNIT_LOCALITY_SELF;
        test.ok(sennit_locality(rank, &level));
        if (level != SENNIT_LOCALITY_NETWORK) here.push_back(rank);
    }
    return here;
}

sennit_team copy_of(Ranks &test, sennit_team parent) {
    sennit_team team = SENNIT_TEAM_NULL;
    test.ok(sennit_team_split(parent, 0, 0, &team));
    return team;
}

void expect_gone(Ranks &test, sennit_team team) {
    int number = 0x6B;
    test.is(sennit_barrier(team, 0), SENNIT_ERR_ARG);
    test.is(sennit_team_size(team, &number), SENNIT_ERR_ARG);
    test.is(sennit_team_rank(team, &number), SENNIT_ERR_ARG);
    test.is(sennit_team_translate(team, 0, SENNIT_TEAM_WORLD, &number), SENNIT_ERR_ARG);
    test.is(sennit_team_translate(SENNIT_TEAM_WORLD, 0, team, &number), SENNIT_ERR_ARG);
    test.is(sennit_team_destroy(team), SENNIT_ERR_ARG);
    sennit_gptr gptr{9, 9, 9};
    test.is(sennit_alloc(team, 8, 0, 0, &gptr), SENNIT_ERR_ARG);
    test.equal(number, 0x6B);
    test.equal(gptr.segment, 9u);
}

constexpr std::int64_t kSoon = 20 * kSecond;

struct Use {
    std::size_t resident_kib;
    std::size_t file_kib;  // of memory files, mapped or not
    int descriptors;
};

// The size of the memory file behind the descriptor `name`; 0: it is none.
std::size_t memory_file_kib(const char *name) {
    const std::string link = std::string("/proc/self/fd/") + name;
    char target[64] = "";
    struct stat about {};
    if (readlink(link.c_str(), target, sizeof target - 1) < 0 ||
        std::strncmp(target, "/memfd:", 7) != 0 || stat(link.c_str(), &about) != 0)
        return 0;
    return static_cast<std::size_t>(about.st_blocks) / 2;
}

// The resources of this process. One of its ranks counts them, the others wait.
Use use_of_process(Ranks &test) {
    Use use{0, 0, 0};
    test.barrier();
    if (!test.one_process || test.rank == 0) {
        std::ifstream statm("/proc/self/statm");
        std::size_t total = 0;
        statm >> total >> use.resident_kib;
        use.resident_kib *= static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
        if (DIR *folder = opendir("/proc/self/fd")) {
            while (const dirent *one = readdir(folder)) {
                ++use.descriptors;
                use.file_kib += memory_file_kib(one->d_name);
            }
            (void)closedir(folder);
        }
    }
    test.barrier();
    return use;
}

// Reductions and a broadcast of private memory, long enough that the team gets wide slots, gives
// peers access to its buffers, and keeps a request.
void reduce_and_broadcast(Ranks &test, sennit_team team) {
    int size = 0;
    test.ok(sennit_team_size(team, &size));
    static thread_local std::vector<std::uint64_t> words(32768);
    static thread_local std::vector<std::uint64_t> sums(8192);
    const std::size_t few = test.quick ? 2500 : sums.size();
    const std::size_t many = test.quick ? few : words.size();
    std::fill(words.begin(), words.end(), 3);
    const sennit_reduction sum = sennit_reduction_of(few, SENNIT_UINT64, SENNIT_SUM);
    test.ok(sennit_allreduce(team, words.data(), sums.data(), sum, kSoon));
    test.equal(sums[few - 1], 3u * static_cast<std::uint64_t>(size));
    sennit_request request = SENNIT_REQUEST_NULL;
    const sennit_reduction most = sennit_reduction_of(few, SENNIT_UINT64, SENNIT_MAX);
    test.ok(sennit_allreduce_nb(team, words.data(), sums.data(), most, &request));
    test.ok(sennit_wait(&request, kSoon));
    test.equal(sums[0], 3u);
    test.ok(sennit_broadcast(team, 0, words.data(), many * 8, kSoon));
    sennit_gptr segment = SENNIT_GPTR_NULL;
    test.ok(sennit_alloc(team, few * 8, 0, 0, &segment));
    test.ok(sennit_allreduce(team, words.data(), sennit_ptr(segment), sum, kSoon));
    test.ok(sennit_allreduce(team, SENNIT_IN_PLACE, sennit_ptr(segment), sum, kSoon));
    test.ok(sennit_free(segment));
}

// No rank gets a lock if only the kernel copies.
void lock_once(Ranks &test, sennit_team team) {
    sennit_lock lock = SENNIT_LOCK_NULL;
    const sennit_status made = sennit_lock_create(team, &lock);
    if (made == SENNIT_ERR_UNSUPPORTED) return;
    test.ok(made);
    test.ok(sennit_lock_acquire(lock, kSoon));
    test.ok(sennit_lock_release(lock));
    test.ok(sennit_barrier(team, SENNIT_FOREVER));
    test.ok(sennit_lock_destroy(lock));
}

// Creates and destroys `count` teams, alternately of all ranks and of parts. Some have a segment;
// one in `every` makes collective calls and one has a lock. `every` is odd, so that both kinds of
// teams do.
void make_and_end(Ranks &test, std::uint64_t count, std::uint64_t every) {
    for (std::uint64_t i = 0; i < count; ++i) {
        sennit_team team = SENNIT_TEAM_NULL;
        const int color = i % 2 == 0 ? 0 : test.rank % 2;
        test.ok(sennit_team_split(SENNIT_TEAM_WORLD, color, -test.rank, &team));
        if (i % 16 == 0) {
            sennit_gptr gptr;
            test.ok(sennit_alloc(team, 64, 0, 0, &gptr));
            test.ok(sennit_free(gptr));
        }
        if (i % every == 0) reduce_and_broadcast(test, team);
        if (i % every == every / 2) lock_once(test, team);
        test.ok(sennit_team_destroy(team));
    }
}

// The allocator's heaps grow to the peak use of all threads, which takes more teams with more
// threads. A leak grows in every round.
void stay_flat(Ranks &test, std::uint64_t count, std::uint64_t every) {
    constexpr std::size_t kLittleKib = 1024;
    constexpr int kMostRounds = 6;
    make_and_end(test, count / 10 + 64, every);
    make_and_end(test, 91, 7);
    bool is_flat = false;
    for (int round = 0; !is_flat && round < kMostRounds; ++round) {
        const Use before = use_of_process(test);
        make_and_end(test, count, every);
        const Use after = use_of_process(test);
        test.require(after.descriptors <= before.descriptors + kDescriptorsOfSleep,
                     "no descriptors are left behind");
        test.require(under_sanitizer() || after.file_kib < before.file_kib + kLittleKib,
                     "no pages of memory files are left behind");
        // A sanitizer keeps freed memory for a while.
        int grows = !under_sanitizer() && after.resident_kib >= before.resident_kib + kLittleKib;
        test.ok(sennit_allreduce(SENNIT_TEAM_WORLD, SENNIT_IN_PLACE, &grows,
                                 sennit_reduction_of(1, SENNIT_INT32, SENNIT_MAX), kSoon));
        is_flat = grows == 0;
    }
    test.require(is_flat, "no memory is left behind");
}

}  // namespace

// Broken by constants that are not teams, or a node's team with ranks of another node.
RANK_TEST(team, world_and_node_are_teams, kAnything) {
    check_team(test, SENNIT_TEAM_WORLD, world_of(test));
    check_team(test, SENNIT_TEAM_NODE, node_of(test));
    test.ok(sennit_barrier(SENNIT_TEAM_NODE, SENNIT_FOREVER));
    for (const sennit_team team : {SENNIT_TEAM_WORLD, SENNIT_TEAM_NODE})
        test.is(sennit_team_destroy(team), SENNIT_ERR_ARG);
    check_team(test, SENNIT_TEAM_NODE, node_of(test));
    use_team(test, SENNIT_TEAM_NODE, node_of(test), 100);
}

// Broken by an order that does not follow keys and then the parent.
RANK_TEST(team, a_split_orders_by_key_and_then_by_the_parent, kAnything) {
    sennit_team backwards = SENNIT_TEAM_NULL;
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, 7, -test.rank, &backwards));
    std::vector<int> expected = world_of(test);
    std::reverse(expected.begin(), expected.end());
    check_team(test, backwards, expected);
    // Equal keys: the order of the parent, which differs from that of the world.
    sennit_team same = SENNIT_TEAM_NULL;
    test.ok(sennit_team_split(backwards, 0, 5, &same));
    check_team(test, same, expected);
    use_team(test, same, expected, 333);
    test.ok(sennit_team_destroy(backwards));
    use_team(test, same, expected, 77);
    test.ok(sennit_team_destroy(same));
    expect_gone(test, same);
    expect_gone(test, backwards);
}

// Broken by a rank that joins although its color is negative, or a team that waits for it.
RANK_TEST(team, a_negative_color_joins_no_team, kAnything) {
    sennit_team team{77};
    const bool joins = test.rank % 2 == 0;
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, joins ? 3 : -test.rank - 1, 0, &team));
    std::vector<int> even;
    for (int rank = 0; rank < test.size; rank += 2)
        even.push_back(rank);
    if (joins) {
        check_team(test, team, even);
        use_team(test, team, even, 10);
        test.ok(sennit_team_destroy(team));
    } else {
        test.equal(team.handle, 0u);
    }
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, SENNIT_COLOR_NONE, 0, &team));
    test.equal(team.handle, 0u);
}

// Broken by a destroy that leaves segments without an owner, or that is done by half.
RANK_TEST(team, a_team_with_segments_is_not_destroyed, kAnything) {
    const sennit_team team = copy_of(test, SENNIT_TEAM_WORLD);
    sennit_gptr gptr;
    test.ok(sennit_alloc(team, 64, 0, 0, &gptr));
    test.is(sennit_team_destroy(team), SENNIT_ERR_STATE);
    check_team(test, team, world_of(test));
    const std::uint64_t word = 5;
    test.ok(sennit_put(gptr, &word, sizeof word));
    test.ok(sennit_barrier(team, SENNIT_FOREVER));
    test.ok(sennit_free(gptr));
    test.ok(sennit_team_destroy(team));
    expect_gone(test, team);
}

// Broken by a team that accepts pointers of the previous team in its slot.
RANK_TEST(team, pointers_of_an_earlier_team_of_the_slot_are_refused, kAnything) {
    std::vector<sennit_gptr> stale;
    std::set<std::uint32_t> handles;
    for (int round = 0; round < 20; ++round) {
        const sennit_team team = copy_of(test, SENNIT_TEAM_WORLD);
        test.require(handles.insert(team.handle).second, "handles differ");
        sennit_gptr gptr;
        test.ok(sennit_alloc(team, 64, 0, 0, &gptr));
        for (const sennit_gptr old : stale) {
            std::uint64_t word = 1;
            test.is(sennit_get(&word, old, sizeof word), SENNIT_ERR_NOT_REGISTERED);
            test.is(sennit_put(sennit_gptr_at(old, test.next()), &word, sizeof word),
                    SENNIT_ERR_NOT_REGISTERED);
            test.is(sennit_free(old), SENNIT_ERR_NOT_REGISTERED);
        }
        test.ok(sennit_free(gptr));
        stale.push_back(gptr);
        test.ok(sennit_team_destroy(team));
    }
}

// Broken by teams that outlive the world; the harness counts descriptors and mappings.
RANK_TEST(team, teams_and_their_segments_end_with_the_rank, kNoWorld) {
    for (int round = 0; round < 3; ++round) {
        test.start();
        const std::vector<int> all = world_of(test);
        const sennit_team team = copy_of(test, SENNIT_TEAM_WORLD);
        const sennit_team inner = copy_of(test, team);
        for (const sennit_team one : {team, inner, SENNIT_TEAM_NODE}) {
            sennit_gptr gptr;
            test.ok(sennit_alloc(one, 3000, 0, 0, &gptr));
            const bool is_node = one.handle == SENNIT_TEAM_NODE.handle;
            fill_pieces(test, gptr, is_node ? node_of(test) : all, 3000, 5);
        }
        test.barrier();
        test.stop();
        int number = 0x6B;
        test.is(sennit_team_size(team, &number), SENNIT_ERR_STATE);
        test.equal(number, 0x6B);
    }
}

// Broken by memory, descriptors or slots that a team leaves behind, also after collective calls or
// a lock: state of its calls, wide slots, and buffers that peers have access to.
RANK_TEST(team, many_teams_one_after_the_other_leave_nothing, kOnce) {
    const std::uint64_t all = test.size <= 2 ? 20000 : 6000;
    stay_flat(test, test.quick ? 300 : all / static_cast<std::uint64_t>(test.size), 65);
}

// The same with many more teams; runs only if its group is given.
RANK_TEST(million, a_million_teams_one_after_the_other_leave_nothing, kOnce | kOnlyNamed) {
    stay_flat(test, 1000000, 257);
}

// Broken by a table of teams without a check of its end, or one that does not release slots.
RANK_TEST(team, the_table_of_teams_may_be_full, kOnce) {
    std::vector<sennit_team> teams;
    for (;;) {
        sennit_team team{77};
        const sennit_status status = sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team);
        if (status != SENNIT_OK) {
            test.is(status, SENNIT_ERR_NOMEM);
            test.equal(team.handle, 77u);
            break;
        }
        teams.push_back(team);
    }
    test.equal(teams.size(), std::size_t{1021});
    test.ok(sennit_barrier(teams.back(), SENNIT_FOREVER));
    test.ok(sennit_team_destroy(teams[500]));
    teams[500] = copy_of(test, teams[3]);
    use_team(test, teams[500], world_of(test), 40);
    for (const sennit_team team : teams)
        test.ok(sennit_team_destroy(team));
}

// Broken by memory of one team that is counted, found or freed as another's.
RANK_TEST(team, nested_and_overlapping_teams_allocate_on_their_own, kAnything) {
    const std::vector<int> all = world_of(test);
    // The lower and the upper part, which share the middle rank, and the world itself.
    const int middle = test.size / 2;
    const std::vector<int> low(all.begin(), all.begin() + middle + 1);
    const std::vector<int> high(all.begin() + middle, all.end());
    sennit_team lower = SENNIT_TEAM_NULL;
    sennit_team upper = SENNIT_TEAM_NULL;
    test.ok(sennit_team_create(SENNIT_TEAM_WORLD, low.size(), low.data(), &lower));
    test.ok(sennit_team_create(SENNIT_TEAM_WORLD, high.size(), high.data(), &upper));
    struct Held {
        sennit_team team;
        const std::vector<int> *members;
        sennit_gptr gptr;
        std::uint64_t salt;
    };
    std::vector<Held> held;
    for (std::uint64_t round = 0; round < 12; ++round) {
        for (const auto &[team, members] : {std::pair(lower, &low), std::pair(upper, &high)}) {
            const std::uint64_t number = members == &high ? 1 : 0;
            // Each team skips some rounds, so their tables differ.
            if (team.handle == 0 || round % 3 == number) continue;
            Held one{team, members, SENNIT_GPTR_NULL, round * 2 + number};
            test.ok(sennit_alloc(team, 500 + round, 0, 0, &one.gptr));
            fill_pieces(test, one.gptr, *members, 500 + round, one.salt);
            held.push_back(one);
        }
    }
    for (const Held &one : held) {
        test.ok(sennit_barrier(one.team, SENNIT_FOREVER));
        check_pieces(test, one.gptr, *one.members, 500 + one.salt / 2, one.salt);
        test.ok(sennit_barrier(one.team, SENNIT_FOREVER));
        test.ok(sennit_free(one.gptr));
    }
    if (lower.handle != 0) test.ok(sennit_team_destroy(lower));
    if (upper.handle != 0) test.ok(sennit_team_destroy(upper));
}

// Broken by a wrong stride, at the edges of the valid range.
RANK_TEST(team, a_strided_split_takes_every_nth_rank, kAnything) {
    for (int start = 0; start < test.size; ++start) {
        for (int stride = -test.size; stride <= test.size; ++stride) {
            std::vector<int> expected;
            for (int rank = start; rank >= 0 && rank < test.size; rank += stride) {
                expected.push_back(rank);
                if (stride == 0) break;
            }
            const auto count = static_cast<int>(expected.size());
            sennit_team team{77};
            test.ok(sennit_team_split_strided(SENNIT_TEAM_WORLD, start, stride, count, &team));
            check_team(test, team, expected);
            if (team.handle != 0) test.ok(sennit_team_destroy(team));
            team.handle = 77;
            const sennit_status wanted = stride == 0 ? SENNIT_ERR_ARG : SENNIT_ERR_RANGE;
            test.is(sennit_team_split_strided(SENNIT_TEAM_WORLD, start, stride, count + 1, &team),
                    wanted);
            test.equal(team.handle, 77u);
        }
    }
}

// Broken by a locality that differs from sennit_locality.
RANK_TEST(team, a_split_by_locality_joins_near_ranks, kAnything) {
    for (int level = SENNIT_LOCALITY_SELF; level <= SENNIT_LOCALITY_NETWORK; ++level) {
        const auto wanted = static_cast<sennit_locality_level>(level);
        std::vector<int> expected;
        for (int rank = 0; rank < test.size; ++rank) {
            sennit_locality_level found{};
            test.ok(sennit_locality(rank, &found));
            if (found <= wanted) expected.push_back(rank);
        }
        sennit_team team = SENNIT_TEAM_NULL;
        test.ok(sennit_team_split_locality(SENNIT_TEAM_WORLD, wanted, &team));
        check_team(test, team, expected);
        use_team(test, team, expected, 60);
        test.ok(sennit_team_destroy(team));
    }
    sennit_team team{77};
    test.is(
        sennit_team_split_locality(SENNIT_TEAM_WORLD, static_cast<sennit_locality_level>(5), &team),
        SENNIT_ERR_ARG);
    test.equal(team.handle, 77u);
}

// Broken by a rank that fails alone: the others would wait, or have a team without it.
RANK_TEST(team, a_rank_with_wrong_arguments_fails_them_all, kAnything) {
    const std::vector<int> all = world_of(test);
    const auto size = static_cast<std::size_t>(test.size);
    const int outside[] = {test.size};
    const int negative[] = {-1};
    const int twice[] = {0, 0};
    for (int culprit = 0; culprit < test.size; ++culprit) {
        const bool wrong = culprit == test.rank;
        sennit_team team{77};
        test.is(sennit_team_create(SENNIT_TEAM_WORLD, wrong ? 1 : size,
                                   wrong ? outside : all.data(), &team),
                SENNIT_ERR_RANGE);
        test.is(sennit_team_create(SENNIT_TEAM_WORLD, wrong ? 1 : size,
                                   wrong ? negative : all.data(), &team),
                SENNIT_ERR_RANGE);
        test.is(sennit_team_create(SENNIT_TEAM_WORLD, wrong ? 2 : size, wrong ? twice : all.data(),
                                   &team),
                SENNIT_ERR_ARG);
        test.is(sennit_team_create(SENNIT_TEAM_WORLD, size, wrong ? nullptr : all.data(), &team),
                SENNIT_ERR_ARG);
        test.is(sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, wrong ? nullptr : &team),
                SENNIT_ERR_ARG);
        test.equal(team.handle, 77u);
        test.require(std::strcmp(sennit_last_error()->operation, "sennit_team_split") == 0,
                     "named");
    }
    use_team(test, SENNIT_TEAM_WORLD, all, 50);
}

// Broken by ranks that each create a different team in the same call.
RANK_TEST(team, arguments_that_differ_between_ranks_are_refused, kTwoRanks) {
    const std::vector<int> all = world_of(test);
    std::vector<int> other = all;
    std::swap(other[0], other[1]);
    const bool differs = test.rank == test.size - 1;
    sennit_team team{77};
    test.is(
        sennit_team_create(SENNIT_TEAM_WORLD, all.size(), (differs ? other : all).data(), &team),
        SENNIT_ERR_ARG);
    test.is(sennit_team_create(SENNIT_TEAM_WORLD, differs ? 0 : all.size(), all.data(), &team),
            SENNIT_ERR_ARG);
    test.is(sennit_team_split_strided(SENNIT_TEAM_WORLD, 0, 1, differs ? 1 : test.size, &team),
            SENNIT_ERR_ARG);
    test.is(differs ? sennit_team_split(SENNIT_TEAM_WORLD, 0, 0, &team)
                    : sennit_team_split_locality(SENNIT_TEAM_WORLD, SENNIT_LOCALITY_NODE, &team),
            SENNIT_ERR_ARG);
    test.equal(team.handle, 77u);
    use_team(test, SENNIT_TEAM_WORLD, all, 50);
}

// Broken by a team that two ranks end differently, or that is half destroyed after a mistake.
RANK_TEST(team, a_rank_in_another_call_keeps_the_team_alive, kTwoRanks) {
    const sennit_team team = copy_of(test, SENNIT_TEAM_WORLD);
    if (test.rank == test.size - 1) {
        test.ok(sennit_barrier(team, SENNIT_FOREVER));
    } else {
        test.is(sennit_team_destroy(team), SENNIT_ERR_ARG);
    }
    check_team(test, team, world_of(test));
    use_team(test, team, world_of(test), 50);
    test.ok(sennit_team_destroy(team));
}

// Broken by a team's barrier that admits ranks of another team, or waits for them.
RANK_TEST(team, the_barrier_of_a_team_waits_for_its_ranks_alone, kAnything) {
    const int color = test.rank % 3;
    sennit_team team = SENNIT_TEAM_NULL;
    test.ok(sennit_team_split(SENNIT_TEAM_WORLD, color, 0, &team));
    std::vector<int> members;
    for (int rank = color; rank < test.size; rank += 3)
        members.push_back(rank);
    sennit_gptr counter;
    test.ok(sennit_alloc(team, 8, 0, 0, &counter));
    // The teams have different numbers of rounds.
    const std::uint64_t rounds = (test.quick ? 20 : 200) * static_cast<std::uint64_t>(color + 1);
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        test.ok(sennit_put(counter, &round, sizeof round));
        sennit_status status = sennit_barrier(team, 20'000);
        while (status == SENNIT_ERR_TIMEOUT)
            status = sennit_barrier(team, kMillisecond);
        test.ok(status);
        for (const int member : members) {
            std::uint64_t found = 0;
            test.ok(sennit_get(&found, sennit_gptr_at(counter, member), sizeof found));
            test.equal(found, round);
        }
        test.ok(sennit_barrier(team, SENNIT_FOREVER));
    }
    test.ok(sennit_free(counter));
    test.ok(sennit_team_destroy(team));
}
