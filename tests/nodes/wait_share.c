/* Do ranks that wait long for a rank of another node sleep, where ranks share processors? Rank 0
 * computes, the others wait in a barrier. Would break: a wait for the network that looks and yields
 * to its end (each rank may be in a scheduling group of its own, which no yield reaches, and then
 * the rank that all wait for gets its share and no more); a sleep that nobody ends.
 */
#define _GNU_SOURCE
#include <sennit/sennit.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "must.h"

enum { MOST_PER_CENT = 15, LEAST_SLEEPS = 30 }; /* of some 550 */
static const double WORK_S = 0.6;
static const double LATE_S = 0.2;

static double process_s(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* How often this thread has gone to sleep; a yield does not count. */
static long sleeps(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0) return -1;
    return usage.ru_nvcsw;
}

int main(void) {
    must(sennit_init(NULL));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    const double begin_s = sennit_wtime();
    const double used_s = process_s();
    const long slept = sleeps();
    while (sennit_rank() == 0 && process_s() - used_s < WORK_S) {
    }
    const double worked_s = sennit_wtime() - begin_s;
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    const double waited_s = sennit_wtime() - begin_s;
    const double share = 100 * (process_s() - used_s) / waited_s;
    int is_good = 1;
    if (sennit_rank() != 0) {
        is_good = share < MOST_PER_CENT && sleeps() - slept >= LEAST_SLEEPS;
        printf("rank %d waited %.2f s, slept %ld times and took %.1f %% of a processor\n",
               sennit_rank(), waited_s, sleeps() - slept, share);
    } else {
        is_good = waited_s - worked_s < LATE_S;
        printf("rank 0: %.2f s of work took %.2f s; all were there %.4f s later\n", WORK_S,
               worked_s, waited_s - worked_s);
    }
    must(sennit_finalize());
    return is_good ? 0 : 1;
}
