/* Step 8 of the tutorial: a rod that is hot at one end, with puts into two buffers in turn.
 *     sennit run -n 4 08_two_buffers
 */
#include <string.h>

#include "../must.h"

enum { CELLS = 32, STEPS = 100, ROW = CELLS + 2 }; /* a halo cell at both ends */

static void compute(double *next, const double *now, int cells) {
    for (int i = 1; i <= cells; ++i)
        next[i] = now[i] + 0.25 * (now[i - 1] - 2.0 * now[i] + now[i + 1]);
}

/* The whole rod by one rank alone, for comparison. */
static double *alone(int cells) {
    double *rod = calloc(2 * ((size_t)cells + 2), sizeof *rod);
    must_be(rod != NULL, "memory");
    double *states[2] = {rod, rod + cells + 2};
    states[0][0] = states[1][0] = 1.0;
    for (int step = 0; step < STEPS; ++step)
        compute(states[1 - step % 2], states[step % 2], cells);
    return rod; /* an even number of steps ends in the first state */
}

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    sennit_gptr rods[2]; /* the states of even and of odd steps */
    double *rod[2];
    for (int i = 0; i < 2; ++i) {
        must(sennit_alloc(SENNIT_TEAM_WORLD, ROW * sizeof(double), 0, 0, &rods[i]));
        rod[i] = sennit_ptr(rods[i]);
        if (rank == 0) rod[i][0] = 1.0; /* the hot end */
    }

    /* snippet: loop */
    for (int step = 0; step < STEPS; ++step) {
        const int now = step % 2;
        double *cells = rod[now];
        if (rank > 0) { /* my first cell is the left rank's right halo */
            const sennit_gptr halo = sennit_gptr_at(rods[now], rank - 1);
            must(sennit_put(sennit_gptr_add(halo, (CELLS + 1) * sizeof(double)), &cells[1],
                            sizeof(double)));
        }
        if (rank < size - 1) /* my last cell is the right rank's left halo */
            must(sennit_put(sennit_gptr_at(rods[now], rank + 1), &cells[CELLS], sizeof(double)));
        must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
        compute(rod[1 - now], rod[now], CELLS);
    }
    /* end of snippet */

    double *expected = alone(CELLS * size);
    must_be(memcmp(&rod[STEPS % 2][1], &expected[1 + CELLS * rank], CELLS * sizeof(double)) == 0,
            "the same temperatures as by one rank alone");
    free(expected);
    if (rank == 0) printf("%d cells on %d ranks: the same as on one\n", CELLS * size, size);
    for (int i = 0; i < 2; ++i)
        must(sennit_free(rods[i]));
    must(sennit_finalize());
    return 0;
}
