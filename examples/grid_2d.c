/* A team for each row of a grid of ranks: each rank gives its number to its neighbours, around the
 * ring of its row and down its column, and each row sums its received numbers.
 *     sennit run -n 4 grid_2d
 */
#include "must.h"

/* Puts `number` into place `slot` of the inbox of a member of the team, if there is one. */
static void send_to(sennit_team team, int member, sennit_gptr inbox, int slot, int number) {
    if (member == SENNIT_RANK_NONE) return;
    int world_rank;
    must(sennit_team_world_rank(team, member, &world_rank));
    const sennit_gptr place =
        sennit_gptr_add(sennit_gptr_at(inbox, world_rank), slot * (int)sizeof(int));
    must(sennit_put(place, &number, sizeof number));
}

int main(void) {
    must(sennit_init(NULL));

    /* Sennit chooses a grid that is as square as possible; rows are rings, columns are not. */
    const int open[] = {0, 0};
    const int rings[] = {0, 1};
    sennit_team grid;
    must(sennit_team_grid(SENNIT_TEAM_WORLD, 2, open, rings, &grid));
    int dimensions, dims[2], periodic[2], rank, coords[2];
    must(sennit_team_grid_shape(grid, 2, &dimensions, dims, periodic));
    must(sennit_team_rank(grid, &rank));
    must(sennit_team_grid_coords(grid, rank, coords));

    /* Global pointers use world ranks, teams use their own ranks: here both are equal. */
    sennit_gptr inbox;
    must(sennit_alloc(grid, 2 * sizeof(int), 0, 0, &inbox));
    const int nobody[] = {-1, -1};
    must(sennit_put(inbox, nobody, sizeof nobody));
    must(sennit_barrier(grid, SENNIT_FOREVER));

    int above, below, left, right;
    must(sennit_team_grid_shift(grid, 0, 1, &above, &below));
    must(sennit_team_grid_shift(grid, 1, 1, &left, &right));
    send_to(grid, below, inbox, 0, rank);
    send_to(grid, right, inbox, 1, rank);
    must(sennit_barrier(grid, SENNIT_FOREVER));
    int came[2];
    must(sennit_get(came, inbox, sizeof came));
    must_be(came[0] == above, "the number from above, or nothing in the first row");
    must_be(came[1] == left, "the number from the left, around the ring");

    /* The ranks of a row are a team, with its own memory and barriers. */
    sennit_team row;
    must(sennit_team_split(grid, coords[0], coords[1], &row));
    int size;
    must(sennit_team_size(row, &size));
    must_be(size == dims[1], "a row is as long as the grid is wide");
    sennit_gptr parts;
    must(sennit_alloc(row, sizeof(int), 0, 0, &parts));
    must(sennit_put(parts, &rank, sizeof rank));
    must(sennit_barrier(row, SENNIT_FOREVER));
    int sum = 0;
    for (int member = 0; member < size; ++member) {
        int world_rank, part;
        must(sennit_team_world_rank(row, member, &world_rank));
        must(sennit_get(&part, sennit_gptr_at(parts, world_rank), sizeof part));
        sum += part;
    }
    const int first = coords[0] * dims[1];
    must_be(sum == (2 * first + size - 1) * size / 2, "the sum of the row");
    if (rank == 0) printf("%d by %d ranks, first row sums up to %d\n", dims[0], dims[1], sum);

    must(sennit_free(parts));
    must(sennit_team_destroy(row));
    must(sennit_free(inbox));
    must(sennit_team_destroy(grid));
    must(sennit_finalize());
    return 0;
}
