/* A ring of cells that is divided among the ranks: in each step every cell becomes a weighted sum
 * of itself and its two neighbours. The exchange of edge cells is recorded once, in two plans that
 * take turns. Each plan writes to its own half of the neighbours' memory for edge cells, so a rank
 * that is a step ahead of its neighbours writes to the half that they do not read. The inner cells
 * are computed between start and wait.
 *     sennit run -n 4 plan
 */
#include "must.h"

enum { kCells = 100, kSteps = 50 };

/* The cells that the neighbours write: of even and of odd steps, from the rank before and after. */
struct edges {
    int64_t from[2][2];
};

static int64_t next_of(int64_t left, int64_t own, int64_t right) {
    return (left + 2 * own + right) % 1009;
}

/* The same computation by one rank alone, for comparison. */
static void check(const int64_t *cells, int rank, int size) {
    const int count = kCells * size;
    int64_t *now = malloc(2 * (size_t)count * sizeof *now);
    must_be(now != NULL, "memory for the whole ring");
    int64_t *next = now + count;
    for (int i = 0; i < count; ++i)
        now[i] = i * 37 % 101;
    for (int step = 0; step < kSteps; ++step) {
        for (int i = 0; i < count; ++i)
            next[i] = next_of(now[(i + count - 1) % count], now[i], now[(i + 1) % count]);
        for (int i = 0; i < count; ++i)
            now[i] = next[i];
    }
    for (int i = 0; i < kCells; ++i)
        must_be(cells[i] == now[rank * kCells + i], "a cell of the ring");
    free(now);
}

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    sennit_gptr memory;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(struct edges), 0, 0, &memory));
    const struct edges *edges = sennit_ptr(memory);
    int64_t cells[kCells], next[kCells];
    for (int i = 0; i < kCells; ++i)
        cells[i] = (rank * kCells + i) * 37 % 101;

    /* Two cells arrive in each step. */
    sennit_signal arrived;
    must(sennit_signal_create(2, 2, 0, &arrived));
    sennit_block mine;
    const sennit_region region = {memory, sizeof(struct edges)};
    must(sennit_block_init(region, 0, sizeof(struct edges), SENNIT_SIGNAL_NULL, arrived, &mine));
    sennit_block *blocks = malloc((size_t)size * sizeof *blocks);
    must_be(blocks != NULL, "memory for the blocks");
    must(sennit_allgather(SENNIT_TEAM_WORLD, &mine, blocks, sizeof mine, SENNIT_FOREVER));
    sennit_peer_block to_next, to_before;
    must(sennit_block_attach(&blocks[(rank + 1) % size], &to_next));
    must(sennit_block_attach(&blocks[(rank + size - 1) % size], &to_before));
    free(blocks);

    sennit_plan plans[2]; /* for even and for odd steps */
    for (int turn = 0; turn < 2; ++turn) {
        const size_t half = (size_t)turn * sizeof edges->from[0];
        const size_t bytes = sizeof cells[0];
        must(sennit_plan_create(&plans[turn]));
        must(sennit_plan_put(plans[turn], to_next, half, &cells[kCells - 1], bytes));
        must(sennit_plan_put(plans[turn], to_before, half + bytes, &cells[0], bytes));
        must(sennit_plan_commit(plans[turn], (uint64_t)turn, 2));
    }

    for (int step = 0; step < kSteps; ++step) {
        must(sennit_plan_start(plans[step % 2]));
        for (int i = 1; i < kCells - 1; ++i)
            next[i] = next_of(cells[i - 1], cells[i], cells[i + 1]);
        must(sennit_plan_wait(plans[step % 2], SENNIT_FOREVER));
        must(sennit_signal_wait(arrived, SENNIT_FOREVER));
        const int64_t left = edges->from[step % 2][0];
        const int64_t right = edges->from[step % 2][1];
        must(sennit_signal_reset(arrived));
        next[0] = next_of(left, cells[0], cells[1]);
        next[kCells - 1] = next_of(cells[kCells - 2], cells[kCells - 1], right);
        for (int i = 0; i < kCells; ++i)
            cells[i] = next[i];
    }
    check(cells, rank, size);
    if (rank == 0) printf("%d steps of %d cells by two plans\n", kSteps, kCells * size);

    for (int turn = 0; turn < 2; ++turn)
        must(sennit_plan_destroy(plans[turn]));
    must(sennit_block_detach(to_next));
    must(sennit_block_detach(to_before));
    must(sennit_signal_destroy(arrived));
    must(sennit_free(memory));
    must(sennit_finalize());
    return 0;
}
