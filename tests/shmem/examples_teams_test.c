/* Programs like the examples of the standard, written anew: barriers, teams, contexts, collective
 * calls. */
#include "check.h"

static int me, pes, next, before;

/* Every second PE gives a word to the next such PE, and only these PEs meet: by an active set and
 * by a team. The others keep their old words. */
static void some_of_all_meet(void) {
    static int by_set = 10101, by_team = 10101;
    static long work[SHMEM_BARRIER_SYNC_SIZE] = {SHMEM_SYNC_VALUE};
    const int evens = (pes + 1) / 2, to = me + 2 < pes ? me + 2 : 0;
    shmem_team_t team;
    if (me % 2 == 0) {
        shmem_p(&by_set, 4, to);
        shmem_barrier(0, 1, evens, work);
    }
    CHECK(by_set == (me % 2 == 0 ? 4 : 10101));
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, evens, NULL, 0, &team) == 0);
    CHECK((team != SHMEM_TEAM_INVALID) == (me % 2 == 0));
    if (team != SHMEM_TEAM_INVALID) {
        CHECK(shmem_team_my_pe(team) == me / 2 && shmem_team_n_pes(team) == evens);
        CHECK(shmem_team_translate_pe(team, me / 2, SHMEM_TEAM_WORLD) == me);
        const int there = shmem_team_translate_pe(team, (me / 2 + 1) % evens, SHMEM_TEAM_WORLD);
        shmem_p(&by_team, me, there);
        shmem_quiet();
        shmem_sync(team);
    }
    CHECK(by_team == (me % 2 != 0 ? 10101 : me >= 2 ? me - 2 : 2 * (evens - 1)));
    shmem_team_destroy(team);
}

/* Two teams with common members, one after the other: the word of the later team stays. */
static void two_teams_in_turn(void) {
    static int word = 10101;
    for (int step = 2; step <= 3; ++step) {
        shmem_team_t team = SHMEM_TEAM_INVALID;
        if (pes > step)
            CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, step, step, (pes - 1) / step, NULL, 0,
                                           &team) == 0);
        const int mine = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
        if (team != SHMEM_TEAM_INVALID) {
            shmem_p(&word, step,
                    shmem_team_translate_pe(team, (mine + 1) % size, SHMEM_TEAM_WORLD));
            shmem_quiet();
            shmem_sync(team);
        }
        shmem_sync(SHMEM_TEAM_WORLD);
        shmem_team_destroy(team);
    }
    CHECK(word == (me == 0 ? 10101 : me % 3 == 0 ? 3 : me % 2 == 0 ? 2 : 10101));
}

/* Contexts of two teams: PE numbers are those of the team, and members of both teams add to a word
 * of the first PE. */
static void contexts_of_two_teams(void) {
    static int sum, from[2];
    const shmem_team_config_t config = {1};
    shmem_team_t teams[2];
    shmem_ctx_t ctxs[2];
    for (int i = 0; i < 2; ++i) {
        const int step = i + 2;
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, step, (pes + step - 1) / step, &config,
                                       SHMEM_TEAM_NUM_CONTEXTS, &teams[i]) == 0);
        const int made = shmem_team_create_ctx(teams[i], 0, &ctxs[i]);
        CHECK((made == 0) == (me % step == 0) && (ctxs[i] == SHMEM_CTX_INVALID) == (made != 0));
        if (ctxs[i] == SHMEM_CTX_INVALID) continue;
        const int mine = shmem_team_my_pe(teams[i]);
        shmem_put(ctxs[i], &from[i], &mine, 1, (mine + 1) % shmem_team_n_pes(teams[i]));
    }
    for (int i = 0; i < 2; ++i)
        shmem_ctx_quiet(ctxs[i]); /* also of an invalid context */
    shmem_team_sync(SHMEM_TEAM_WORLD);
    if (me % 6 == 0) shmem_atomic_add(ctxs[0], &sum, from[0] + from[1], 0);
    shmem_ctx_quiet(ctxs[0]);
    shmem_team_sync(SHMEM_TEAM_WORLD);
    int wanted = 0;
    for (int pe = 0; pe < pes; pe += 6)
        wanted += (pe >= 2 ? pe / 2 : (pes + 1) / 2) - 1 + (pe >= 3 ? pe / 3 : (pes + 2) / 3) - 1;
    if (me == 0) CHECK(sum == wanted);
    for (int i = 0; i < 2; ++i) {
        shmem_ctx_destroy(ctxs[i]);
        shmem_team_destroy(teams[i]);
    }
}

/* All PEs as a box of three dimensions, by two splits, the second right after the first. */
static int divisor(int number, int most) {
    while (number % most != 0)
        --most;
    return most;
}

