/* A rank computes for 0.8 ms, sends a message to the other rank, and waits for its message, in
 * turn. The rank takes all messages itself, so the thread that serves other nodes mostly sleeps.
 * Broken by a thread that takes the processor from the rank to look for messages that nobody waits
 * for, soon after the rank itself has looked; and by one that does so for a long time because a
 * transfer was refused once, while its connection was made. */
#include <sennit/sennit.h>
#include <stdio.h>

#include "must.h"
#include "thread_named.h"

enum { LONG = 65536, BYTES = 1024, FIRST = 100, STEPS = 1500 };
/* The thread sleeps for 20 ms; less if other load holds up a rank. */
static const double kLeastSleep = 8e-3;

static void compute(double seconds) {
    const double end = sennit_wtime() + seconds;
    while (sennit_wtime() < end)
        ;
}

int main(void) {
    static char buffer[LONG];
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    sennit_region mine = SENNIT_REGION_NULL;
    sennit_gptr memory;
    sennit_signal arrived;
    sennit_block block, all[2];
    sennit_peer_block there;
    must(sennit_alloc(SENNIT_TEAM_WORLD, LONG, 0, 0, &memory));
    must(sennit_signal_create(1, 1, 0, &arrived));
    mine.gptr = sennit_gptr_at(memory, rank);
    mine.bytes = LONG;
    must(sennit_block_init(mine, 0, LONG, SENNIT_SIGNAL_NULL, arrived, &block));
    must(sennit_allgather(SENNIT_TEAM_WORLD, &block, all, sizeof block, SENNIT_FOREVER));
    must(sennit_block_attach(&all[1 - rank], &there));
    const int thread = thread_named("sennit-progress");
    long before = 0;
    double begin = 0;
    for (int step = 0; step < STEPS; ++step) {
        if (step == FIRST) before = sleeps_of(thread);
        if (step == FIRST) begin = sennit_wtime();
        compute(0.8e-3);
        must(sennit_put_notify(there, 0, buffer, step == 0 ? LONG : BYTES));
        must(sennit_signal_wait(arrived, SENNIT_FOREVER));
        must(sennit_signal_reset(arrived));
    }
    const long sleeps = sleeps_of(thread) - before;
    const double seconds = sennit_wtime() - begin;
    printf("rank %d: the thread went to sleep %ld times in %d steps, %.2f s\n", rank, sleeps,
           STEPS - FIRST, seconds);
    const int is_rare = before >= 0 && sleeps >= 0 && (double)sleeps * kLeastSleep < seconds;
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    must(sennit_block_detach(there));
    must(sennit_finalize());
    return is_rare ? 0 : 1;
}
