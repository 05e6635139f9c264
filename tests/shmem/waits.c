/* Waits that end although nothing arrives: waits.c CASE [HOW]. The last PE ends silently while the
 * others are in the call that CASE names, and none of them returns from it. HOW it ends: "kill",
 * "leave" (an exit without finalize), or "early" (killed before the others call); with "stay" it
 * lives and does nothing. Other cases are PEs that share one processor, and a single PE. */
#include <sched.h>
#include <shmem.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HOPS = 2000, TURNS = 300 };

static int me, pes, victim;
static long word, words[2], mine[64], theirs[64], lock;
static long sync_words[SHMEM_REDUCE_SYNC_SIZE], work[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static uint64_t signal_word;
static void *part;
static shmem_team_t team;

static void sleep_ms(long ms) {
    const struct timespec moment = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&moment, NULL);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* For an active set of the last two PEs; the others are not members, and are in no call. */
static int is_member(void) {
    while (me < pes - 2)
        sleep_ms(1000);
    return 1;
}

/* This call returns its error as a result; the next wait ends the PE. */
static void split_and_meet(void) {
    shmem_team_t made = SHMEM_TEAM_WORLD;
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &made) != 0 &&
        made == SHMEM_TEAM_INVALID)
        shmem_barrier_all();
}

/* A quiet need not wait for a dead PE: it returns, or ends with an error. */
static void put_and_quiet(void) {
    shmem_long_put_nbi(&word, &words[0], 1, victim);
    shmem_quiet();
    fprintf(stderr, "PE %d: quiet is over\n", me);
    shmem_long_wait_until(&word, SHMEM_CMP_NE, 0);
}

static void set_lock_again(void) {
    while (me != 0)
        sleep_ms(1000);
    shmem_set_lock(&lock);
    shmem_set_lock(&lock);
}

/* PE 0 clears the lock by a store while PE 1 waits for it. */
static void set_overwritten_lock(void) {
    if (me == 1) shmem_long_wait_until(&word, SHMEM_CMP_NE, 0);
    shmem_set_lock(&lock);
    shmem_long_p(&word, 1, 1);
    while (shmem_long_atomic_fetch(&lock, 0) >> 32 != 2)
        sleep_ms(1);
    lock = 0;
    /* No wait of its own, whose limit might end first. */
    for (;;)
        sleep_ms(1);
}

#define WAITS(USE)                                                                                \
    USE(long_wait_until, shmem_long_wait_until(&word, SHMEM_CMP_NE, 0))                           \
    USE(in_heap, *(long *)part = 5; shmem_long_wait_until(part, SHMEM_CMP_GT, 7))                 \
    USE(long_wait_until_all, shmem_long_wait_until_all(words, 2, NULL, SHMEM_CMP_NE, 0))          \
    USE(long_wait_until_any, (void)shmem_long_wait_until_any(words, 2, NULL, SHMEM_CMP_NE, 0))    \
    USE(long_wait_until_some,                                                                     \
        (void)shmem_long_wait_until_some(words, 2, (size_t *)mine, NULL, SHMEM_CMP_NE, 0))        \
    USE(signal_wait_until, (void)shmem_signal_wait_until(&signal_word, SHMEM_CMP_NE, 0))          \
    USE(set_lock, shmem_set_lock(&lock))                                                          \
    USE(set_lock_again, set_lock_again())                                                         \
    USE(set_overwritten_lock, set_overwritten_lock())                                             \
    USE(barrier_all, shmem_barrier_all())                                                         \
    USE(sync_all, shmem_sync_all())                                                               \
    USE(team_sync, (void)shmem_team_sync(team))                                                   \
    USE(barrier, if (is_member()) shmem_barrier(pes - 2, 0, 2, sync_words))                       \
    USE(long_sum_to_all,                                                                          \
        if (is_member()) shmem_long_sum_to_all(theirs, mine, 1, pes - 2, 0, 2, work, sync_words)) \
    USE(broadcastmem, (void)shmem_broadcastmem(team, theirs, mine, 8, victim))                    \
    USE(collectmem, (void)shmem_collectmem(team, theirs, mine, 8))                                \
    USE(fcollectmem, (void)shmem_fcollectmem(team, theirs, mine, 8))                              \
    USE(alltoallmem, (void)shmem_alltoallmem(team, theirs, mine, 8))                              \
    USE(long_sum_reduce, (void)shmem_long_sum_reduce(team, theirs, mine, 1))                      \
    USE(long_sum_inscan, (void)shmem_long_sum_inscan(team, theirs, mine, 1))                      \
    USE(malloc, (void)shmem_malloc(64))                                                           \
    USE(free, shmem_free(part))                                                                   \
    USE(team_split_strided, split_and_meet())                                                     \
    USE(team_destroy, shmem_team_destroy(team))                                                   \
    USE(finalize, shmem_finalize())                                                               \
    USE(quiet, put_and_quiet())

#define WAIT_BODY(NAME, ...)        \
    static void wait_##NAME(void) { \
        __VA_ARGS__;                \
    }
WAITS(WAIT_BODY)
static const struct {
    const char *name;
    void (*wait)(void);
} waits[] = {
#define WAIT_ROW(NAME, ...) {#NAME, wait_##NAME},
    WAITS(WAIT_ROW)};

static void end_without_a_word(const char *how) {
    /* Long enough for the others to stop polling and sleep. */
    if (strcmp(how, "early") != 0) sleep_ms(100);
    if (strcmp(how, "leave") == 0) _exit(0);
    if (strcmp(how, "stay") == 0) shmem_long_p(part, 6, 0);
    while (strcmp(how, "stay") == 0)
        sleep_ms(1000);
    raise(SIGKILL);
}

