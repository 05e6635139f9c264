/* Each rank puts 4 MiB into the memory of the next one, which checks every word.

       put_megabytes [BYTES [FILE]]

   Each put has BYTES bytes. With FILE the ranks repeat this with other words until rank 0 finds
   that FILE exists. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "must.h"

enum { BYTES = 4 * 1024 * 1024, WORDS = BYTES / 8 };

static void fill(uint64_t *words, int rank, uint64_t round) {
    for (uint64_t i = 0; i < WORDS; ++i)
        words[i] = (uint64_t)rank << 48 | round << 24 | i;
}

static void put_all(sennit_gptr to, const uint64_t *words, size_t each) {
    for (size_t at = 0, puts = 1; at < BYTES; at += each, ++puts) {
        must(sennit_put_nbi(sennit_gptr_add(to, (int64_t)at), (const char *)words + at, each));
        // When a rail is full, operations take another one.
        if (puts % 64 == 0) must(sennit_flush(to.rank, SENNIT_FOREVER));
    }
    must(sennit_flush(to.rank, SENNIT_FOREVER));
}

int main(int argc, char **argv) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    const size_t each = argc > 1 ? strtoul(argv[1], NULL, 10) : BYTES;
    must_be(each != 0 && BYTES % each == 0, "a part of 4 MiB");
    sennit_gptr inbox;
    must(sennit_alloc(SENNIT_TEAM_WORLD, BYTES, 0, 0, &inbox));
    uint64_t *words = malloc(BYTES);
    must_be(words != NULL, "memory");
    uint64_t is_over = argc < 3;
    for (uint64_t round = 0; round == 0 || !is_over; ++round) {
        fill(words, rank, round);
        put_all(sennit_gptr_at(inbox, (rank + 1) % size), words, each);
        must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
        fill(words, (rank + size - 1) % size, round);
        must_be(memcmp(words, sennit_ptr(inbox), BYTES) == 0, "the words of the rank before");
        if (argc > 2) {
            // The next round's words may come only after all ranks have checked these.
            must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
            is_over = rank == 0 && access(argv[2], F_OK) == 0;
            must(sennit_broadcast(SENNIT_TEAM_WORLD, 0, &is_over, sizeof is_over, SENNIT_FOREVER));
        }
    }
    free(words);
    must(sennit_free(inbox));
    must(sennit_finalize());
    return 0;
}
