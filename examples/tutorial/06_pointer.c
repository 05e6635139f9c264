/* Step 6 of the tutorial: another rank's memory as a plain pointer.
 *     sennit run -n 4 06_pointer
 */
#include "../must.h"

enum { COUNT = 1000 };

/* The sum of a row of some rank: in place if loads reach it, otherwise from a copy. */
static double sum_of(sennit_gptr row, int owner) {
    /* snippet: sum */
    const sennit_gptr there = sennit_gptr_at(row, owner);
    const double *values = sennit_ptr(there);
    double copy[COUNT];
    if (values == NULL) { /* the reason is in sennit_last_error() */
        must(sennit_get(copy, there, sizeof copy));
        values = copy;
    }
    /* end of snippet */
    double sum = 0;
    for (int i = 0; i < COUNT; ++i)
        sum += values[i];
    return sum;
}

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    sennit_gptr row;
    must(sennit_alloc(SENNIT_TEAM_WORLD, COUNT * sizeof(double), 0, 0, &row));
    double *mine = sennit_ptr(row);
    for (int i = 0; i < COUNT; ++i)
        mine[i] = rank + 1;
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));

    const int right = (rank + 1) % size;
    const double sum = sum_of(row, right);
    must_be(sum == COUNT * (right + 1.0), "the sum of the right rank's row");
    printf("rank %d: sum of rank %d: %.0f\n", rank, right, sum);

    must(sennit_free(row));
    must(sennit_finalize());
    return 0;
}
