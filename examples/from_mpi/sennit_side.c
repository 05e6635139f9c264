/* The tasks of pairs.h with Sennit. */
#include <sched.h>

#include "../must.h"
#include "pairs.h"

/* Access to the program's own memory needs a permission of the kernel, which some containers
 * refuse. */
static void must_reach(sennit_status status) {
    if (status == SENNIT_ERR_UNSUPPORTED) {
        printf("private memory cannot be reached: %s\n", sennit_last_error()->text);
        exit(77);
    }
    must(status);
}

void side_start(int *rank, int *size) {
    must(sennit_init(NULL));
    *rank = sennit_rank();
    *size = sennit_size();
}

void side_end(void) {
    must(sennit_finalize());
}

int side_put(int number, int to) {
    /* snippet: put */
    sennit_gptr box;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int), 0, 0, &box));

    must(sennit_put(sennit_gptr_at(box, to), &number, sizeof number));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    int came = *(int *)sennit_ptr(box);

    must(sennit_free(box));
    /* end of snippet */
    return came;
}

int side_message(int number, int from, int to) {
    const int rank = sennit_rank();
    int came = -1;
    sennit_gptr box;
    must(sennit_alloc(SENNIT_TEAM_WORLD, 2 * sizeof(int32_t), 0, 0, &box));
    const sennit_gptr flag = sennit_gptr_add(box, sizeof(int32_t));
    if (rank == from) { /* number first: a rank that sees the flag sees it too */
        must(sennit_put(sennit_gptr_at(box, to), &number, sizeof number));
        must(sennit_atomic_set_i32(sennit_gptr_at(flag, to), 1));
    }
    if (rank == to) {
        int32_t is_there = 0;
        for (;;) {
            must(sennit_atomic_fetch_i32(flag, &is_there)); /* of this rank's own memory */
            if (is_there) break;
            (void)sched_yield(); /* the sender may need this processor */
        }
        came = *(int *)sennit_ptr(box);
    }
    must(sennit_free(box));
    return came;
}

double side_stream(int count, int from, int to) {
    const int rank = sennit_rank();
    double sum = 0;
    sennit_gptr rows;
    must(sennit_alloc(SENNIT_TEAM_WORLD, PAIR_COUNT * sizeof(double), 0, 0, &rows));
    if (rank != from && rank != to) {
        must(sennit_free(rows));
        return sum;
    }
    const int other = rank == from ? to : from;
    double *own = sennit_ptr(rows);
    void *const buffer = own;
    const size_t bytes = PAIR_COUNT * sizeof(double);
    const sennit_channel_ends ends = {1, &other, &buffer, &bytes};
    void *theirs; /* the other rank's row, by a plain pointer */
    sennit_channel channel;
    must(sennit_channel_open(SENNIT_TEAM_WORLD, &ends, 0, SENNIT_FOREVER, &theirs, &channel));

    for (int number = 0; rank == from && number < count; ++number) {
        double *row = theirs;
        must(sennit_channel_wait_write(channel, SENNIT_FOREVER));
        for (int i = 0; i < PAIR_COUNT; ++i)
            row[i] = number + 0.5 * i;
        must(sennit_channel_have_written(channel));
    }
    for (int number = 0; rank == to && number < count; ++number) {
        must(sennit_channel_wait_read(channel, SENNIT_FOREVER));
        for (int i = 0; i < PAIR_COUNT; ++i)
            sum += own[i];
        must(sennit_channel_have_read(channel));
    }

    must(sennit_channel_close(&channel, 1, SENNIT_FOREVER)); /* when all is read */
    must(sennit_free(rows));
    return sum;
}

void side_requests(const double row[PAIR_COUNT], int left, int right, double came[2 * PAIR_COUNT]) {
    const size_t bytes = PAIR_COUNT * sizeof(double);
    sennit_gptr rows;
    must(sennit_alloc(SENNIT_TEAM_WORLD, 2 * bytes, 0, 0, &rows));
    sennit_request requests[2];
    must(sennit_put_nb(sennit_gptr_at(rows, right), row, bytes, &requests[0]));
    must(sennit_put_nb(sennit_gptr_add(sennit_gptr_at(rows, left), (int64_t)bytes), row, bytes,
                       &requests[1]));
    must(sennit_wait_all(2, requests, SENNIT_FOREVER));      /* the rows have arrived */
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER)); /* those of all ranks have arrived */
    const double *mine = sennit_ptr(rows);
    for (int i = 0; i < 2 * PAIR_COUNT; ++i)
        came[i] = mine[i];
    must(sennit_free(rows));
}

