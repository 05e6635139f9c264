/* The time of a short put behind a put of 16 MiB; each has its own signal.

       short_behind_long BYTES

   Rank 0 starts both without a wait between them. Rank 1 prints when each signal fired, in
   microseconds after the start. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "must.h"

enum { BYTES = 16 * 1024 * 1024, WORDS = BYTES / 8, RUNS = 6 };

static size_t short_bytes;

static uint64_t word_of(uint64_t run, uint64_t i) {
    return run << 32 | (i + 1);
}

// The short put follows the long one.
static void send_both(sennit_peer_block there, uint64_t *words, const sennit_signal *arrived,
                      uint64_t run) {
    const sennit_notice of_long = {arrived[0], SENNIT_SIGNAL_NULL, run, 0};
    const sennit_notice of_short = {arrived[1], SENNIT_SIGNAL_NULL, run, 0};
    sennit_request requests[2];
    for (uint64_t i = 0; i < WORDS + short_bytes / 8; ++i)
        words[i] = word_of(run, i);
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    must(sennit_put_notify_nb(there, 0, words, BYTES, &of_long, &requests[0]));
    must(sennit_put_notify_nb(there, BYTES, words + WORDS, short_bytes, &of_short, &requests[1]));
    must(sennit_wait_all(2, requests, SENNIT_FOREVER));
    must(sennit_flush(1, SENNIT_FOREVER));
}

static void take_both(const uint64_t *words, const sennit_signal *arrived, uint64_t run) {
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    const double begin = sennit_wtime();
    must(sennit_signal_wait(arrived[1], SENNIT_FOREVER));
    const double short_s = sennit_wtime() - begin;
    for (uint64_t i = WORDS; i < WORDS + short_bytes / 8; ++i)
        must_be(words[i] == word_of(run, i), "the words of the short one");
    must(sennit_signal_wait(arrived[0], SENNIT_FOREVER));
    const double long_s = sennit_wtime() - begin;
    for (uint64_t i = 0; i < WORDS; ++i)
        must_be(words[i] == word_of(run, i), "the words of the long one");
    must(sennit_signal_reset(arrived[0]));
    must(sennit_signal_reset(arrived[1]));
    printf("short after %.0f us, long after %.0f us\n", 1e6 * short_s, 1e6 * long_s);
}

int main(int argc, char **argv) {
    must_be(argc == 2, "one argument");
    short_bytes = strtoul(argv[1], NULL, 10);
    must(sennit_init(NULL));
    must_be(sennit_size() == 2 && short_bytes != 0 && short_bytes % 8 == 0,
            "two ranks, and whole words");
    const int rank = sennit_rank();
    const size_t bytes = BYTES + short_bytes;
    sennit_gptr memory;
    must(sennit_alloc(SENNIT_TEAM_WORLD, bytes, 0, 0, &memory));
    sennit_signal arrived[2];
    for (int i = 0; rank == 1 && i < 2; ++i)
        must(sennit_signal_create(1, 1, 0, &arrived[i]));
    must(sennit_broadcast(SENNIT_TEAM_WORLD, 1, arrived, sizeof arrived, SENNIT_FOREVER));
    sennit_block block;
    must(sennit_block_init((sennit_region){sennit_gptr_at(memory, rank), bytes}, 0, bytes,
                           SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, &block));
    must(sennit_broadcast(SENNIT_TEAM_WORLD, 1, &block, sizeof block, SENNIT_FOREVER));
    uint64_t *words = malloc(bytes);
    must_be(words != NULL, "memory");
    sennit_peer_block there = SENNIT_PEER_BLOCK_NULL;
    if (rank == 0) must(sennit_block_attach(&block, &there));
    for (uint64_t run = 0; run < RUNS; ++run) {
        if (rank == 0)
            send_both(there, words, arrived, run);
        else
            take_both(sennit_ptr(memory), arrived, run);
    }
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    free(words);
    must(sennit_free(memory));
    must(sennit_finalize());
    return 0;
}
