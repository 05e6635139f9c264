/* The processor of the thread that serves other nodes.
 *
 *   thread_place thread|process|launcher goes|stays
 *
 * The first word says who binds. thread: a program that may use processors 0 and 1 binds the thread
 * that calls Sennit to the first; process: it binds the whole process, as a launcher would;
 * launcher: the launcher has bound it. The second word says whether the thread moves to a free
 * processor or stays with its rank. Broken by a thread that stays where sennit_init made it, or
 * that moves to the processor of another rank or job. Ends with 77 unless there are two processors;
 * with `launcher` also if there are more.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sennit/sennit.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "thread_named.h"

enum { SKIPPED = 77 };

static const char *binds;
static int stays;

static int bind_to(int first, int last) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu = first; cpu <= last; ++cpu)
        CPU_SET(cpu, &set);
    return pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

static int is_right(const cpu_set_t *rank) {
    cpu_set_t set;
    const int thread = thread_named("sennit-progress");
    if (thread == 0 || sched_getaffinity(thread, sizeof set, &set) != 0) return 0;
    return stays ? CPU_EQUAL(&set, rank) : !CPU_ISSET(0, &set) && CPU_ISSET(1, &set);
}

/* The thread moves at its first look; a thread that stays is observed for a while. */
static int is_found(const cpu_set_t *rank) {
    const double begin = sennit_wtime();
    int right = 0;
    do
        right = is_right(rank);
    while (sennit_wtime() - begin < (stays ? 0.3 : 10) && right == stays);
    return right;
}

static void *run(void *result) {
    int *const failed = result;
    cpu_set_t rank;
    *failed = (strcmp(binds, "thread") == 0 && bind_to(0, 0) != 0) ||
              sched_getaffinity(0, sizeof rank, &rank) != 0 || sennit_init(NULL) != SENNIT_OK;
    if (*failed) return NULL;
    *failed = !is_found(&rank);
    if (*failed)
        fprintf(stderr, stays ? "the thread may run elsewhere than its rank\n"
                              : "the thread may run on the processor of its rank\n");
    *failed |= sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) != SENNIT_OK ||
               sennit_finalize() != SENNIT_OK;
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread;
    int failed = 1;
    if (argc != 3) return 1;
    binds = argv[1];
    stays = strcmp(argv[2], "stays") == 0;
    cpu_set_t set;
    if (strcmp(binds, "launcher") == 0) {
        if (sysconf(_SC_NPROCESSORS_ONLN) != 2) return SKIPPED;
    } else {
        if (bind_to(0, 1) != 0) return SKIPPED;
        if (sched_getaffinity(0, sizeof set, &set) != 0 || CPU_COUNT(&set) != 2) return SKIPPED;
        if (strcmp(binds, "process") == 0 && bind_to(0, 0) != 0) return 1;
    }
    if (pthread_create(&thread, NULL, run, &failed) != 0) return 1;
    pthread_join(thread, NULL);
    return failed;
}
