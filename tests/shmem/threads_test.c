/* Several threads of each PE in collective calls at the same time: active sets of all PEs with a
 * work array for each thread; teams that threads make in any order and finalize destroys; and
 * threads with a context each. */
#include <pthread.h>

#include "check.h"

enum { kThreads = 2, kRounds = 2000, kTeams = 200, kTasks = 500, kBytes = 3000 };

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

/* Threads take tasks by the counter of each PE, starting with their own PE, each with its own
 * context. Breaks when a task is taken twice or not at all. */
static long next_task, tasks_done, tasks_of_all;

static void *take_tasks(void *context) {
    (void)context;
    const int me = shmem_my_pe(), pes = shmem_n_pes();
    shmem_ctx_t ctx;
    long done = 0;
    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
    for (int i = 0; i < pes; ++i) {
        while (shmem_ctx_long_atomic_fetch_inc(ctx, &next_task, (me + i) % pes) < kTasks)
            ++done;
    }
    shmem_ctx_destroy(ctx);
    shmem_long_atomic_add(&tasks_done, done, me);
    return NULL;
}

/* A library that keeps a context for each registered thread in a thread-local variable. */
static _Thread_local shmem_ctx_t own_ctx = SHMEM_CTX_INVALID;
static unsigned char put_from[kThreads][kBytes], put_to[kThreads][kBytes];

static void put_by_own_context(void *to, const void *from, size_t bytes, int pe) {
    if (own_ctx == SHMEM_CTX_INVALID) CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &own_ctx) == 0);
    shmem_ctx_putmem_nbi(own_ctx, to, from, bytes, pe);
}

static void *put_own_part(void *context) {
    const int mine = *(const int *)context, next = (shmem_my_pe() + 1) % shmem_n_pes();
    CHECK(own_ctx == SHMEM_CTX_INVALID);
    memset(put_from[mine], shmem_my_pe() * 16 + mine + 1, kBytes);
    put_by_own_context(put_to[mine], put_from[mine], kBytes / 2, next);
    const shmem_ctx_t first = own_ctx;
    put_by_own_context(put_to[mine] + kBytes / 2, put_from[mine] + kBytes / 2, kBytes / 2, next);
    CHECK(own_ctx == first);
    shmem_ctx_destroy(own_ctx);
    own_ctx = SHMEM_CTX_INVALID;
    return NULL;
}

static void check_threads_with_contexts(void) {
    const int pes = shmem_n_pes(), before = (shmem_my_pe() + pes - 1) % pes;
    CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &tasks_of_all, &tasks_done, 1) == 0);
    CHECK(tasks_of_all == (long)kTasks * pes);
    for (int i = 0; i < kThreads * kBytes; ++i)
        CHECK(put_to[i / kBytes][i % kBytes] == before * 16 + i / kBytes + 1);
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

/* The thread level is requested at the first init, or by one PE alone at a second init: from then
 * on all PEs may use several threads, and before none may. */
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
    run(take_tasks);
    run(put_own_part);
    check_threads_with_contexts();
    if (is_second) shmem_finalize();
    shmem_finalize();
    return failures != 0;
}
