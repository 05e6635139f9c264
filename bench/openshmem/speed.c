/* What calls of OpenSHMEM cost, with whichever library it is compiled: a line of "case bytes
 * nanoseconds" for each, the median of batches. It uses what OpenSHMEM 1.4 has, so that all
 * libraries can be compared; compare.py runs it with several in turns.
 *
 * Words on the command line are the cases that are wanted (a library may hang in others); none:
 * all. Transfers are from PE 0 to PE 1, which waits in a barrier; collective calls are of all PEs.
 */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kBatches = 15, kMost = 1 << 20, kWords = kMost / 8, kSyncWords = 512 };

static int me, pes;
static char *there, *here;
static long word, count, flag;
static long sync_words[2][kSyncWords];
static long *work;
static size_t bytes;
static long rounds; /* of the ping-pong, in all batches */

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
static void p(void) {
    shmem_long_p(&word, 1, 1);
}
static void g(void) {
    count += shmem_long_g(&word, 1);
}
static void fetch_add(void) {
    count += shmem_long_atomic_fetch_add(&word, 1, 1);
}
static void add(void) {
    shmem_long_atomic_add(&word, 1, 1);
}
static void compare_swap(void) {
    count += shmem_long_atomic_compare_swap(&word, 1, 2, 1);
}
/* What the two above can not be quicker than; only where there is a pointer. */
static long *pointer;
static void bare_store(void) {
    __atomic_store_n(pointer, 1, __ATOMIC_RELAXED); /* relaxed: the cost of the store alone */
}
static void bare_fetch_add(void) {
    /* relaxed: the instruction is the same. */
    count += __atomic_fetch_add(pointer, 1, __ATOMIC_RELAXED);
}
/* There and back; PE 1 does the same. Half of it is one way. */
static void ping(void) {
    ++rounds;
    if (me == 0) {
        shmem_putmem(there, here, bytes, 1);
        shmem_fence();
        shmem_long_p(&flag, rounds, 1);
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, rounds);
    } else {
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, rounds);
        shmem_putmem(there, here, bytes, 0);
        shmem_fence();
        shmem_long_p(&flag, rounds, 0);
    }
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

enum who { kFirst, kPair, kAll };

/* The cases that the command line names; none: all. */
static char **wanted;
static int wanted_count;

static int is_wanted(const char *name) {
    for (int i = 0; i < wanted_count; ++i)
        if (strcmp(wanted[i], name) == 0) return 1;
    return wanted_count == 0;
}

/* Batches of so many calls that one takes about a millisecond on PE 0; the others do as many. */
static void measure(const char *name, enum who who, void (*call)(void)) {
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
        calls = (long)(1e6 / (each > 1 ? each : 1)) + 1;
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
               spent[kBatches / 2] / (who == kPair ? 2 : 1));
    shmem_barrier_all();
}

static void one_sided(void) {
    static const size_t sizes[] = {1, 8, 64, 255, 1024, 8192, 65536, kMost};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        bytes = sizes[i];
        measure("put", kFirst, put);
        measure("get", kFirst, get);
        measure("put_nbi", kFirst, put_nbi);
        measure("put_quiet", kFirst, put_quiet);
        measure("put_flag_wait", kPair, ping);
    }
    bytes = 0;
    measure("p", kFirst, p);
    measure("g", kFirst, g);
    measure("fetch_add", kFirst, fetch_add);
    measure("add", kFirst, add);
    measure("compare_swap", kFirst, compare_swap);
    pointer = shmem_ptr(&word, 1);
    if (pointer == NULL) return;
    measure("bare_store", kFirst, bare_store);
    measure("bare_fetch_add", kFirst, bare_fetch_add);
}

static void collective(void) {
    static const size_t sizes[] = {8, 64, 1024, 8192, 65536};
    bytes = 0;
    measure("barrier_all", kAll, barrier);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        bytes = sizes[i];
        measure("broadcast", kAll, broadcast);
        measure("fcollect", kAll, fcollect);
        measure("alltoall", kAll, alltoall);
        measure("sum", kAll, sum);
    }
}

int main(int argc, char **argv) {
    wanted = argv + 1;
    wanted_count = argc - 1;
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was measured is seen if a library hangs later */
    shmem_init();
    me = shmem_my_pe();
    pes = shmem_n_pes();
    const size_t most = (size_t)kMost * (size_t)(pes > 1 ? pes : 2);
    there = shmem_align(4096, most);
    here = shmem_align(4096, most);
    work = shmem_malloc(kMost);
    if (pes < 2 || there == NULL || here == NULL || work == NULL) shmem_global_exit(1);
    memset(there, 0, most);
    memset(here, 0, most);
    for (int i = 0; i < 2 * kSyncWords; ++i)
        sync_words[i / kSyncWords][i % kSyncWords] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    if (pes == 2) one_sided();
    collective();
    fflush(stdout);
    shmem_barrier_all();
    shmem_finalize();
    return count == -1;
}
