/* Calls each task of pairs.h and compares its result. There is one program for each side:
 *     sennit run -n 4 from_mpi-sennit        mpirun -n 4 from_mpi-openmpi
 * All print the same line.
 */
#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>

static void must_be(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "wrong: %s\n", what);
    exit(1);
}

static void check_rows(int rank, int size) {
    const int right = (rank + 1) % size;
    const int left = (rank + size - 1) % size;
    must_be(side_put(rank + 7, right) == left + 7, "the number of the left rank");
    must_be(side_pointer(rank + 9, left) == left + 9, "the number in the left rank's memory");

    const int last = size - 1;
    const int number = last > 0 ? side_message(rank + 11, 0, last) : 11;
    must_be(number == (rank == last ? 11 : -1), "the number of rank 0, at the last rank alone");

    double rows = 0;
    for (int i = 0; rank == last && last > 0 && i < PAIR_COUNT; ++i)
        rows += 10 * 0.5 * i + 45; /* of ten rows, numbered from 0 */
    must_be(last == 0 || side_stream(10, 0, last) == rows, "the rows, at the last rank alone");

    double row[PAIR_COUNT], came[2 * PAIR_COUNT];
    for (int i = 0; i < PAIR_COUNT; ++i)
        row[i] = rank + 0.5 * i;
    side_requests(row, left, right, came);
    for (int i = 0; i < PAIR_COUNT; ++i) {
        must_be(came[i] == left + 0.5 * i, "the row of the left rank");
        must_be(came[PAIR_COUNT + i] == right + 0.5 * i, "the row of the right rank");
    }
    double sum[PAIR_COUNT];
    side_accumulate(row, sum);
    for (int i = 0; rank == 0 && i < PAIR_COUNT; ++i)
        must_be(sum[i] == size * (size - 1) / 2 + 0.5 * i * size, "the sum of the rows");
}

static void check_shared_words(int rank, int size) {
    double taken[PAIR_COUNT] = {side_counter()}, sum[PAIR_COUNT];
    side_accumulate(taken, sum);
    must_be(rank != 0 || sum[0] == PAIR_ITEMS, "every item was taken once");
    long words[2] = {-1, -1};
    side_lock(20, words);
    must_be(rank != 0 || (words[0] == 20L * size && words[1] == words[0]), "no addition is lost");
}

static void check_column(int rank, int size) {
    double matrix[PAIR_ROWS * PAIR_COLUMNS];
    for (int i = 0; i < PAIR_ROWS * PAIR_COLUMNS; ++i)
        matrix[i] = 1000 * rank + i;
    side_column(matrix, (rank + 1) % size);
    const int left = (rank + size - 1) % size;
    for (int row = 0; row < PAIR_ROWS; ++row) {
        const int first = row * PAIR_COLUMNS, last = first + PAIR_COLUMNS - 1;
        must_be(matrix[first] == 1000 * left + last, "the first column came from the left rank");
        must_be(matrix[first + 1] == 1000 * rank + first + 1, "the second one is as it was");
    }
}

int main(void) {
    int rank, size, coords[2];
    side_start(&rank, &size);
    check_rows(rank, size);
    check_shared_words(rank, size);
    check_column(rank, size);
    const int row_sum = side_teams(1, coords);
    must_be(row_sum >= 1 && size % row_sum == 0, "rows are as long as the grid is wide");
    must_be(rank == coords[0] * row_sum + coords[1], "coordinates, the last one fastest");
    side_end();
    if (rank == 0) printf("9 tasks by %d ranks\n", size);
    return 0;
}
