/* The rate of puts of 16 MiB from rank 0 to rank 1, one after the other, in MB/s. The first ones do
   not count: the library measures the speed of its rails with them. */
#include <stdio.h>
#include <stdlib.h>

#include "must.h"

enum { BYTES = 16 * 1024 * 1024, NOT_COUNTED = 2, COUNTED = 3 };

int main(void) {
    must(sennit_init(NULL));
    sennit_gptr there;
    must(sennit_alloc(SENNIT_TEAM_WORLD, BYTES, 0, 0, &there));
    char *data = calloc(1, BYTES);
    must_be(data != NULL, "memory");
    double begin = 0;
    for (int i = 0; sennit_rank() == 0 && i < NOT_COUNTED + COUNTED; ++i) {
        if (i == NOT_COUNTED) begin = sennit_wtime();
        must(sennit_put(sennit_gptr_at(there, 1), data, BYTES));
    }
    if (sennit_rank() == 0)
        printf("puts go at %.2f MB/s\n", 1e-6 * COUNTED * BYTES / (sennit_wtime() - begin));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    free(data);
    must(sennit_free(there));
    must(sennit_finalize());
    return 0;
}
