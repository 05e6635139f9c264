/* How often does the thread that serves other nodes wake up while the rank itself looks at the
 * network all the time, in one short wait after the other? Would break: a thread that looks after
 * the rank each millisecond all the same. On a kernel that gives a group of threads more than its
 * share where they go to sleep and wake up often, others then get the processor seconds late
 * (docs/design/waiting.md).
 */
#include <sennit/sennit.h>
#include <stdio.h>

#include "must.h"
#include "thread_named.h"

enum { MOST_PER_SECOND = 400 };

int main(void) {
    must(sennit_init(NULL));
    sennit_gptr gptr;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int), 0, 0, &gptr));
    int value = sennit_rank();
    const int thread = thread_named("sennit-progress");
    long before = 0;
    const double begin = sennit_wtime();
    const double half = begin + 0.5, end = begin + 2;
    while (sennit_wtime() < end) {
        if (sennit_wtime() < half) before = sleeps_of(thread);
        must(sennit_put(sennit_gptr_at(gptr, 1 - value), &value, sizeof value));
    }
    const long sleeps = sleeps_of(thread) - before;
    printf("rank %d: the thread went to sleep %ld times in 1.5 s\n", value, sleeps);
    const int is_rare = before >= 0 && sleeps >= 0 && sleeps < 3 * MOST_PER_SECOND / 2;
    must(sennit_finalize());
    return is_rare ? 0 : 1;
}
