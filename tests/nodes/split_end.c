/* A rank dies while another rank of its node puts so much to it that a rail carries a part. The
 * puts continue and end, as they would with load and store alone. Rank 0 prints its counters. Run
 * by `sennit run -n 2 --keep-going`. Broken by a wait for a rail whose other end is gone. */
#include <sennit/sennit.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"

enum { BYTES = 4 << 20, PUTS = 50 };

int main(void) {
    sennit_gptr segment;
    must(sennit_init(NULL));
    must(sennit_alloc(SENNIT_TEAM_WORLD, BYTES, 0, 0, &segment));
    uint64_t *word = sennit_ptr(segment);
    if (sennit_rank() == 1) {
        must(sennit_signal_wait_word(word, SENNIT_EQUAL, 3, SENNIT_FOREVER));
        raise(SIGKILL);
    }
    const sennit_gptr there = sennit_gptr_at(segment, 1);
    uint64_t *data = malloc(BYTES);
    if (data == NULL) return 1;
    memset(data, 0, BYTES);
    for (int i = 1; i <= PUTS; ++i) {
        data[0] = (uint64_t)i <= 3 ? (uint64_t)i : 3;
        data[BYTES / sizeof *data - 1] = (uint64_t)i;
        must(sennit_put(there, data, BYTES));
        must(sennit_flush(1, SENNIT_FOREVER));
        /* Rank 1 may have died; its memory is still mapped here. */
        const uint64_t *last = sennit_ptr(sennit_gptr_add(there, BYTES - (int64_t)sizeof *data));
        must_be(*last == (uint64_t)i, "the end of a put is there");
    }
    (void)sennit_stats_print();
    printf("all puts have ended\n");
    fflush(stdout);
    _Exit(0);
}
