/* Measures calls of OpenSHMEM, with the library that it is compiled with, and prints a line "case
 * bytes nanoseconds" for each: the median of batches. It uses OpenSHMEM 1.4, so that all libraries
 * can be compared. Calls of 1.5 are in teams.c; teams_absent.c replaces it for libraries without
 * them. compare.py runs it with several libraries in turn.
 *
 * Words on the command line are the cases to measure; none: all. Words after a minus are cases to
 * leave out (a library may hang in them). Transfers are from PE 0 to PE 1, which waits in a
 * barrier. Exchanges are in both directions; half the time is printed. Collective calls are of all
 * PEs; if a program needs a barrier between two calls, the time includes one. Transfers and
 * exchanges are measured only with 2 PEs. */
#include "speed.h"

#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    kBatches = 15,
    kMost = 1 << 20,
    kMostOfOne = 4 << 20, /* bytes of a transfer between two PEs */
    kBurst = 256,
    kSyncWords = 512,
    kLine = 128
};

int me, pes;
char *there, *here;
size_t bytes;
long rounds;
uint64_t *signal_word;
static long *word, *flag; /* on the heap, where some libraries are faster than in variables */
static long variable, count;
static long sync_words[2][kSyncWords];
static long *work;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void put(void) {
    shmem_putmem(there, here, bytes, 1);
}
static void get(void) {
    shmem_getmem(here, there, bytes, 1);
}
static void put_nbi(void) {
    shmem_putmem_nbi(there, here, bytes, 1);
}
static void put_quiet(void) {
    shmem_putmem(there, here, bytes, 1);
    shmem_quiet();
}
static void p_static(void) {
    shmem_long_p(&variable, 1, 1);
}
static void fetch_add_static(void) {
    count += shmem_long_atomic_fetch_add(&variable, 1, 1);
}
/* Many puts to contiguous memory, and one quiet; the result is the time of one put. */
static void burst(void) {
    for (size_t i = 0; i < kBurst; ++i)
        shmem_putmem_nbi(there + i * bytes, here + i * bytes, bytes, 1);
    shmem_quiet();
}
static void p(void) {
    shmem_long_p(word, 1, 1);
}
static void g(void) {
    count += shmem_long_g(word, 1);
}
static void fetch_add(void) {
    count += shmem_long_atomic_fetch_add(word, 1, 1);
}
static void add(void) {
    shmem_long_atomic_add(word, 1, 1);
}
static void inc(void) {
    shmem_long_atomic_inc(word, 1);
}
static void fetch(void) {
    count += shmem_long_atomic_fetch(word, 1);
}
static void set(void) {
    shmem_long_atomic_set(word, 1, 1);
}
static void swap(void) {
    count += shmem_long_atomic_swap(word, 1, 1);
}
static void compare_swap(void) {
    count += shmem_long_atomic_compare_swap(word, 1, 2, 1);
}
/* The lower limits of p and fetch_add; only if there is a pointer to PE 1's memory. */
static long *pointer;
static void bare_store(void) {
    __atomic_store_n(pointer, 1, __ATOMIC_RELAXED); /* relaxed: the cost of the store alone */
}
static void bare_fetch_add(void) {
    /* relaxed: the instruction is the same. */
    count += __atomic_fetch_add(pointer, 1, __ATOMIC_RELAXED);
}
/* A word in each direction; PE 1 does the same. Half of the time is printed. */
static void word_and_back(void) {
    ++rounds;
    if (me == 0) shmem_long_p(flag, rounds, 1);
    shmem_long_wait_until(flag, SHMEM_CMP_GE, rounds);
    if (me == 1) shmem_long_p(flag, rounds, 0);
}
static void put_and_flag(void) {
    shmem_putmem(there, here, bytes, 1 - me);
    shmem_fence();
    shmem_long_p(flag, rounds, 1 - me);
}
static void flag_and_back(void) {
    ++rounds;
    if (me == 0) put_and_flag();
    shmem_long_wait_until(flag, SHMEM_CMP_GE, rounds);
    if (me == 1) put_and_flag();
}
static long *next_sync(void) {
    static int turn;
    return sync_words[turn ^= 1];
}
static void barrier(void) {
    shmem_barrier_all();
}
static void broadcast(void) {
    shmem_broadcast64(there, here, bytes / 8, 0, 0, 0, pes, next_sync());
    shmem_barrier_all();
}
static void fcollect(void) {
    shmem_fcollect64(there, here, bytes / 8, 0, 0, pes, next_sync());
    shmem_barrier_all();
}
static void alltoall(void) {
    shmem_alltoall64(there, here, bytes / 8, 0, 0, pes, next_sync());
    shmem_barrier_all();
}
static void sum(void) {
    shmem_double_sum_to_all((double *)there, (double *)here, (int)(bytes / 8), 0, 0, pes,
                            (double *)work, next_sync());
    shmem_barrier_all();
}

static void max(void) {
    shmem_long_max_to_all((long *)there, (long *)here, (int)(bytes / 8), 0, 0, pes, work,
                          next_sync());
    shmem_barrier_all();
}
static void sync_all(void) {
    shmem_sync_all();
}

static char **words; /* of the command line */
static int word_count;

