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
static sennit_signal arrived;
static sennit_peer_block block; /* of this rank; its puts count events of `arrived` */
static sennit_channel channel;  /* with this rank itself */

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
/* A message and its epoch: one caller waits for it, the other polls. */
static int put_notify_wait_reset(void) {
    int status = sennit_put_notify(block, 0, &word, 8);
    if (status == SENNIT_OK) status = sennit_signal_wait(arrived, SENNIT_FOREVER);
    return status != SENNIT_OK ? status : (int)sennit_signal_reset(arrived);
}
static int put_notify_test_reset(void) {
    int done = 0, status = sennit_put_notify(block, 0, &word, 8);
    if (status == SENNIT_OK) status = sennit_signal_test(arrived, &done);
    if (status != SENNIT_OK || !done) return SENNIT_ERR_STATE;
    return sennit_signal_reset(arrived);
}
/* The four calls of a hand-over, of both sides. */
static int hand_over(void) {
    int status = sennit_channel_wait_write(channel, SENNIT_FOREVER);
    if (status == SENNIT_OK) status = sennit_channel_have_written(channel);
    if (status == SENNIT_OK) status = sennit_channel_wait_read(channel, SENNIT_FOREVER);
    return status != SENNIT_OK ? status : (int)sennit_channel_have_read(channel);
}
static int broadcast(void) {
    return sennit_broadcast(SENNIT_TEAM_WORLD, 0, &word, 8, SENNIT_FOREVER);
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
              {"lock", lock_and_release},
              {"put_notify_wait_reset", put_notify_wait_reset},
              {"put_notify_test_reset", put_notify_test_reset},
              {"hand_over", hand_over},
              {"broadcast", broadcast}};

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

/* Returns 0 unless a call failed. */
static int prepare(void) {
    static const int self = 0;
    static const size_t bytes = 64;
    sennit_region region;
    sennit_block own;
    if (sennit_alloc(SENNIT_TEAM_WORLD, 192, 0, 0, &place) != SENNIT_OK ||
        sennit_lock_create(SENNIT_TEAM_WORLD, &lock) != SENNIT_OK)
        return 1;
    char *const memory = sennit_ptr(place);
    if (memory == NULL || sennit_register(memory + 64, bytes, 0, &region) != SENNIT_OK ||
        sennit_signal_create(1, 1, 0, &arrived) != SENNIT_OK ||
        sennit_block_init(region, 0, bytes, SENNIT_SIGNAL_NULL, arrived, &own) != SENNIT_OK ||
        sennit_block_attach(&own, &block) != SENNIT_OK)
        return 1;
    void *const buffers[] = {memory + 128};
    const sennit_channel_ends ends = {1, &self, buffers, &bytes};
    return sennit_channel_open(SENNIT_TEAM_WORLD, &ends, 0, SENNIT_FOREVER, NULL, &channel) !=
           SENNIT_OK;
}

int main(int argc, char **argv) {
    const long count = argc == 3 ? atol(argv[2]) : 0;
    int result = 2;
    if (count < 1 || sennit_init(NULL) != SENNIT_OK) return 2;
    if (prepare() != 0) return 2;
    for (size_t i = 0; i < sizeof kCalls / sizeof kCalls[0]; ++i)
        if (strcmp(argv[1], kCalls[i].name) == 0) result = measure(kCalls[i].call, count);
    return sennit_finalize() == SENNIT_OK ? result : 2;
}
