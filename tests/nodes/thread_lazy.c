/* How often does the thread that serves other nodes wake up while the rank computes, and how late
 * is it? Rank 1 first sends a notified put each millisecond, for which it does not wait, and then
 * gets a word after each such put, for which it does. Would break: a thread that takes the
 * processor from its rank for each message that nobody waits for, and one that lets peers wait
 * until it looks anyway.
 */
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>

#include "must.h"
#include "thread_named.h"

enum { PUTS = 1000, GETS = 400, MOST_SLEEPS = 600, MOST_GET_US = 2000 };

static void wait_until(double time) {
    while (sennit_wtime() < time)
        ;
}

static int by_time(const void *a, const void *b) {
    const double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    _Atomic uint64_t words[2] = {0, 0}; /* the second one: rank 1 is through */
    sennit_region region;
    must(sennit_register((void *)words, sizeof words, 0, &region));
    sennit_signal arrived;
    must(sennit_signal_create(PUTS + GETS, PUTS + GETS, 0, &arrived));
    struct {
        sennit_region region;
        sennit_block block;
    } mine, all[2];
    mine.region = region;
    must(sennit_block_init(region, 0, sizeof words, SENNIT_SIGNAL_NULL, arrived, &mine.block));
    must(sennit_allgather(SENNIT_TEAM_WORLD, &mine, all, sizeof mine, SENNIT_FOREVER));
    sennit_peer_block there;
    must(sennit_block_attach(&all[0].block, &there));
    const sennit_gptr is_through = sennit_gptr_add(all[0].region.gptr, sizeof words[0]);
    const int thread = thread_named("sennit-progress");
    const sennit_notice notice = {SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, 0, SENNIT_FOREVER};
    double times[GETS];
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
        while (words[1] == 0)
            ;
        must(sennit_signal_wait(arrived, SENNIT_FOREVER));
    } else {
        for (int i = 0; i < PUTS; ++i) {
            must(sennit_put_notify_with(there, 0, &begin, sizeof begin, &notice));
            wait_until(begin + i * 1e-3);
        }
        uint64_t word = 0;
        for (int i = 0; i < GETS; ++i) {
            must(sennit_put_notify_with(there, 0, &begin, sizeof begin, &notice));
            const double start = sennit_wtime();
            must(sennit_get(&word, is_through, sizeof word));
            times[i] = sennit_wtime() - start;
        }
        qsort(times, GETS, sizeof times[0], by_time);
        printf("a get takes %.0f us, at most %.0f\n", times[GETS / 2] * 1e6, times[GETS - 1] * 1e6);
        word = 1;
        must(sennit_put(is_through, &word, sizeof word));
        failed = times[GETS / 2] * 1e6 > MOST_GET_US;
    }
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    must(sennit_finalize());
    return failed;
}
