/* Step 3 of the tutorial: memory that other ranks can reach.
 *     sennit run -n 4 03_memory
 */
#include "../must.h"

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();

    /* snippet: alloc */
    /* Eight doubles on every rank. All ranks call this together. */
    enum { COUNT = 8 };
    sennit_gptr row;
    must(sennit_alloc(SENNIT_TEAM_WORLD, COUNT * sizeof(double), 0, 0, &row));

    /* This rank's piece is ordinary memory, zeroed. */
    double *mine = sennit_ptr(row);
    for (int i = 0; i < COUNT; ++i)
        mine[i] += 100 * rank + i;

    /* The same row on rank 0, and its element 3. */
    const sennit_gptr on_zero = sennit_gptr_at(row, 0);
    const sennit_gptr element = sennit_gptr_add(on_zero, 3 * sizeof(double));
    printf("rank %d: %.0f; element 3 of rank %d: byte %d\n", rank, mine[0], element.rank,
           (int)element.offset);
    /* end of snippet */

    must_be(row.rank == rank, "the result of the allocation names the caller's own piece");
    must_be(element.rank == 0 && element.offset == 3 * sizeof(double), "element 3 of rank 0");
    size_t bytes;
    must(sennit_segment_bytes(on_zero, &bytes));
    must_be(bytes == COUNT * sizeof(double), "rank 0 has as much");
    must(sennit_free(row));
    must(sennit_finalize());
    return 0;
}
