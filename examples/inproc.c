/* Ranks that are threads of one process: no launcher, the same calls.
 *     inproc
 */
#include <pthread.h>

#include "must.h"

enum { kRanks = 4 };

static void *rank_main(void *bootstrap) {
    sennit_options options = SENNIT_OPTIONS_INIT;
    options.bootstrap = bootstrap;
    must(sennit_init(&options));
    const int rank = sennit_rank();
    const int next = (rank + 1) % kRanks;

    sennit_path path;
    must(sennit_peer_path(next, &path));
    must_be(path == SENNIT_PATH_INPROC, "ranks of one process use their own pointers");

    sennit_gptr mine;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int), 0, 0, &mine));
    must(sennit_put(sennit_gptr_at(mine, next), &rank, sizeof rank));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    int number = -1;
    must(sennit_get(&number, mine, sizeof number));
    must_be(number == (rank + kRanks - 1) % kRanks, "the number of the rank before");

    must(sennit_free(mine));
    must(sennit_finalize());
    return NULL;
}

int main(void) {
    sennit_bootstrap bootstraps[kRanks];
    pthread_t threads[kRanks];
    must(sennit_bootstrap_inproc_create(kRanks, bootstraps));
    for (int i = 0; i < kRanks; ++i)
        if (pthread_create(&threads[i], NULL, rank_main, &bootstraps[i]) != 0) return 1;
    for (int i = 0; i < kRanks; ++i)
        if (pthread_join(threads[i], NULL) != 0) return 1;
    must(sennit_bootstrap_inproc_destroy(kRanks, bootstraps));
    printf("%d ranks in one process\n", kRanks);
    return 0;
}
