/* One plate, four styles of halo exchange. Every style must give the same bits as one rank alone.
 * With `measure`, ranks exchange without computing, and rank 0 prints the time of each style. The
 * styles take turns, so their ratios are comparable.
 *     sennit run -n 4 halo_styles
 *     sennit run -n 2 halo_styles measure
 */
#include <string.h>

#include "plate.h"

typedef struct style {
    const char *name;
    void (*begin)(const plate *p);
    void (*exchange)(const plate *p, int step);
    void (*end)(void);
} style;

enum { STYLES = 4, STEPS = 50, N = 12, ROUNDS = 31 };
static const style styles[STYLES] = {
    {"puts and barrier", barrier_begin, barrier_exchange, barrier_end},
    {"notified puts", notified_begin, notified_exchange, notified_end},
    {"plans", plan_begin, plan_exchange, plan_end},
    {"channels", channel_begin, channel_exchange, channel_end}};

static void open_plate(plate *p, sennit_team grid, int n) {
    p->grid = grid;
    p->n = n;
    int *to = p->neighbours;
    must(sennit_team_grid_shift(grid, 0, 1, &to[UP], &to[DOWN]));
    must(sennit_team_grid_shift(grid, 1, 1, &to[LEFT], &to[RIGHT]));
    for (int side = 0; side < SIDES; ++side)
        if (to[side] != SENNIT_RANK_NONE) must(sennit_team_world_rank(grid, to[side], &to[side]));
    must(sennit_alloc(grid, bytes_of(p), 0, 0, &p->memory));
    p->own = sennit_ptr(p->memory);
}

/* The upper edge of the plate is hot. */
static void heat(double *cells, int rows, int columns) {
    for (int state = 0; state < 2; ++state)
        for (int column = 0; column < columns + 2; ++column)
            cells[state * (rows + 2) * (columns + 2) + column] = 1.0;
}

static void compute(double *cells, int rows, int columns, int step) {
    const int width = columns + 2, count = (rows + 2) * width;
    const double *now = cells + step % 2 * count;
    double *next = cells + (1 - step % 2) * count;
    for (int row = 1; row <= rows; ++row)
        for (int i = row * width + 1; i <= row * width + columns; ++i)
            next[i] = 0.25 * (now[i - width] + now[i + width] + now[i - 1] + now[i + 1]);
}

/* Whether this rank's cells are those that one rank alone computes. */
static int is_as_alone(const plate *p, const double *cells) {
    int rank, dimensions, dims[2], coords[2];
    must(sennit_team_rank(p->grid, &rank));
    must(sennit_team_grid_shape(p->grid, 2, &dimensions, dims, NULL));
    must(sennit_team_grid_coords(p->grid, rank, coords));
    const int rows = N * dims[0], columns = N * dims[1], width = columns + 2;
    double *whole = calloc(2 * (size_t)(rows + 2) * (size_t)width, sizeof *whole);
    must_be(whole != NULL, "memory for the whole plate");
    heat(whole, rows, columns);
    for (int step = 0; step < STEPS; ++step)
        compute(whole, rows, columns, step);
    int same = 1;
    const double *last = whole + STEPS % 2 * (rows + 2) * width;
    for (int row = 1; row <= N; ++row)
        for (int column = 1; column <= N; ++column)
            same &= cells[place(p, STEPS, row, column) / sizeof(double)] ==
                    last[(row + N * coords[0]) * width + column + N * coords[1]];
    free(whole);
    return same;
}

static void check(const style *s, sennit_team grid) {
    plate p;
    open_plate(&p, grid, N);
    double *cells = sennit_ptr(p.memory);
    if (p.neighbours[UP] == SENNIT_RANK_NONE) heat(cells, N, N);
    s->begin(&p);
    for (int step = 0; step < STEPS; ++step) {
        s->exchange(&p, step);
        compute(cells, N, N, step);
    }
    must_be(is_as_alone(&p, cells), s->name);
    s->end();
    must(sennit_free(p.memory));
}

/* Channels reach only ranks of this node; they are the last style. */
static int styles_here(sennit_team grid) {
    sennit_gptr word;
    int count = STYLES;
    must(sennit_alloc(grid, sizeof(int), 0, 0, &word));
    for (int peer = 0; peer < sennit_size(); ++peer)
        if (sennit_ptr(sennit_gptr_at(word, peer)) == NULL) count = STYLES - 1;
    must(sennit_free(word));
    return count;
}

static int by_size(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Microseconds of an exchange, median of the rounds, for blocks of n by n cells. */
static void measure(sennit_team grid, int count, int n) {
    enum { EXCHANGES = 500 };
    static double times[STYLES][ROUNDS];
    plate p[STYLES];
    for (int s = 0; s < count; ++s) {
        open_plate(&p[s], grid, n);
        styles[s].begin(&p[s]);
    }
    for (int round = -1; round < ROUNDS; ++round) /* the first one warms up */
        for (int s = 0; s < count; ++s) {
            must(sennit_barrier(grid, SENNIT_FOREVER));
            const double before = sennit_wtime();
            for (int step = 0; step < EXCHANGES; ++step)
                styles[s].exchange(&p[s], step);
            if (round >= 0) times[s][round] = (sennit_wtime() - before) * 1e6 / EXCHANGES;
        }
    if (sennit_rank() == 0) printf("%12d", n);
    for (int s = 0; s < count; ++s) {
        qsort(times[s], ROUNDS, sizeof(double), by_size);
        if (sennit_rank() == 0) printf("  %16.2f", times[s][ROUNDS / 2]);
        styles[s].end();
        must(sennit_free(p[s].memory));
    }
    if (sennit_rank() == 0) printf("\n");
}

int main(int argc, char **argv) {
    must(sennit_init(NULL));
    must_be(sennit_size() > 1, "a rank alone has no neighbours; start at least two");
    const int choose[2] = {0, 0};
    sennit_team grid;
    must(sennit_team_grid(SENNIT_TEAM_WORLD, 2, choose, NULL, &grid));
    const int count = styles_here(grid);
    if (argc > 1 && strcmp(argv[1], "measure") == 0) {
        if (sennit_rank() == 0) printf("%12s", "cells a side");
        for (int s = 0; s < count && sennit_rank() == 0; ++s)
            printf("  %16s", styles[s].name);
        if (sennit_rank() == 0) printf("\n");
        for (int n = 16; n <= 1024; n *= 8)
            measure(grid, count, n);
    } else {
        for (int s = 0; s < count; ++s)
            check(&styles[s], grid);
        if (sennit_rank() == 0)
            printf("%d styles by %d ranks: the same plate as by one\n", count, sennit_size());
    }
    must(sennit_team_destroy(grid));
    must(sennit_finalize());
    return 0;
}
