/* The tasks of pairs.h with MPI-3. */
#include <mpi.h>
#include <stddef.h>

#include "pairs.h"

void side_start(int *rank, int *size) {
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
}

void side_end(void) {
    MPI_Finalize();
}

int side_put(int number, int to) {
    /* snippet: put */
    int *box;
    MPI_Win win;
    /* 16 bytes: if a size is no multiple of 16, MPICH 4.0 mixes up the ranks. */
    MPI_Win_allocate(16, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &box, &win);

    MPI_Win_fence(0, win);
    MPI_Put(&number, 1, MPI_INT, to, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    int came = *box;

    MPI_Win_free(&win);
    /* end of snippet */
    return came;
}

int side_message(int number, int from, int to) {
    int rank, came = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == from) MPI_Send(&number, 1, MPI_INT, to, 0, MPI_COMM_WORLD);

    if (rank == to) MPI_Recv(&came, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return came;
}

double side_stream(int count, int from, int to) {
    double row[PAIR_COUNT], sum = 0;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int number = 0; rank == from && number < count; ++number) {
        for (int i = 0; i < PAIR_COUNT; ++i)
            row[i] = number + 0.5 * i;
        MPI_Send(row, PAIR_COUNT, MPI_DOUBLE, to, 0, MPI_COMM_WORLD);
    }
    for (int number = 0; rank == to && number < count; ++number) {
        MPI_Recv(row, PAIR_COUNT, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < PAIR_COUNT; ++i)
            sum += row[i];
    }
    return sum;
}

void side_requests(const double row[PAIR_COUNT], int left, int right, double came[2 * PAIR_COUNT]) {
    const int n = PAIR_COUNT;
    double *rows;
    MPI_Win win;
    MPI_Win_allocate(2 * n * (int)sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &rows, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Rput(row, n, MPI_DOUBLE, right, 0, n, MPI_DOUBLE, win, &requests[0]);
    MPI_Rput(row, n, MPI_DOUBLE, left, n, n, MPI_DOUBLE, win, &requests[1]);
    MPI_Waitall(2, requests, statuses); /* `row` may be changed */
    MPI_Win_flush_all(win);             /* the rows have arrived */
    MPI_Barrier(MPI_COMM_WORLD);        /* those of all ranks have arrived */
    MPI_Win_sync(win);
    for (int i = 0; i < 2 * n; ++i)
        came[i] = rows[i];
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
}

int side_pointer(int number, int peer) {
    /* snippet: pointer */
    MPI_Comm node; /* windows with pointers are for ranks of one node */
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int *box;
    MPI_Win win;
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &box, &win);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    *box = number;
    MPI_Win_sync(win);
    MPI_Barrier(node);
    MPI_Win_sync(win);

    MPI_Aint bytes;
    int unit, *theirs;
    MPI_Win_shared_query(win, peer, &bytes, &unit, &theirs); /* `peer` counts in `node` */
    int found = *theirs;

    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
    /* end of snippet */
    return found;
}

int side_counter(void) {
    long *counter;
    MPI_Win win;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(16, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &win);
    MPI_Win_lock_all(0, win);
    *counter = 0;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    int taken = 0;
    /* snippet: counter */
    const long one = 1;
    long item;
    for (;;) {
        MPI_Fetch_and_op(&one, &item, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        if (item >= PAIR_ITEMS) break;
        ++taken; /* ... work on `item` */
    }
    /* end of snippet */
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    return taken;
}

void side_accumulate(const double row[PAIR_COUNT], double sum[PAIR_COUNT]) {
    const int n = PAIR_COUNT;
    double *total;
    MPI_Win win;
    MPI_Win_allocate(n * (int)sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &total,
                     &win);
    for (int i = 0; i < n; ++i)
        total[i] = 0;
    MPI_Win_fence(0, win);
    MPI_Accumulate(row, n, MPI_DOUBLE, 0, 0, n, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; ++i)
        sum[i] = total[i];
    MPI_Win_free(&win);
}

void side_lock(int times, long words[2]) {
    long *both;
    MPI_Win win;
    MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &both, &win);
    both[0] = both[1] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < times; ++i) {
        long now[2];
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(now, 2, MPI_LONG, 0, 0, 2, MPI_LONG, win);
        MPI_Win_flush(0, win);
        ++now[0];
        ++now[1];
        MPI_Put(now, 2, MPI_LONG, 0, 0, 2, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    words[0] = both[0];
    words[1] = both[1];
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

void side_column(double matrix[PAIR_ROWS * PAIR_COLUMNS], int to) {
    /* snippet: column */
    MPI_Win win;
    MPI_Win_create(matrix, PAIR_ROWS * PAIR_COLUMNS * sizeof(double), sizeof(double), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    MPI_Datatype column;
    MPI_Type_vector(PAIR_ROWS, 1, PAIR_COLUMNS, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);

    MPI_Win_fence(0, win);
    MPI_Put(&matrix[PAIR_COLUMNS - 1], 1, column, to, 0, 1, column, win);
    MPI_Win_fence(0, win);

    MPI_Type_free(&column);
    MPI_Win_free(&win);
    /* end of snippet */
}

int side_teams(int number, int coords[2]) {
    int rank, size, sum;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm grid, row;
    int dims[2] = {0, 0};
    const int open[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, open, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_coords(grid, rank, 2, coords);
    MPI_Comm_split(grid, coords[0], coords[1], &row);

    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, row);

    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    return sum;
}
