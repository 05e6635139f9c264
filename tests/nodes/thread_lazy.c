/* How often the thread that serves other nodes wakes up while the rank computes, and its delay.
 * Rank 1 first sends a notified put each millisecond and does not wait for it. Then it repeats, for
 * 0.4 s each: such a put and a get, 200 such puts, and a put of 256 KiB. Broken by a thread that
 * takes the processor from its rank for messages that nobody waits for, and by one that makes
 * waiting peers wait for its next look. */
#include <sennit/sennit.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "must.h"
#include "thread_named.h"

enum { LONG = 1 << 18, EVENTS = 1 << 20, PUTS = 1000, MOST_SLEEPS = 600 };

static sennit_peer_block there;
static char *buffer;

static void put(size_t bytes) {
    const sennit_notice notice = {SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 0, SENNIT_FOREVER};
    must(sennit_put_notify_with(there, 0, buffer, bytes, &notice));
}

static void wait_until(double time) {
    while (sennit_wtime() < time)
        ;
}

static void put_200(sennit_gptr word) {
    (void)word;
    for (int i = 0; i < 200; ++i)
        put(8);
}

static void put_long(sennit_gptr word) {
    (void)word;
    put(LONG);
}

static void get(sennit_gptr word) {
    put(8);
    must(sennit_get(buffer, word, 8));
}

/* True if there are fewer than `least` calls in 0.4 s. A caller that waits for looks every 5 ms
 * makes 80 calls, or 13 calls of 200 puts with 32 on their way. */
static int is_slow(const char *what, int least, void (*call)(sennit_gptr), sennit_gptr word) {
    const double end = sennit_wtime() + 0.4;
    int calls = 0;
    for (; sennit_wtime() < end; ++calls)
        call(word);
    printf("%s: %d in 0.4 s\n", what, calls);
    return calls < least;
}

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    char *const memory = calloc(1, LONG + 8);
    buffer = calloc(1, LONG);
    must_be(memory != NULL && buffer != NULL, "memory");
    sennit_signal arrived;
    must(sennit_signal_create(EVENTS, EVENTS, 0, &arrived));
    struct {
        sennit_region region;
        sennit_block block;
    } mine, all[2];
    must(sennit_register(memory, LONG + 8, 0, &mine.region));
    must(sennit_block_init(mine.region, 0, LONG, SENNIT_SIGNAL_NULL, arrived, &mine.block));
    must(sennit_allgather(SENNIT_TEAM_WORLD, &mine, all, sizeof mine, SENNIT_FOREVER));
    must(sennit_block_attach(&all[0].block, &there));
    const sennit_gptr through = sennit_gptr_add(all[0].region.gptr, LONG);
    const int thread = thread_named("sennit-progress");
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    const double begin = sennit_wtime();
    int failed = 0;
    if (rank == 0) {
        wait_until(begin + 0.1);
        const long before = sleeps_of(thread);
        wait_until(begin + PUTS * 1e-3);
        const long sleeps = sleeps_of(thread) - before;
        printf("the thread went to sleep %ld times in 0.9 s\n", sleeps);
        failed = before < 0 || sleeps < 0 || sleeps > MOST_SLEEPS;
        while (atomic_load((_Atomic uint64_t *)(memory + LONG)) == 0)
            ;
    } else {
        for (int i = 0; i < PUTS; ++i) {
            put(8);
            wait_until(begin + i * 1e-3);
        }
        failed |= is_slow("gets", 300, get, through);
        failed |= is_slow("200 short puts", 50, put_200, through);
        failed |= is_slow("long puts", 300, put_long, through);
        const uint64_t one = 1;
        must(sennit_put(through, &one, sizeof one));
    }
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    must(sennit_finalize());
    free(memory);
    free(buffer);
    return failed;
}
