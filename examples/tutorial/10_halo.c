/* Step 10 of the tutorial: heat on a plate, each rank a block with a halo around it.
 *     sennit run -n 4 10_halo
 * Rows of a block are contiguous, columns are not: a strided put sends them. Every 20 steps an
 * allreduce tells all ranks the largest change of a step; the program ends when it is small.
 */
#include <math.h>

#include "../must.h"

enum { UP, DOWN, LEFT, RIGHT, SIDES };
enum { N = 12, WIDTH = N + 2, MOST_STEPS = 2000 }; /* N by N cells of a rank, and the halo */

typedef struct Block {
    sennit_team grid;
    int neighbours[SIDES]; /* world ranks */
    int dims[2];
    int coords[2];
    sennit_gptr states[2]; /* of even and of odd steps */
    double *cells[2];
} Block;

/* Byte offset of a cell in a block; the halo is row and column 0 and N + 1. */
static int64_t place(int row, int column) {
    return (row * WIDTH + column) * (int64_t)sizeof(double);
}

static void open_block(Block *block) {
    const int choose[2] = {0, 0};
    int rank, dimensions;
    must(sennit_team_grid(SENNIT_TEAM_WORLD, 2, choose, NULL, &block->grid));
    must(sennit_team_rank(block->grid, &rank));
    must(sennit_team_grid_shape(block->grid, 2, &dimensions, block->dims, NULL));
    must(sennit_team_grid_coords(block->grid, rank, block->coords));
    int *n = block->neighbours;
    must(sennit_team_grid_shift(block->grid, 0, 1, &n[UP], &n[DOWN]));
    must(sennit_team_grid_shift(block->grid, 1, 1, &n[LEFT], &n[RIGHT]));
    for (int side = 0; side < SIDES; ++side)
        if (n[side] != SENNIT_RANK_NONE)
            must(sennit_team_world_rank(block->grid, n[side], &n[side]));
    for (int i = 0; i < 2; ++i) {
        must(sennit_alloc(block->grid, WIDTH * WIDTH * sizeof(double), 0, 0, &block->states[i]));
        block->cells[i] = sennit_ptr(block->states[i]);
        if (block->coords[0] == 0) /* the upper edge of the plate is hot */
            for (int column = 0; column < WIDTH; ++column)
                block->cells[i][column] = 1.0;
    }
}

/* Puts the edges of this rank's cells into the halos of its neighbours. */
static void exchange(const Block *block, int now) {
    const double *mine = block->cells[now];
    const int *to = block->neighbours;
    /* snippet: exchange */
    /* A column: N doubles, one in each row, on both ranks. */
    const int64_t row = WIDTH * sizeof(double);
    const sennit_box column = sennit_box_line(sizeof(double), N, row, row);
    const sennit_gptr state = block->states[now];
    if (to[UP] != SENNIT_RANK_NONE)
        must(sennit_put_nbi(sennit_gptr_add(sennit_gptr_at(state, to[UP]), place(N + 1, 1)),
                            &mine[WIDTH + 1], N * sizeof(double)));
    if (to[LEFT] != SENNIT_RANK_NONE)
        must(sennit_put_strided_nbi(
            sennit_gptr_add(sennit_gptr_at(state, to[LEFT]), place(1, N + 1)), &mine[WIDTH + 1],
            &column));
    /* end of snippet */
    if (to[DOWN] != SENNIT_RANK_NONE)
        must(sennit_put_nbi(sennit_gptr_add(sennit_gptr_at(state, to[DOWN]), place(0, 1)),
                            &mine[N * WIDTH + 1], N * sizeof(double)));
    if (to[RIGHT] != SENNIT_RANK_NONE)
        must(sennit_put_strided_nbi(sennit_gptr_add(sennit_gptr_at(state, to[RIGHT]), place(1, 0)),
                                    &mine[WIDTH + N], &column));
    must(sennit_barrier(block->grid, SENNIT_FOREVER)); /* completes the puts of all ranks */
}

/* One step of rows by columns cells; returns the largest change. */
static double compute(double *next, const double *now, int rows, int columns) {
    const int width = columns + 2;
    double largest = 0;
    for (int row = 1; row <= rows; ++row)
        for (int i = row * width + 1; i <= row * width + columns; ++i) {
            next[i] = 0.25 * (now[i - width] + now[i + width] + now[i - 1] + now[i + 1]);
            largest = fmax(largest, fabs(next[i] - now[i]));
        }
    return largest;
}

/* The whole plate by one rank alone: computes `steps` steps, and compares this rank's cells. */
static int is_as_alone(const Block *block, int steps) {
    const int rows = N * block->dims[0], columns = N * block->dims[1], width = columns + 2;
    const size_t count = (size_t)(rows + 2) * (size_t)width;
    double *plate = calloc(2 * count, sizeof(double));
    must_be(plate != NULL, "memory");
    double *states[2] = {plate, plate + count};
    for (int column = 0; column < width; ++column)
        states[0][column] = states[1][column] = 1.0;
    for (int step = 0; step < steps; ++step)
        (void)compute(states[1 - step % 2], states[step % 2], rows, columns);
    int same = 1;
    for (int row = 1; row <= N; ++row)
        for (int column = 1; column <= N; ++column)
            same &= block->cells[steps % 2][row * WIDTH + column] ==
                    states[steps % 2]
                          [(row + N * block->coords[0]) * width + column + N * block->coords[1]];
    free(plate);
    return same;
}

int main(void) {
    must(sennit_init(NULL));
    Block block;
    open_block(&block);
    int step = 0;
    double change = 1;
    while (change > 1e-3 && step < MOST_STEPS) {
        exchange(&block, step % 2);
        change = compute(block.cells[1 - step % 2], block.cells[step % 2], N, N);
        ++step;
        /* snippet: agree */
        if (step % 20 == 0)
            must(sennit_allreduce(block.grid, SENNIT_IN_PLACE, &change,
                                  sennit_reduction_of(1, SENNIT_DOUBLE, SENNIT_MAX),
                                  SENNIT_FOREVER));
        /* end of snippet */
        else
            change = 1; /* not small: only the allreduce decides */
    }
    must_be(step < MOST_STEPS, "it ends");
    must_be(is_as_alone(&block, step), "the same temperatures as by one rank alone");
    if (sennit_rank() == 0)
        printf("a plate on %d by %d ranks: at rest after %d steps\n", block.dims[0], block.dims[1],
               step);
    for (int i = 0; i < 2; ++i)
        must(sennit_free(block.states[i]));
    must(sennit_team_destroy(block.grid));
    must(sennit_finalize());
    return 0;
}
