/* Step 9 of the tutorial: ranks in a grid, and the neighbours of each.
 *     sennit run -n 4 09_grid
 */
#include "../must.h"

enum { UP, DOWN, LEFT, RIGHT, SIDES };

/* snippet: neighbours */
/* World ranks of the neighbours in a grid of two dimensions; SENNIT_RANK_NONE beyond an edge. */
static void find_neighbours(sennit_team grid, int neighbours[SIDES]) {
    must(sennit_team_grid_shift(grid, 0, 1, &neighbours[UP], &neighbours[DOWN]));
    must(sennit_team_grid_shift(grid, 1, 1, &neighbours[LEFT], &neighbours[RIGHT]));
    /* So far these are ranks of the grid; global pointers need world ranks. */
    for (int side = 0; side < SIDES; ++side)
        if (neighbours[side] != SENNIT_RANK_NONE)
            must(sennit_team_world_rank(grid, neighbours[side], &neighbours[side]));
}
/* end of snippet */

int main(void) {
    must(sennit_init(NULL));
    /* Two dimensions, their sizes chosen by Sennit (0), no joined edges (NULL). */
    const int choose[2] = {0, 0};
    sennit_team grid;
    must(sennit_team_grid(SENNIT_TEAM_WORLD, 2, choose, NULL, &grid));
    int rank, dimensions, dims[2], coords[2];
    must(sennit_team_rank(grid, &rank));
    must(sennit_team_grid_shape(grid, 2, &dimensions, dims, NULL));
    must(sennit_team_grid_coords(grid, rank, coords));

    int neighbours[SIDES];
    find_neighbours(grid, neighbours);
    const int opposite[SIDES] = {DOWN, UP, RIGHT, LEFT};
    sennit_gptr inbox; /* one number from each side */
    must(sennit_alloc(grid, SIDES * sizeof(int), 0, 0, &inbox));
    const int number = 10 * coords[0] + coords[1];
    for (int side = 0; side < SIDES; ++side)
        if (neighbours[side] != SENNIT_RANK_NONE)
            must(sennit_put(sennit_gptr_add(sennit_gptr_at(inbox, neighbours[side]),
                                            opposite[side] * sizeof(int)),
                            &number, sizeof number));
    must(sennit_barrier(grid, SENNIT_FOREVER));

    const int *came = sennit_ptr(inbox);
    must_be(coords[0] == 0 || came[UP] == number - 10, "the number from above");
    must_be(coords[0] == dims[0] - 1 || came[DOWN] == number + 10, "the number from below");
    must_be(coords[1] == 0 || came[LEFT] == number - 1, "the number from the left");
    must_be(coords[1] == dims[1] - 1 || came[RIGHT] == number + 1, "the number from the right");
    if (rank == 0) printf("a grid of %d by %d ranks\n", dims[0], dims[1]);
    must(sennit_free(inbox));
    must(sennit_team_destroy(grid));
    must(sennit_finalize());
    return 0;
}
