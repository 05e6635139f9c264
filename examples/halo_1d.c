/* A rod that is hot at one end: each rank owns some cells and gets one cell of each neighbour in
 * every step. The result is compared, to the bit, with the same rod computed by one rank alone.
 *     sennit run -n 4 halo_1d
 */
#include <string.h>

#include "must.h"

enum { kCells = 32, kSteps = 200 }; /* cells of a rank */

/* One step of a piece whose first and last cells belong to other ranks. */
static void step(double *next, const double *now, int cells) {
    for (int i = 1; i <= cells; ++i)
        next[i] = now[i] + 0.25 * (now[i - 1] - 2.0 * now[i] + now[i + 1]);
}

/* The whole rod, computed by the caller alone. */
static double *alone(int cells) {
    double *now = calloc((size_t)cells + 2, sizeof *now);
    double *next = calloc((size_t)cells + 2, sizeof *next);
    must_be(now != NULL && next != NULL, "memory");
    now[0] = next[0] = 1.0;
    for (int s = 0; s < kSteps; ++s) {
        step(next, now, cells);
        double *swap = now;
        now = next;
        next = swap;
    }
    free(next);
    return now;
}

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();

    /* Two states, each with an additional cell at both ends. Only memory that neighbours access
     * is global. */
    enum { kRow = kCells + 2 };
    sennit_gptr rods;
    must(sennit_alloc(SENNIT_TEAM_WORLD, 2 * kRow * sizeof(double), 0, 0, &rods));
    double *rod = sennit_ptr(rods);
    must_be(rod != NULL, "a rank loads and stores its own memory");
    if (rank == 0) rod[0] = rod[kRow] = 1.0; /* the hot end, in both states */

    for (int s = 0; s < kSteps; ++s) {
        double *now = rod + (s % 2) * kRow;
        double *next = rod + (1 - s % 2) * kRow;
        const sennit_gptr now_g = sennit_gptr_add(rods, (now - rod) * (int64_t)sizeof(double));
        /* After this barrier all neighbours have finished the previous step. */
        must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
        if (rank > 0)
            must(sennit_get(
                &now[0],
                sennit_gptr_add(sennit_gptr_at(now_g, rank - 1), kCells * (int64_t)sizeof(double)),
                sizeof(double)));
        if (rank < size - 1)
            must(sennit_get(&now[kCells + 1],
                            sennit_gptr_add(sennit_gptr_at(now_g, rank + 1), sizeof(double)),
                            sizeof(double)));
        step(next, now, kCells);
    }

    double *expected = alone(kCells * size);
    must_be(memcmp(&rod[1], &expected[1 + kCells * rank], kCells * sizeof(double)) == 0,
            "the same temperatures as one rank alone");
    free(expected);
    if (rank == 0) printf("%d cells on %d ranks: the same as on one\n", kCells * size, size);

    must(sennit_free(rods));
    must(sennit_finalize());
    return 0;
}