int side_pointer(int number, int peer) {
    /* snippet: pointer */
    sennit_gptr box;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int), 0, 0, &box));
    *(int *)sennit_ptr(box) = number;
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));

    const int *theirs = sennit_ptr(sennit_gptr_at(box, peer)); /* NULL on another node */
    int found = *theirs;

    must(sennit_free(box));
    /* end of snippet */
    return found;
}

int side_counter(void) {
    sennit_gptr counters;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int64_t), 0, 0, &counters));
    int taken = 0;
    /* snippet: counter */
    const sennit_gptr counter = sennit_gptr_at(counters, 0);
    int64_t item;
    for (;;) {
        must(sennit_atomic_fetch_inc_i64(counter, &item));

        if (item >= PAIR_ITEMS) break;
        ++taken; /* ... work on `item` */
    }
    /* end of snippet */
    must(sennit_free(counters));
    return taken;
}

void side_accumulate(const double row[PAIR_COUNT], double sum[PAIR_COUNT]) {
    const size_t n = PAIR_COUNT;
    sennit_gptr total;
    must(sennit_alloc(SENNIT_TEAM_WORLD, n * sizeof(double), 0, 0, &total));
    must(sennit_accumulate(sennit_gptr_at(total, 0), row, n, SENNIT_DOUBLE, SENNIT_SUM));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    const double *mine = sennit_ptr(total);
    for (size_t i = 0; i < n; ++i)
        sum[i] = mine[i];
    must(sennit_free(total));
}

void side_lock(int times, long words[2]) {
    sennit_gptr pairs;
    sennit_lock lock;
    must(sennit_alloc(SENNIT_TEAM_WORLD, 2 * sizeof(long), 0, 0, &pairs));
    must(sennit_lock_create(SENNIT_TEAM_WORLD, &lock));
    const sennit_gptr both = sennit_gptr_at(pairs, 0);
    for (int i = 0; i < times; ++i) {
        long now[2];
        must(sennit_lock_acquire(lock, SENNIT_FOREVER));
        must(sennit_get(now, both, sizeof now));
        ++now[0];
        ++now[1];
        must(sennit_put(both, now, sizeof now));
        must(sennit_lock_release(lock));
    }
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    must(sennit_get(words, pairs, 2 * sizeof(long)));
    must(sennit_lock_destroy(lock));
    must(sennit_free(pairs));
}

void side_column(double matrix[PAIR_ROWS * PAIR_COLUMNS], int to) {
    sennit_region *regions = calloc((size_t)sennit_size(), sizeof *regions);
    must_be(regions != NULL, "memory");
    /* snippet: column */
    sennit_region mine;
    must(sennit_register(matrix, PAIR_ROWS * PAIR_COLUMNS * sizeof(double), 0, &mine));
    must_reach(sennit_region_attach(SENNIT_TEAM_WORLD, mine, regions)); /* one of each rank */

    const int64_t row = PAIR_COLUMNS * sizeof(double);
    const sennit_box column = sennit_box_line(sizeof(double), PAIR_ROWS, row, row);
    must(sennit_put_strided(regions[to].gptr, &matrix[PAIR_COLUMNS - 1], &column));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));

    must(sennit_deregister(mine));
    /* end of snippet */
    free(regions);
}

int side_teams(int number, int coords[2]) {
    int rank, sum;
    sennit_team grid, row;
    const int choose[2] = {0, 0};

    must(sennit_team_grid(SENNIT_TEAM_WORLD, 2, choose, NULL, &grid));

    must(sennit_team_rank(grid, &rank));
    must(sennit_team_grid_coords(grid, rank, coords));
    must(sennit_team_split(grid, coords[0], coords[1], &row));

    must(sennit_allreduce(row, &number, &sum, sennit_reduction_of(1, SENNIT_INT32, SENNIT_SUM),
                          SENNIT_FOREVER));

    must(sennit_team_destroy(row));
    must(sennit_team_destroy(grid));
    return sum;
}
