/* Cases of speed.c that need OpenSHMEM 1.5: puts with a signal, and collective calls of teams. */
#include "speed.h"

#include <shmem.h>

static void put_and_signal(void) {
    shmem_putmem_signal(there, here, bytes, signal_word, (uint64_t)rounds, SHMEM_SIGNAL_SET,
                        1 - me);
}
static void signal_and_back(void) {
    ++rounds;
    if (me == 0) put_and_signal();
    shmem_signal_wait_until(signal_word, SHMEM_CMP_GE, (uint64_t)rounds);
    if (me == 1) put_and_signal();
}
static void team_sync(void) {
    shmem_team_sync(SHMEM_TEAM_WORLD);
}
static void team_broadcast(void) {
    shmem_broadcastmem(SHMEM_TEAM_WORLD, there, here, bytes, 0);
    shmem_barrier_all();
}
static void team_fcollect(void) {
    shmem_fcollectmem(SHMEM_TEAM_WORLD, there, here, bytes);
    shmem_barrier_all();
}
static void team_alltoall(void) {
    shmem_alltoallmem(SHMEM_TEAM_WORLD, there, here, bytes);
    shmem_barrier_all();
}
static void team_sum(void) {
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, (double *)there, (double *)here, bytes / 8);
    shmem_barrier_all();
}
static void team_max(void) {
    shmem_long_max_reduce(SHMEM_TEAM_WORLD, (long *)there, (long *)here, bytes / 8);
    shmem_barrier_all();
}

void measure_signals(void) {
    measure("put_signal_wait", kPair, signal_and_back);
}

void measure_team_sync(void) {
    measure("team_sync", kAll, team_sync);
}

void measure_teams(void) {
    measure("team_broadcast", kAll, team_broadcast);
    measure("team_fcollect", kAll, team_fcollect);
    measure("team_alltoall", kAll, team_alltoall);
    measure("team_sum", kAll, team_sum);
    measure("team_max", kAll, team_max);
}
