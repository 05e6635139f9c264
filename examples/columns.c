/* A matrix that the program allocated itself; strided puts fill its neighbours' halo columns.
 *     sennit run -n 4 columns
 * Each rank has kRows * kColumns doubles from malloc and gives its inner edge columns to its left
 * and right neighbours. No buffer is packed, and the matrix stays where it is.
 */
#include "must.h"

enum { kRows = 100, kColumns = 12 }; /* the first and the last column are the halo */

static double value(int rank, int row, int column) {
    return rank * 10000.0 + row * 100.0 + column;
}

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    double *matrix = malloc(sizeof(double) * kRows * kColumns);
    sennit_region *regions = malloc(sizeof(sennit_region) * (size_t)size);
    must_be(matrix != NULL && regions != NULL, "there is memory");
    for (int row = 0; row < kRows; ++row)
        for (int column = 0; column < kColumns; ++column)
            matrix[row * kColumns + column] = value(rank, row, column);

    /* All ranks attach every rank's matrix. */
    sennit_region mine;
    must(sennit_register(matrix, sizeof(double) * kRows * kColumns, 0, &mine));
    const sennit_status attached = sennit_region_attach(SENNIT_TEAM_WORLD, mine, regions);
    if (attached == SENNIT_ERR_UNSUPPORTED) { /* the kernel forbids it; the reason has details */
        printf("private memory cannot be reached: %s\n", sennit_last_error()->text);
        return 77;
    }
    must(attached);

    /* A column: one double from each row, on both sides. */
    const int64_t row_bytes = sizeof(double) * kColumns;
    const sennit_box column = sennit_box_line(sizeof(double), kRows, row_bytes, row_bytes);
    const int left = (rank + size - 1) % size;
    const int right = (rank + 1) % size;
    must(sennit_put_strided_nbi(
        sennit_gptr_add(regions[left].gptr, sizeof(double) * (kColumns - 1)), &matrix[1], &column));
    must(sennit_put_strided_nbi(regions[right].gptr, &matrix[kColumns - 2], &column));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)); /* completes the puts of all ranks */

    for (int row = 0; row < kRows; ++row) {
        const double *r = &matrix[row * kColumns];
        must_be(r[0] == value(left, row, kColumns - 2), "the left halo is the left rank's edge");
        must_be(r[kColumns - 1] == value(right, row, 1), "the right halo is the right rank's edge");
        must_be(r[1] == value(rank, row, 1), "the inner columns are as they were");
    }
    if (rank == 0) printf("%d ranks exchanged columns of %d rows\n", size, kRows);

    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)); /* no rank uses the region any more */
    must(sennit_deregister(mine));
    must(sennit_finalize());
    free(regions);
    free(matrix);
    return 0;
}
