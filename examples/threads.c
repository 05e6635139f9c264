/* Transposition of a matrix of blocks, all to all, by several threads of each rank: each thread
 * computes the slabs for some ranks and sends each slab as soon as it is ready. Threads share the
 * attached blocks, so each call names its epoch. One signal tells that the slabs of all threads of
 * all ranks have arrived.
 *     sennit run -n 4 threads
 */
#include <pthread.h>

#include "must.h"

enum { kThreads = 3, kWords = 2000, kSteps = 20 };

/* Shared by the threads of a rank. */
struct shared {
    int rank, size;
    sennit_peer_block
        *there; /* a block of each rank, with two slabs from each rank: even and odd steps */
};

struct worker {
    struct shared *shared;
    int number;
    uint64_t slab[kWords];
};

static uint64_t word_of(int step, int from, int to) {
    return (uint64_t)step << 32 | (uint64_t)from << 16 | (uint64_t)to;
}

/* The place of the slab that arrives from rank `from` in a step. */
static size_t place_of(const struct shared *shared, int step, int from) {
    return ((size_t)(step % 2) * (size_t)shared->size + (size_t)from) * kWords * sizeof(uint64_t);
}

static void *send_slabs(void *context) {
    struct worker *me = context;
    const struct shared *shared = me->shared;
    for (int step = 0; step < kSteps; ++step) {
        for (int to = me->number; to < shared->size; to += kThreads) {
            for (int i = 0; i < kWords; ++i)
                me->slab[i] = word_of(step, shared->rank, to);
            /* A thread that is two steps ahead of a rank waits until that rank has read its
             * slabs. */
            const sennit_notice notice = {.epoch = (uint64_t)step, .wait_ns = SENNIT_FOREVER};
            must(sennit_put_notify_with(shared->there[to], place_of(shared, step, shared->rank),
                                        me->slab, sizeof me->slab, &notice));
        }
    }
    return NULL;
}

int main(void) {
    sennit_options options = SENNIT_OPTIONS_INIT;
    options.thread_level = SENNIT_THREAD_MULTIPLE;
    must(sennit_init(&options));
    struct shared shared = {sennit_rank(), sennit_size(), NULL};
    const size_t count = (size_t)shared.size;
    const size_t bytes = 2 * count * kWords * sizeof(uint64_t);
    sennit_gptr memory;
    must(sennit_alloc(SENNIT_TEAM_WORLD, bytes, 0, 0, &memory));
    const uint64_t *slabs = sennit_ptr(memory);
    sennit_signal arrived;
    must(sennit_signal_create((uint32_t)count, (uint32_t)count, 0, &arrived));
    sennit_block mine;
    const sennit_region region = {sennit_gptr_at(memory, shared.rank), bytes};
    must(sennit_block_init(region, 0, bytes, SENNIT_SIGNAL_NULL, arrived, &mine));
    sennit_block *blocks = malloc(count * sizeof *blocks);
    shared.there = malloc(count * sizeof *shared.there);
    struct worker *workers = malloc(kThreads * sizeof *workers);
    must_be(blocks != NULL && shared.there != NULL && workers != NULL, "memory");
    must(sennit_allgather(SENNIT_TEAM_WORLD, &mine, blocks, sizeof mine, SENNIT_FOREVER));
    for (size_t i = 0; i < count; ++i)
        must(sennit_block_attach(&blocks[i], &shared.there[i]));

    pthread_t threads[kThreads];
    for (int i = 0; i < kThreads; ++i) {
        workers[i].shared = &shared;
        workers[i].number = i;
        must_be(pthread_create(&threads[i], NULL, send_slabs, &workers[i]) == 0, "a thread");
    }
    for (int step = 0; step < kSteps; ++step) {
        must(sennit_signal_wait(arrived, SENNIT_FOREVER));
        for (int from = 0; from < shared.size; ++from) {
            const uint64_t *slab = slabs + place_of(&shared, step, from) / sizeof *slabs;
            for (int i = 0; i < kWords; ++i)
                must_be(slab[i] == word_of(step, from, shared.rank), "a slab");
        }
        must(sennit_signal_reset(arrived));
    }
    for (int i = 0; i < kThreads; ++i)
        (void)pthread_join(threads[i], NULL);
    must(sennit_flush_all(SENNIT_FOREVER));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    if (shared.rank == 0)
        printf("%d steps of slabs from all to all, by %d threads a rank\n", kSteps, kThreads);
    for (size_t i = 0; i < count; ++i)
        must(sennit_block_detach(shared.there[i]));
    must(sennit_signal_destroy(arrived));
    must(sennit_free(memory));
    free(workers);
    free(shared.there);
    free(blocks);
    must(sennit_finalize());
    return 0;
}
