/* One rank that makes one kind of call again and again, for observer.py, which counts instructions:
 *     observer_figures CALL COUNT
 * Prints the nanoseconds of one call, the median of nine batches. */
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sennit_gptr place;
static sennit_lock lock;
static int64_t word;

static int put(void) {
    return sennit_put(place, &word, 8);
}
static int get(void) {
    return sennit_get(&word, place, 8);
}
static int fetch_add(void) {
    return sennit_atomic_fetch_add_i64(place, 1, &word);
}
static int put_nb_and_wait(void) {
    sennit_request request;
    const int status = sennit_put_nb(place, &word, 8, &request);
    return status != SENNIT_OK ? status : (int)sennit_wait(&request, SENNIT_FOREVER);
}
static int flush(void) {
    return sennit_flush_all(SENNIT_FOREVER);
}
static int barrier(void) {
    return sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER);
}
static int lock_and_release(void) {
    const int status = sennit_lock_acquire(lock, SENNIT_FOREVER);
    return status != SENNIT_OK ? status : (int)sennit_lock_release(lock);
}

static const struct {
    const char *name;
    int (*call)(void);
} kCalls[] = {{"put", put},
              {"get", get},
              {"fetch_add", fetch_add},
              {"flush", flush},
              {"barrier", barrier},
              {"put_nb_and_wait", put_nb_and_wait},
              {"lock", lock_and_release}};

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns 0 unless a call failed. */
static int measure(int (*call)(void), long count) {
    enum { kBatches = 9 };
    double ns[kBatches];
    for (int batch = 0; batch < kBatches; ++batch) {
        const double start = sennit_wtime();
        for (long i = 0; i < count; ++i)
            if (call() != SENNIT_OK) return 1;
        ns[batch] = (sennit_wtime() - start) * 1e9 / (double)count;
    }
    qsort(ns, kBatches, sizeof ns[0], compare);
    printf("%.2f\n", ns[kBatches / 2]);
    return 0;
}

int main(int argc, char **argv) {
    const long count = argc == 3 ? atol(argv[2]) : 0;
    int result = 2;
    if (count < 1 || sennit_init(NULL) != SENNIT_OK) return 2;
    if (sennit_alloc(SENNIT_TEAM_WORLD, 64, 0, 0, &place) != SENNIT_OK) return 2;
    if (sennit_lock_create(SENNIT_TEAM_WORLD, &lock) != SENNIT_OK) return 2;
    for (size_t i = 0; i < sizeof kCalls / sizeof kCalls[0]; ++i)
        if (strcmp(argv[1], kCalls[i].name) == 0) result = measure(kCalls[i].call, count);
    return sennit_finalize() == SENNIT_OK ? result : 2;
}