static void box_of_three_dimensions(void) {
    const int width = divisor(pes, pes < 2 ? 1 : 2),
              height = divisor(pes / width, pes / width < 2 ? 1 : 2);
    shmem_team_t x, yz, y, z;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, width, NULL, 0, &x, NULL, 0, &yz) == 0);
    CHECK(shmem_team_split_2d(yz, height, NULL, 0, &y, NULL, 0, &z) == 0);
    shmem_team_destroy(yz);
    CHECK(shmem_team_my_pe(x) == me % width && shmem_team_n_pes(x) == width);
    CHECK(shmem_team_my_pe(y) == me / width % height && shmem_team_n_pes(y) == height);
    CHECK(shmem_team_my_pe(z) == me / width / height &&
          shmem_team_n_pes(z) == pes / width / height);
    static unsigned number, line, plane, all;
    number = 1u << me;
    CHECK(shmem_or_reduce(x, &line, &number, 1) == 0);
    CHECK(shmem_or_reduce(y, &plane, &line, 1) == 0);
    CHECK(shmem_or_reduce(z, &all, &plane, 1) == 0 && all == (1u << pes) - 1);
    shmem_team_destroy(z);
    shmem_team_destroy(y);
    shmem_team_destroy(x);
}

/* A sum over all PEs in stages: each stage is sent in its own context while the previous one is
 * added. Three buffers take turns, since a PE that is ahead sends to one that is still adding. */
static void stages_in_contexts_of_their_own(void) {
    enum { kStage = 64, kStages = 12, kPlaces = 3 };
    static int in[kStage * kStages], out[kStage * kStages];
    shmem_ctx_t ctx[kPlaces];
    int *parts[kPlaces];
    for (int i = 0; i < kPlaces; ++i) {
        parts[i] = shmem_malloc((size_t)(kStage * pes) * sizeof *parts[i]);
        CHECK(shmem_ctx_create(0, &ctx[i]) == 0);
    }
    for (int i = 0; i < kStage * kStages; ++i)
        in[i] = me + i;
    for (int stage = 0; stage <= kStages; ++stage) {
        const int now = stage % kPlaces, done = (stage + kPlaces - 1) % kPlaces;
        for (int i = 1; stage < kStages && i <= pes; ++i)
            shmem_put_nbi(ctx[now], &parts[now][kStage * me], &in[kStage * stage], kStage,
                          (me + i) % pes);
        if (stage == 0) continue;
        shmem_ctx_quiet(ctx[done]);
        shmem_sync_all();
        for (int i = 0; i < kStage * pes; ++i)
            out[kStage * (stage - 1) + i % kStage] += parts[done][i];
    }
    for (int i = 0; i < kStage * kStages; ++i)
        CHECK(out[i] == pes * (pes - 1) / 2 + pes * i);
    for (int i = 0; i < kPlaces; ++i) {
        shmem_ctx_destroy(ctx[i]);
        shmem_free(parts[i]);
    }
}

/* A session with many updates of a distributed table; the second round undoes the first. */
static void session_of_updates(void) {
    enum { kUpdates = 500, kWords = 64 };
    uint64_t *const table = shmem_calloc(kWords, sizeof *table);
    const shmem_ctx_session_config_t config = {kUpdates};
    shmem_ctx_t ctx;
    uint64_t changed = 0;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    for (int round = 0; round < 2; ++round) {
        uint64_t random = 88172645463325252u + (unsigned)me;
        shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
        for (int i = 0; i < kUpdates; ++i) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            shmem_atomic_xor(ctx, &table[random % kWords], random,
                             (int)(random / kWords % (unsigned)pes));
        }
        shmem_ctx_session_stop(ctx);
        shmem_ctx_quiet(ctx);
        shmem_sync_all();
        for (int i = 0; i < kWords; ++i)
            changed += (table[i] != 0) == (round == 0);
        shmem_sync_all();
    }
    CHECK(changed > kWords && changed <= 2 * kWords);
    for (int i = 0; i < kWords; ++i)
        CHECK(table[i] == 0);
    shmem_ctx_destroy(ctx);
    shmem_free(table);
}

/* Collective calls with the data in variables and in the heap. */
static void blocks_for_all(void) {
    static long from[4], to[4];
    if (me == 0) {
        for (int i = 0; i < 4; ++i)
            from[i] = i + 1;
    }
    CHECK(shmem_broadcast(SHMEM_TEAM_WORLD, to, from, 4, 0) == 0);
    for (int i = 0; i < 4; ++i)
        CHECK(to[i] == i + 1);
    /* Each PE gives one element more than the PE before; all get a row of consecutive numbers. */
    const int all = pes * (pes + 1) / 2;
    int *const mine = shmem_malloc((size_t)pes * sizeof *mine);
    int *const row = shmem_malloc((size_t)all * sizeof *row);
    for (int i = 0; i <= me; ++i)
        mine[i] = me * (me + 1) / 2 + i;
    shmem_sync_all();
    CHECK(shmem_collect(SHMEM_TEAM_WORLD, row, mine, (size_t)me + 1) == 0);
    for (int i = 0; i < all; ++i)
        CHECK(row[i] == i);
    shmem_free(row);
    shmem_free(mine);
}

