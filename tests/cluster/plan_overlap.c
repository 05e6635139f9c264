/* The cost of a plan of 16 MiB for a caller that computes while the plan runs.

       plan_overlap

   Rank 0 starts the plan, computes for twice the time of a run without computation, and then waits.
   Rank 1 checks every word of each run and prints when its signal fired. Rank 0 prints the
   processor time of the calling thread inside Sennit and the time of the run, in microseconds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "must.h"

enum { BYTES = 16 * 1024 * 1024, WORDS = BYTES / 8, RUNS = 3 };

static double now_s(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// Processor time of this thread. getrusage() counts in kernel ticks, which may be 4 ms.
static double used_s(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t word_of(uint64_t run, uint64_t i) {
    return run << 32 | i;
}

// A run of the plan. Returns its total time; *cost_s is the thread's processor time inside Sennit.
static double run(sennit_plan plan, double compute_s, double *cost_s) {
    const double begin = now_s();
    double used = used_s();
    must(sennit_plan_start(plan));
    *cost_s = used_s() - used;
    while (now_s() - begin < compute_s) {
        // The rank computes outside Sennit.
    }
    used = used_s();
    must(sennit_plan_wait(plan, SENNIT_FOREVER));
    *cost_s += used_s() - used;
    return now_s() - begin;
}

static void send_all(sennit_peer_block there, uint64_t *words) {
    sennit_plan plan;
    must(sennit_plan_create(&plan));
    must(sennit_plan_put(plan, there, 0, words, BYTES));
    must(sennit_plan_commit(plan, 0, 1));
    double cost_s = 0;
    double bare_s = 0;
    for (uint64_t number = 0; number < RUNS; ++number) {
        for (uint64_t i = 0; i < WORDS; ++i)
            words[i] = word_of(number, i);
        must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
        const double all_s = run(plan, 2 * bare_s, &cost_s);
        if (number == 0) bare_s = all_s;
        printf("run %d took %.0f us, of which %.0f us of this thread were Sennit's\n", (int)number,
               1e6 * all_s, 1e6 * cost_s);
        if (number > 0)
            must_be(all_s < 2.5 * bare_s, "nothing is left when the computation is over");
        must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    }
    must(sennit_plan_destroy(plan));
}

static void receive_all(const uint64_t *words, sennit_signal arrived) {
    for (uint64_t number = 0; number < RUNS; ++number) {
        must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
        const double begin = now_s();
        must(sennit_signal_wait(arrived, SENNIT_FOREVER));
        printf("run %d is there after %.0f us\n", (int)number, 1e6 * (now_s() - begin));
        for (uint64_t i = 0; i < WORDS; ++i)
            must_be(words[i] == word_of(number, i), "the words of the run");
        must(sennit_signal_reset(arrived));
        must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    }
}

int main(void) {
    must(sennit_init(NULL));
    must_be(sennit_size() == 2, "two ranks");
    sennit_gptr memory;
    must(sennit_alloc(SENNIT_TEAM_WORLD, BYTES, 0, 0, &memory));
    sennit_signal arrived;
    must(sennit_signal_create(1, 1, 0, &arrived));
    sennit_block block;
    must(sennit_block_init((sennit_region){sennit_gptr_at(memory, sennit_rank()), BYTES}, 0, BYTES,
                           SENNIT_SIGNAL_NULL, arrived, &block));
    must(sennit_broadcast(SENNIT_TEAM_WORLD, 1, &block, sizeof block, SENNIT_FOREVER));
    if (sennit_rank() == 0) {
        uint64_t *words = malloc(BYTES);
        must_be(words != NULL, "memory");
        sennit_peer_block there;
        must(sennit_block_attach(&block, &there));
        send_all(there, words);
        must(sennit_block_detach(there));
        free(words);
    } else {
        receive_all(sennit_ptr(memory), arrived);
    }
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    must(sennit_signal_destroy(arrived));
    must(sennit_free(memory));
    must(sennit_finalize());
    return 0;
}
