/* The time that ranks of several nodes need to leave. Some have heard that a peer is leaving
 * before they leave themselves. Broken by a goodbye that is not sent to a peer which said goodbye
 * first, so that the peer waits for an answer. */
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "must.h"

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void) {
    must(sennit_init(NULL));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    const int rank = sennit_rank();
    const double begin = now_s();
    must(sennit_finalize());
    const double length = now_s() - begin;
    printf("rank %d %s: %.2f s\n", rank, length < 0.7 ? "left at once" : "waited", length);
    return 0;
}