static void blocks_for_each(void) {
    enum { kBlock = 2, kTo = 2, kFrom = 3 };
    const size_t words = (size_t)(kBlock * kFrom * pes);
    int64_t *const from = shmem_malloc(words * sizeof *from), *const to =
                                                                  shmem_malloc(words * sizeof *to);
    for (size_t i = 0; i < words; ++i) {
        from[i] = -5;
        to[i] = -7;
    }
    for (int i = 0; i < kBlock * pes; ++i)
        from[i] = me * 100 + i;
    shmem_sync_all();
    CHECK(shmem_int64_alltoall(SHMEM_TEAM_WORLD, to, from, kBlock) == 0);
    for (int i = 0; i < kBlock * pes; ++i)
        CHECK(to[i] == i / kBlock * 100 + me * kBlock + i % kBlock);
    shmem_sync_all();
    for (int i = 0; i < kBlock * pes; ++i) {
        from[i * kFrom] = me * 100 + i;
        to[i * kTo] = to[i * kTo + 1] = -7;
    }
    shmem_sync_all();
    CHECK(shmem_int64_alltoalls(SHMEM_TEAM_WORLD, to, from, kTo, kFrom, kBlock) == 0);
    for (int i = 0; i < kBlock * pes; ++i)
        CHECK(to[i * kTo] == i / kBlock * 100 + me * kBlock + i % kBlock && to[i * kTo + 1] == -7);
    shmem_free(to);
    shmem_free(from);
}

/* The places where some PE has the largest number, and the number of these on all PEs together. */
static void largest_numbers(void) {
    enum { kNumbers = 32 };
    static unsigned char has[kNumbers], any_has[kNumbers];
    static int count, total;
    int wanted = 0;
    for (int pe = 0; pe < pes; ++pe) {
        for (int i = 0; i < kNumbers; ++i)
            wanted += (i * 7 + pe * 5) % 11 == 10;
    }
    for (int i = 0; i < kNumbers; ++i) {
        has[i] = (i * 7 + me * 5) % 11 == 10;
        count += has[i];
    }
    shmem_sync(SHMEM_TEAM_WORLD);
    CHECK(shmem_or_reduce(SHMEM_TEAM_WORLD, any_has, has, kNumbers) == 0);
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, &total, &count, 1) == 0 && total == wanted);
    for (int i = 0; i < kNumbers; ++i) {
        int any = 0;
        for (int pe = 0; pe < pes; ++pe)
            any |= (i * 7 + pe * 5) % 11 == 10;
        CHECK(any_has[i] == any);
    }
}

/* A collection to one PE: a scan gives each PE the offset of its part. */
static void collected_at_one(void) {
    static size_t bytes;
    static char whole[256], part[8];
    const size_t mine = (size_t)me % 3 + 1;
    memset(part, 'a' + me, sizeof part);
    bytes = mine;
    shmem_sync(SHMEM_TEAM_WORLD);
    CHECK(shmem_sum_exscan(SHMEM_TEAM_WORLD, &bytes, &bytes, 1) == 0);
    shmem_putmem(whole + bytes, part, mine, pes - 1);
    shmem_quiet();
    shmem_sync(SHMEM_TEAM_WORLD);
    size_t at = 0;
    for (int pe = 0; pe < pes; ++pe) {
        for (int i = 0; i <= pe % 3; ++i)
            CHECK(whole[at++] == (me == pes - 1 ? 'a' + pe : 0));
    }
    CHECK(whole[at] == 0);
}

static void start(void) {
    me = shmem_my_pe();
    pes = shmem_n_pes();
    next = (me + 1) % pes;
    before = (me + pes - 1) % pes;
}

/* A word for the next PE has arrived after the barrier of all. */
static void all_meet(void) {
    static int word = 1010;
    shmem_p(&word, me, next);
    shmem_barrier_all();
    CHECK(word == before);
}

int main(int argc, char **argv) {
    static const struct test tests[] = {TEST(start),
                                        TEST(all_meet),
                                        TEST(some_of_all_meet),
                                        TEST(two_teams_in_turn),
                                        TEST(contexts_of_two_teams),
                                        TEST(box_of_three_dimensions),
                                        TEST(stages_in_contexts_of_their_own),
                                        TEST(session_of_updates),
                                        TEST(blocks_for_all),
                                        TEST(blocks_for_each),
                                        TEST(largest_numbers),
                                        TEST(collected_at_one)};
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
