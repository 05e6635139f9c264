/* Smoothing of a ring of cells that is divided among the ranks. In each step a rank puts its two
 * edge cells to its neighbours, and waits for a signal that counts the cells of both neighbours.
 * The loop has no barrier: there are two sets of places for the neighbours' cells, and a rank that
 * is a step ahead writes to the other set.
 *     sennit run -n 4 notified
 */
#include "must.h"

enum { kCells = 1000, kSteps = 50 };

/* The cells that the neighbours write: of even and of odd steps, from the rank before and after. */
struct edges {
    double from[2][2];
};

static double cell_of(long index, long count) {
    return (double)(((index + count) % count * 37) % 101);
}

/* Both in one call: if puts are messages, both are in flight at the same time. */
static void put_both(sennit_peer_block next, sennit_peer_block before, size_t place, double *last,
                     double *first) {
    const size_t bytes = sizeof(double);
    sennit_notify_part parts[2] = {
        {.block = next, .offset = place, .local = last, .bytes = bytes},
        {.block = before, .offset = place + bytes, .local = first, .bytes = bytes}};
    size_t done;
    must(sennit_put_notify_batch(2, parts, &done));
}

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    const int next = (rank + 1) % size;
    const int before = (rank + size - 1) % size;
    sennit_gptr memory;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(struct edges), 0, 0, &memory));
    struct edges *edges = sennit_ptr(memory);

    /* Two cells arrive in each step, so the signal expects two events. */
    sennit_signal arrived;
    must(sennit_signal_create(2, 2, 0, &arrived));
    sennit_block mine;
    const sennit_region region = {memory, sizeof(struct edges)};
    must(sennit_block_init(region, 0, sizeof(struct edges), SENNIT_SIGNAL_NULL, arrived, &mine));
    sennit_block *blocks = malloc((size_t)size * sizeof *blocks);
    must_be(blocks != NULL, "memory for the blocks");
    must(sennit_allgather(SENNIT_TEAM_WORLD, &mine, blocks, sizeof mine, SENNIT_FOREVER));
    sennit_peer_block to_next, to_before;
    must(sennit_block_attach(&blocks[next], &to_next));
    must(sennit_block_attach(&blocks[before], &to_before));
    free(blocks);

    const long count = (long)kCells * size;
    double cells[kCells], smooth[kCells];
    double sum = 0;
    for (long i = 0; i < kCells; ++i)
        sum += cells[i] = cell_of((long)rank * kCells + i, count);

    for (int step = 0; step < kSteps; ++step) {
        const int turn = step % 2;
        const size_t first = (size_t)turn * 2 * sizeof(double);
        put_both(to_next, to_before, first, &cells[kCells - 1], &cells[0]);
        must(sennit_signal_wait(arrived, SENNIT_FOREVER));
        const double left = edges->from[turn][0];
        const double right = edges->from[turn][1];
        must(sennit_signal_reset(arrived));
        for (int i = 0; i < kCells; ++i) {
            const double a = i > 0 ? cells[i - 1] : left;
            const double b = i < kCells - 1 ? cells[i + 1] : right;
            smooth[i] = 0.25 * a + 0.5 * cells[i] + 0.25 * b;
        }
        for (int i = 0; i < kCells; ++i)
            cells[i] = smooth[i];
    }

    /* Smoothing moves heat and loses none. */
    double now = 0;
    for (int i = 0; i < kCells; ++i)
        now += cells[i];
    const double sums[2] = {sum, now};
    double all[2];
    must(sennit_allreduce(SENNIT_TEAM_WORLD, sums, all,
                          sennit_reduction_of(2, SENNIT_DOUBLE, SENNIT_SUM), SENNIT_FOREVER));
    must_be(all[0] - all[1] < 1e-6 && all[1] - all[0] < 1e-6, "the sum is what it was");
    if (rank == 0)
        printf("%d steps of %ld cells, and the sum is still %.0f\n", kSteps, count, all[0]);

    must(sennit_block_detach(to_next));
    must(sennit_block_detach(to_before));
    must(sennit_signal_destroy(arrived));
    must(sennit_free(memory));
    must(sennit_finalize());
    return 0;
}
