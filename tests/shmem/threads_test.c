/* Several threads of each PE in collective calls at once: active sets of all PEs with a work array
 * for each thread, and teams that threads make in an order of their own and finalize destroys. */
#include <pthread.h>

#include "check.h"

enum { kThreads = 2, kRounds = 2000, kTeams = 200 };

static long sync_words[kThreads][SHMEM_REDUCE_SYNC_SIZE];
static long work[kThreads][SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long sums[kThreads], parts[kThreads];
static shmem_team_t parents[kThreads];
static pthread_barrier_t together;

static void *reduce(void *context) {
    const int mine = *(const int *)context;
    const int pes = shmem_n_pes();
    for (int round = 1; round <= kRounds; ++round) {
        parts[mine] = round * (mine + 1);
        shmem_long_sum_to_all(&sums[mine], &parts[mine], 1, 0, 0, pes, work[mine],
                              sync_words[mine]);
        CHECK(sums[mine] == (long)round * (mine + 1) * pes);
        shmem_barrier(0, 0, pes, sync_words[mine]);
    }
    return NULL;
}

static void *split(void *context) {
    const int mine = *(const int *)context;
    for (int i = 0; i < kTeams; ++i) {
        shmem_team_t made;
        pthread_barrier_wait(&together);
        CHECK(shmem_team_split_strided(parents[mine], 0, 1, shmem_n_pes(), NULL, 0, &made) == 0);
    }
    return NULL;
}

static void run(void *(*body)(void *)) {
    static const int numbers[kThreads] = {0, 1};
    pthread_t threads[kThreads];
    for (int i = 0; i < kThreads; ++i)
        pthread_create(&threads[i], NULL, body, (void *)&numbers[i]);
    for (int i = 0; i < kThreads; ++i)
        pthread_join(threads[i], NULL);
    shmem_barrier_all();
}

/* The level is asked for at the first init, or by one PE alone at a second one: several threads are
 * then allowed to all, and before to none. */
static int begin(int is_second) {
    int provided = -1;
    if (!is_second) return shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 ? provided : -1;
    shmem_init();
    shmem_query_thread(&provided);
    CHECK(provided == SHMEM_THREAD_SERIALIZED);
    if (shmem_my_pe() != 0)
        shmem_init();
    else
        CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0 &&
              provided == SHMEM_THREAD_MULTIPLE);
    shmem_query_thread(&provided);
    return provided;
}

int main(int argc, char **argv) {
    const int is_second = argc > 1 && strcmp(argv[1], "second") == 0;
    if (begin(is_second) != SHMEM_THREAD_MULTIPLE) return 1;
    for (int i = 0; i < kThreads; ++i)
        CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0,
                                       &parents[i]) == 0);
    pthread_barrier_init(&together, NULL, kThreads);
    run(reduce);
    run(split);
    if (is_second) shmem_finalize();
    shmem_finalize();
    return failures != 0;
}
