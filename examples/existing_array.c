/* An array from malloc, read by the left neighbour through a plain pointer: without allocation by
 * Sennit, and without a copy.
 *     sennit run -n 4 existing_array
 * If a peer's memory cannot be mapped, there is no pointer, and a get reads it.
 */
#include "must.h"

enum { kCount = 1000 };

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    const int right = (rank + 1) % size;
    const size_t bytes = sizeof(double) * kCount;
    double *field = malloc(bytes);
    sennit_region *regions = malloc(sizeof(sennit_region) * (size_t)size);
    must_be(field != NULL && regions != NULL, "there is memory");
    for (int i = 0; i < kCount; ++i)
        field[i] = 1000.0 * rank + i;

    /* snippet: existing */
    sennit_region mine;
    must(sennit_register(field, bytes, 0, &mine));
    must(sennit_region_attach(SENNIT_TEAM_WORLD, mine, regions)); /* one of each rank */

    const double *there = sennit_ptr(regions[right].gptr); /* the right rank's field, or NULL */
    double last = 0;
    if (there != NULL)
        last = there[kCount - 1];
    else
        must(sennit_get(&last, sennit_gptr_add(regions[right].gptr, sizeof(double) * (kCount - 1)),
                        sizeof last));
    /* end of snippet */
    must_be(last == 1000.0 * right + kCount - 1, "it is the right rank's last element");

    sennit_mechanism mechanism;
    must(sennit_region_mechanism(regions[right], &mechanism));
    if (rank == 0)
        printf("rank %d reads the array of rank %d by %s\n", rank, right,
               sennit_mechanism_name(mechanism));

    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)); /* nobody reads any more */
    must(sennit_deregister(mine));
    must_be(field[kCount - 1] == 1000.0 * rank + kCount - 1, "the array is as it was");
    free(regions);
    free(field);
    must(sennit_finalize());
    return 0;
}
