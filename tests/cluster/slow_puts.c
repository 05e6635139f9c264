/* Two ranks put to each other at the same time, more than their rail carries in the peer timeout.

       slow_puts PUTS

   PUTS puts of 4 MiB, non-blocking, then a flush; each rank checks all words. Then the same without
   end, until the other rank is lost. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "must.h"

enum { BYTES = 4 * 1024 * 1024, WORDS = BYTES / 8 };

static double now_s(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void tell(const char *what, int value) {
    printf("rank %d %s %d at %.3f\n", sennit_rank(), what, value, now_s());
    (void)fflush(stdout);
}

static void fill(uint64_t *words, int rank, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i)
        words[i] = (uint64_t)rank << 48 | i;
}

static sennit_status put_all(sennit_gptr to, const uint64_t *words, int puts) {
    for (int i = 0; i < puts; ++i) {
        const sennit_gptr place = sennit_gptr_add(to, (int64_t)i * BYTES);
        const sennit_status status = sennit_put_nbi(place, words + (size_t)i * WORDS, BYTES);
        if (status != SENNIT_OK) return status;
    }
    return sennit_flush(to.rank, SENNIT_FOREVER);
}

int main(int argc, char **argv) {
    must(sennit_init(NULL));
    const int puts = argc == 2 ? atoi(argv[1]) : 0;
    must_be(puts > 0 && sennit_size() == 2, "a number of puts, and two ranks");
    const int rank = sennit_rank();
    const size_t bytes = (size_t)puts * BYTES;
    sennit_gptr inbox;
    must(sennit_alloc(SENNIT_TEAM_WORLD, bytes, 0, 0, &inbox));
    uint64_t *words = malloc(bytes);
    must_be(words != NULL, "memory");
    fill(words, rank, bytes / 8);
    const sennit_gptr there = sennit_gptr_at(inbox, 1 - rank);
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    const double begin_s = now_s();
    must(put_all(there, words, puts));
    tell("put in ms", (int)((now_s() - begin_s) * 1e3));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    fill(words, 1 - rank, bytes / 8);
    must_be(memcmp(words, sennit_ptr(inbox), bytes) == 0, "the words of the other rank");
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    tell("goes on with", puts);
    sennit_status status = SENNIT_OK;
    while (status == SENNIT_OK)
        status = put_all(there, words, puts);
    tell("lost", sennit_last_error()->peer);
    free(words);
    // The launcher ends all ranks when the first one exits.
    (void)sleep(2);
    return status == SENNIT_ERR_PEER_LOST ? 0 : 1;
}
