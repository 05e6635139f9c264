/* A program with a profiler (profiler.c): each call reaches the profiler once, by its name and by
 * the form that chooses it, and has its usual effect; calls that the library makes itself do not
 * reach it. */
#include "check.h"
#include "profiler.h"

static long seen[kProfiled];

/* Checks that exactly these calls were made since the last check. */
static void called(int count, const int *which) {
    for (int i = 0; i < count; ++i)
        ++seen[which[i]];
    for (int i = 0; i < kProfiled; ++i) {
        if (profiled_counts[i] != seen[i])
            fprintf(stderr, "function %d: %ld calls counted, %ld made\n", i, profiled_counts[i],
                    seen[i]);
        CHECK(profiled_counts[i] == seen[i]);
        seen[i] = profiled_counts[i];
    }
}
#define CALLED(...)                                         \
    do {                                                    \
        static const int which[] = {__VA_ARGS__};           \
        called((int)(sizeof which / sizeof *which), which); \
    } while (0)
#define NONE_CALLED() called(0, NULL)

static long words[8], longs[4], sync_words[SHMEM_SYNC_SIZE], more_words[SHMEM_SYNC_SIZE], lock;
static long work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static double numbers[2];
static int ints[2];
static short shorts[3];
static uint64_t signal_word;
static int me, pes, next, before;

static void calls_by_name(void) {
    const long from[2] = {me, me + 1};
    const double parts[2] = {me + 0.5, me + 1.5};
    long *const place = shmem_malloc(64);
    shmem_long_put(words, from, 2, next);
    shmem_double_put(numbers, parts, 2, next);
    shmem_putmem(place, from, sizeof from, next);
    shmem_long_p(&words[2], me, next);
    shmem_fence();
    shmem_quiet();
    shmem_barrier_all();
    CALLED(kMalloc, kLongPut, kDoublePut, kPutmem, kLongP, kFence, kQuiet, kBarrierAll);
    CHECK(words[0] == before && words[1] == before + 1 && words[2] == before);
    CHECK(numbers[1] == before + 1.5 && place[1] == before + 1);
    CHECK(shmem_long_atomic_fetch(&words[0], next) == me);
    CHECK(shmem_long_atomic_fetch_add(&words[3], 5, next) == 0);
    shmem_long_wait_until(&words[3], SHMEM_CMP_EQ, 5);
    shmem_signal_set(&signal_word, 9, me); /* not counted */
    CHECK(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 9) == 9);
    longs[0] = 1;
    CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &longs[1], &longs[0], 1) == 0 && longs[1] == pes);
    ints[0] = me + 3;
    CHECK(shmem_int_broadcast(SHMEM_TEAM_WORLD, &ints[1], &ints[0], 1, pes - 1) == 0);
    CHECK(ints[1] == pes + 2 && shmem_team_sync(SHMEM_TEAM_WORLD) == 0);
    shmem_sync_all();
    shmem_free(place);
    CALLED(kLongFetch, kLongFetchAdd, kLongWaitUntil, kSignalWait, kLongSumReduce, kIntBroadcast,
           kTeamSync, kSyncAll, kFree);
}

/* The forms are macros: the profiler counts the functions that they choose. */
static void calls_by_form(void) {
    const double parts[2] = {me + 2.5, me + 3.5};
    const long from[1] = {me + 20};
    shmem_put(numbers, parts, 1, next);
    shmem_put(SHMEM_CTX_DEFAULT, numbers + 1, parts + 1, 1, next);
    shmem_put(words, from, 1, next);
    shmem_p(&words[1], from[0], next);
    CALLED(kDoublePut, kCtxDoublePut, kLongPut, kLongP);
    shmem_sync(SHMEM_TEAM_WORLD);
    CHECK(shmem_atomic_fetch(&words[0], next) == me + 20);
    CHECK(shmem_atomic_fetch_add(&words[1], 0L, next) == me + 20);
    shmem_wait_until(&words[1], SHMEM_CMP_EQ, (long)before + 20);
    CHECK(numbers[0] == before + 2.5 && numbers[1] == before + 3.5);
    CHECK(shmem_sum_reduce(SHMEM_TEAM_WORLD, &longs[1], &longs[0], 1) == 0 && longs[1] == pes);
    CHECK(shmem_broadcast(SHMEM_TEAM_WORLD, &ints[1], &ints[0], 1, 0) == 0 && ints[1] == 3);
    CALLED(kTeamSync, kLongFetch, kLongFetchAdd, kLongWaitUntil, kLongSumReduce, kIntBroadcast);
    /* For several words of 16 bits there are no functions: the form tests each word. */
    CHECK(shmem_test_all(shorts, 3, (const int *)NULL, SHMEM_CMP_EQ, (short)0) == 1);
    CALLED(kShortTest, kShortTest, kShortTest);
}

/* Calls that are not counted, which do the same as counted ones, or more. */
static void calls_within(void) {
    shmem_team_t team;
    shmem_ctx_t ctx;
    long *place = shmem_calloc(4, sizeof *place);
    place = shmem_realloc(place, 4096);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes - 1, -1, pes, NULL, 0, &team) == 0);
    CHECK(shmem_team_create_ctx(team, 0, &ctx) == 0);
    shmem_ctx_long_put_signal(ctx, place, words, 1, &signal_word, 1, SHMEM_SIGNAL_ADD, 0);
    CHECK(shmem_long_alltoalls(team, place, place + 100, 1, 2, 1) == 0);
    CHECK(shmem_long_collect(team, place, place + 100, 2) == 0);
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(team);
    if (me != 0) { /* not all PEs, so they use their work arrays */
        longs[0] = me;
        shmem_collect64(place, longs, 1, 1, 0, pes - 1, sync_words);
        shmem_long_sum_to_all(&longs[1], &longs[0], 1, 1, 0, pes - 1, work, sync_words);
        shmem_barrier(1, 0, pes - 1, more_words);
    }
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    shfree(place);
    place = shmalloc(10);
    shfree(place);
    start_pes(0);
    NONE_CALLED();
}

int main(void) {
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    next = (me + 1) % pes;
    before = (me + pes - 1) % pes;
    CALLED(kInit);
    calls_by_name();
    calls_by_form();
    calls_within();
    shmem_init();
    shmem_finalize();
    CALLED(kInit, kFinalize);
    shmem_finalize();
    CALLED(kFinalize);
    return failures != 0;
}
