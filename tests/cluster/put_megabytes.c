/* Each rank puts 4 MiB into the memory of the next one, which looks at every word. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"

enum { BYTES = 4 * 1024 * 1024, WORDS = BYTES / 8 };

static void fill(uint64_t *words, int rank) {
    for (uint64_t i = 0; i < WORDS; ++i)
        words[i] = (uint64_t)rank << 32 | i;
}

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    sennit_gptr inbox;
    must(sennit_alloc(SENNIT_TEAM_WORLD, BYTES, 0, 0, &inbox));
    uint64_t *words = malloc(BYTES);
    must_be(words != NULL, "memory");
    fill(words, rank);
    must(sennit_put(sennit_gptr_at(inbox, (rank + 1) % size), words, BYTES));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    fill(words, (rank + size - 1) % size);
    must_be(memcmp(words, sennit_ptr(inbox), BYTES) == 0, "the words of the rank before");
    free(words);
    must(sennit_free(inbox));
    must(sennit_finalize());
    return 0;
}