static int is_wanted(const char *name) {
    int named = 0, found = 0;
    for (int i = 0; i < word_count; ++i) {
        const int excludes = words[i][0] == '-';
        if (excludes && strcmp(words[i] + 1, name) == 0) return 0;
        if (!excludes) named = 1;
        if (strcmp(words[i], name) == 0) found = 1;
    }
    return found || !named;
}

/* The length of a batch. If PEs share processors, a call may wait for time slices of some
 * milliseconds. */
static double batch_ns(void) {
    return pes > sysconf(_SC_NPROCESSORS_ONLN) ? 4e6 : 1e6;
}

/* The part of a call's time that is printed. */
static double share(enum who who, void (*call)(void)) {
    if (call == burst) return 1.0 / kBurst;
    return who == kPair ? 0.5 : 1;
}

/* Measures batches that take about batch_ns() on PE 0; the other PEs make the same number of
 * calls. */
void measure(const char *name, enum who who, void (*call)(void)) {
    static long calls;
    double spent[kBatches];
    if (!is_wanted(name)) return;
    const int takes_part = who == kAll || me == 0 || (who == kPair && me == 1);
    if (me == 0) calls = 0;
    shmem_barrier_all();
    for (int i = 0; takes_part && i < 10; ++i)
        call();
    shmem_barrier_all();
    const double begin = now();
    for (int i = 0; takes_part && i < 20; ++i)
        call();
    const double each = (now() - begin) / 20;
    if (me == 0) {
        calls = (long)(batch_ns() / (each > 1 ? each : 1)) + 1;
        for (int pe = 1; pe < pes; ++pe)
            shmem_long_p(&calls, calls, pe);
    }
    shmem_barrier_all();
    for (int batch = 0; batch < kBatches; ++batch) {
        shmem_barrier_all();
        const double start = now();
        for (long i = 0; takes_part && i < calls; ++i)
            call();
        spent[batch] = (now() - start) / (double)calls;
    }
    qsort(spent, kBatches, sizeof *spent, ascending);
    if (me == 0)
        printf("%s %zu %.2f\n", name, who == kFirst && bytes == 0 ? sizeof(long) : bytes,
               spent[kBatches / 2] * share(who, call));
    shmem_barrier_all();
}

static void one_sided(void) {
    static const size_t sizes[] = {1,     2,     4,      8,      16,     32,    64,        128,
                                   255,   256,   512,    1024,   2048,   4096,  8192,      16384,
                                   32768, 65536, 131072, 262144, 524288, kMost, kMostOfOne};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        bytes = sizes[i];
        measure("put", kFirst, put);
        measure("get", kFirst, get);
        measure("put_nbi", kFirst, put_nbi);
        measure("put_quiet", kFirst, put_quiet);
        if (bytes <= 1024) measure("put_burst", kFirst, burst);
        measure("put_flag_wait", kPair, flag_and_back);
        measure_signals();
    }
}

static void of_words(void) {
    bytes = 0;
    pointer = shmem_ptr(word, 1);
    /* Each limit is measured right after the call that is compared with it, because clock speeds
     * change. */
    measure("p", kFirst, p);
    if (pointer != NULL) measure("bare_store", kFirst, bare_store);
    measure("fetch_add", kFirst, fetch_add);
    if (pointer != NULL) measure("bare_fetch_add", kFirst, bare_fetch_add);
    measure("g", kFirst, g);
    measure("p_wait", kPair, word_and_back);
    measure("add", kFirst, add);
    measure("inc", kFirst, inc);
    measure("fetch", kFirst, fetch);
    measure("set", kFirst, set);
    measure("swap", kFirst, swap);
    measure("compare_swap", kFirst, compare_swap);
    measure("p_static", kFirst, p_static);
    measure("fetch_add_static", kFirst, fetch_add_static);
}

static void collective(void) {
    static const size_t sizes[] = {8, 64, 256, 1024, 4096, 16384, 65536, 262144, kMost};
    bytes = 0;
    measure("barrier_all", kAll, barrier);
    measure("sync_all", kAll, sync_all);
    measure_team_sync();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        bytes = sizes[i];
        measure("broadcast", kAll, broadcast);
        measure("fcollect", kAll, fcollect);
        measure("alltoall", kAll, alltoall);
        measure("sum", kAll, sum);
        measure("max", kAll, max);
        measure_teams();
    }
}

int main(int argc, char **argv) {
    words = argv + 1;
    word_count = argc - 1;
    setvbuf(stdout, NULL, _IOLBF, 0); /* results are visible even if a library hangs later */
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    const size_t of_all = (size_t)kMost * (size_t)(pes > 1 ? pes : 2);
    const size_t most = of_all > kMostOfOne ? of_all : kMostOfOne;
    there = shmem_align(4096, most);
    here = shmem_align(4096, most);
    work = shmem_malloc(kMost);
    word = shmem_calloc(1, kLine);
    flag = shmem_calloc(1, kLine);
    signal_word = shmem_calloc(1, kLine);
    if (pes < 2 || there == NULL || here == NULL || work == NULL || word == NULL || flag == NULL ||
        signal_word == NULL)
        shmem_global_exit(1);
    memset(there, 0, most);
    memset(here, 0, most);
    for (int i = 0; i < 2 * kSyncWords; ++i)
        sync_words[i / kSyncWords][i % kSyncWords] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    if (pes == 2) {
        one_sided();
        of_words();
    }
    collective();
    fflush(stdout);
    shmem_barrier_all();
    shmem_finalize();
    return count == -1;
}
