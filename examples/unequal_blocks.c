/* The halos of blocks of different sizes: with its block, each rank sends its numbers of rows and
 * columns to the others, because the sender of a halo needs those of the receiver.
 *     sennit run -n 4 unequal_blocks
 */
#include "must.h"

enum { ROWS = 23, COLUMNS = 17 }; /* of the plate */
enum { UP, DOWN, LEFT, RIGHT, SIDES };

/* snippet: card */
/* The data that a rank sends to the others. Rows 0 and rows + 1, and columns 0 and columns + 1 of
 * its block are halo. */
typedef struct card {
    sennit_block block;
    int64_t rows, columns, first_row, first_column;
} card;

static size_t place(const card *of, int64_t row, int64_t column) {
    return sizeof(double) * (size_t)(row * (of->columns + 2) + column);
}

/* Records the put that fills the halo of the neighbour at one side. `own` is this rank's block. */
static void record(sennit_plan plan, sennit_peer_block to, int side, const card *mine,
                   const card *there, const char *own) {
    const size_t row_bytes = (size_t)mine->columns * sizeof(double);
    const sennit_box column = sennit_box_line(sizeof(double), (size_t)mine->rows,
                                              (int64_t)place(there, 1, 0), /* stride there */
                                              (int64_t)place(mine, 1, 0)); /* stride here */
    if (side == UP)
        must(sennit_plan_put(plan, to, place(there, there->rows + 1, 1), own + place(mine, 1, 1),
                             row_bytes));
    if (side == DOWN)
        must(sennit_plan_put(plan, to, place(there, 0, 1), own + place(mine, mine->rows, 1),
                             row_bytes));
    if (side == LEFT)
        must(sennit_plan_put_strided(plan, to, place(there, 1, there->columns + 1),
                                     own + place(mine, 1, 1), &column, NULL));
    if (side == RIGHT)
        must(sennit_plan_put_strided(plan, to, place(there, 1, 0),
                                     own + place(mine, 1, mine->columns), &column, NULL));
}
/* end of snippet */

/* The number of a cell of the plate; 0 beyond its edge. */
static double number_of(int64_t row, int64_t column) {
    const int is_inside = row >= 0 && row < ROWS && column >= 0 && column < COLUMNS;
    return is_inside ? (double)(row * COLUMNS + column + 1) : 0.0;
}

/* Numbers the cells of the block, or compares them, with the halo but without its corners. */
static void each_cell(const card *mine, double *own, int is_check) {
    const int halo = is_check ? 1 : 0;
    for (int64_t row = 1 - halo; row <= mine->rows + halo; ++row)
        for (int64_t column = 1 - halo; column <= mine->columns + halo; ++column) {
            double *const cell = own + place(mine, row, column) / sizeof(double);
            const double number =
                number_of(mine->first_row + row - 1, mine->first_column + column - 1);
            const int is_corner =
                (row == 0 || row == mine->rows + 1) && (column == 0 || column == mine->columns + 1);
            if (!is_check) *cell = number;
            must_be(is_corner || *cell == number, "a cell of the block or its halo");
        }
}

static void find_neighbours(sennit_team grid, int neighbours[SIDES]) {
    must(sennit_team_grid_shift(grid, 0, 1, &neighbours[UP], &neighbours[DOWN]));
    must(sennit_team_grid_shift(grid, 1, 1, &neighbours[LEFT], &neighbours[RIGHT]));
}

/* This rank's part of the plate: the parts differ by a row or column. */
static card part_of(sennit_team grid) {
    int dims[2], coords[2], rank;
    must(sennit_team_rank(grid, &rank));
    must(sennit_team_grid_shape(grid, 2, NULL, dims, NULL));
    must(sennit_team_grid_coords(grid, rank, coords));
    card mine = {.block = SENNIT_BLOCK_NULL,
                 .first_row = ROWS * coords[0] / dims[0],
                 .first_column = COLUMNS * coords[1] / dims[1]};
    mine.rows = ROWS * (coords[0] + 1) / dims[0] - mine.first_row;
    mine.columns = COLUMNS * (coords[1] + 1) / dims[1] - mine.first_column;
    return mine;
}

int main(void) {
    must(sennit_init(NULL));
    const int open[] = {0, 0};
    sennit_team grid;
    int neighbours[SIDES];
    must(sennit_team_grid(SENNIT_TEAM_WORLD, 2, open, NULL, &grid));
    find_neighbours(grid, neighbours);
    card mine = part_of(grid);

    const size_t bytes = place(&mine, mine.rows + 2, 0);
    char *const own = calloc(1, bytes);
    card *const cards = malloc((size_t)sennit_size() * sizeof *cards);
    must_be(own != NULL && cards != NULL, "memory");
    each_cell(&mine, (double *)own, 0);

    uint32_t messages = 0;
    for (int side = 0; side < SIDES; ++side)
        messages += neighbours[side] != SENNIT_RANK_NONE;
    sennit_region region;
    sennit_signal arrived = SENNIT_SIGNAL_NULL; /* a single rank waits for no event */
    must(sennit_register(own, bytes, 0, &region));
    if (messages > 0) must(sennit_signal_create(messages, messages, 0, &arrived));
    must(sennit_block_init(region, 0, bytes, SENNIT_SIGNAL_NULL, arrived, &mine.block));
    must(sennit_allgather(grid, &mine, cards, sizeof mine, SENNIT_FOREVER));

    sennit_plan plan;
    sennit_peer_block to[SIDES];
    must(sennit_plan_create(&plan));
    for (int side = 0; side < SIDES; ++side) {
        if (neighbours[side] == SENNIT_RANK_NONE) continue;
        const card *const there = &cards[neighbours[side]];
        must(sennit_block_attach(&there->block, &to[side]));
        record(plan, to[side], side, &mine, there, own);
    }
    must(sennit_plan_commit(plan, 0, 1));
    must(sennit_plan_start(plan));
    must(sennit_plan_wait(plan, SENNIT_FOREVER));
    if (messages > 0) must(sennit_signal_wait(arrived, SENNIT_FOREVER));
    each_cell(&mine, (double *)own, 1);
    if (sennit_rank() == 0) printf("the halos of %d blocks are filled\n", sennit_size());

    must(sennit_plan_destroy(plan));
    for (int side = 0; side < SIDES; ++side)
        if (neighbours[side] != SENNIT_RANK_NONE) must(sennit_block_detach(to[side]));
    must(sennit_barrier(grid, SENNIT_FOREVER)); /* no rank puts or counts an event any more */
    if (messages > 0) must(sennit_signal_destroy(arrived));
    must(sennit_deregister(region));
    free(own);
    free(cards);
    must(sennit_team_destroy(grid));
    must(sennit_finalize());
    return 0;
}