/* The last rank dies before it becomes a PE. */
static void end_before_init(void) {
    const char *const rank = getenv("SENNIT_RANK");
    const char *const size = getenv("SENNIT_SIZE");
    if (rank != NULL && size != NULL && atoi(rank) == atoi(size) - 1) end_without_a_word("kill");
}

static int run_wait(const char *name, const char *how) {
    for (size_t i = 0; i < sizeof waits / sizeof *waits; ++i) {
        if (strcmp(name, waits[i].name) != 0) continue;
        if (strcmp(name, "set_lock") == 0 && me == victim) shmem_set_lock(&lock);
        shmem_barrier_all();
        if (me == victim) end_without_a_word(how);
        if (strcmp(how, "early") == 0 || strcmp(name, "quiet") == 0) sleep_ms(200);
        waits[i].wait();
        fprintf(stderr, "PE %d: it came out of %s\n", me, name);
        return 3;
    }
    fprintf(stderr, "there is no case %s\n", name);
    return 2;
}

/* A token goes round; only one PE has something to do, and the others are in its way. */
static void ring(void) {
    for (long lap = 1; lap <= HOPS / pes; ++lap) {
        if (me != 0) shmem_long_wait_until(&word, SHMEM_CMP_EQ, lap);
        shmem_long_p(&word, lap, (me + 1) % pes);
        if (me == 0) shmem_long_wait_until(&word, SHMEM_CMP_EQ, lap);
    }
}
static void ring_of_signals(void) {
    for (uint64_t lap = 1; lap <= HOPS / (uint64_t)pes; ++lap) {
        if (me != 0) shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, lap);
        shmem_long_put_signal(&word, mine, 1, &signal_word, lap, SHMEM_SIGNAL_SET, (me + 1) % pes);
        if (me == 0) shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, lap);
    }
}
/* The same with tests, which the program repeats. */
static void ring_of_tests(void) {
    for (long lap = 1; lap <= HOPS / pes; ++lap) {
        while (me != 0 && !shmem_long_test(&word, SHMEM_CMP_EQ, lap)) {
        }
        shmem_long_p(&word, lap, (me + 1) % pes);
        while (me == 0 && !shmem_long_test(&word, SHMEM_CMP_EQ, lap)) {
        }
    }
}
static void barriers(void) {
    for (int i = 0; i < TURNS; ++i)
        shmem_barrier_all();
}
static void sums(void) {
    for (int i = 0; i < TURNS; ++i)
        (void)shmem_long_sum_reduce(SHMEM_TEAM_WORLD, theirs, mine, 1);
}
static void sums_of_a_set(void) {
    for (int i = 0; i < TURNS && me > 0; ++i)
        shmem_long_sum_to_all(theirs, mine, 1, 1, 0, pes - 1, work, sync_words);
}
static void locks(void) {
    for (int i = 0; i < TURNS; ++i) {
        shmem_set_lock(&lock);
        sched_yield(); /* the others start to wait */
        shmem_clear_lock(&lock);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} shares[] = {
    {"ring", ring},         {"ring_of_signals", ring_of_signals},
    {"sums", sums},         {"ring_of_tests", ring_of_tests},
    {"barriers", barriers}, {"sums_of_a_set", sums_of_a_set},
    {"locks", locks},
};

/* Runs each in turn; PE 0 prints the time. */
static void share_a_processor(void) {
    for (size_t i = 0; i < sizeof shares / sizeof *shares; ++i) {
        shmem_barrier_all();
        word = 0;
        signal_word = 0;
        shmem_barrier_all();
        const double begin = now();
        shares[i].run();
        shmem_barrier_all();
        if (me == 0) printf("%s %.6f\n", shares[i].name, now() - begin);
    }
}

/* A single PE is its own peer in all calls that need others. */
static int be_alone(void) {
    if (me != 0 || pes != 1) return 4;
    long *const own = shmem_malloc(sizeof *own);
    if (own == NULL || shmem_ptr(&word, 0) != &word) return 5;
    mine[0] = 7;
    shmem_long_put_signal(own, mine, 1, &signal_word, 3, SHMEM_SIGNAL_SET, 0);
    if (shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 3) != 3 || *own != 7) return 6;
    shmem_set_lock(&lock);
    shmem_long_atomic_add(&word, 5, 0);
    shmem_clear_lock(&lock);
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 5);
    if (shmem_long_sum_reduce(SHMEM_TEAM_WORLD, theirs, mine, 1) != 0 || theirs[0] != 7) return 7;
    shmem_barrier(0, 0, 1, sync_words);
    shmem_free(own);
    return 0;
}

int main(int argc, char **argv) {
    const char *const what = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < sizeof sync_words / sizeof *sync_words; ++i)
        sync_words[i] = SHMEM_SYNC_VALUE;
    if (strcmp(what, "init") == 0) end_before_init();
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    /* The last PE; but in a scan each PE waits for those before it. */
    victim = strcmp(what, "long_sum_inscan") == 0 ? 0 : pes - 1;
    part = shmem_malloc(64);
    if (part == NULL || shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &team) != 0)
        return 2;
    int result = 0;
    if (strcmp(what, "shared") == 0)
        share_a_processor();
    else if (strcmp(what, "alone") == 0)
        result = be_alone();
    else
        result = run_wait(what, argc > 2 ? argv[2] : "kill");
    if (result == 0) shmem_finalize();
    return result;
}
