/* A plate in blocks of n by n cells, one for each rank of a grid. A block has a halo of one cell
 * and two states, for even and for odd steps. main.c computes it with one style of exchange after
 * another: barrier.c, notified.c, plan.c, channel.c. docs/manual/halo.md compares the styles.
 */
#ifndef SENNIT_EXAMPLES_PLATE_H
#define SENNIT_EXAMPLES_PLATE_H

#include "../must.h"

enum { UP, DOWN, LEFT, RIGHT, SIDES };

typedef struct plate {
    sennit_team grid;
    int neighbours[SIDES]; /* world ranks; SENNIT_RANK_NONE beyond an edge of the plate */
    int n;
    sennit_gptr memory; /* this rank's two states, one after another */
    char *own;          /* its address */
} plate;

/* Begin, exchange the halos of a step, end. All ranks of the grid call them. */
void barrier_begin(const plate *p);
void barrier_exchange(const plate *p, int step);
void barrier_end(void);
void notified_begin(const plate *p);
void notified_exchange(const plate *p, int step);
void notified_end(void);
void plan_begin(const plate *p);
void plan_exchange(const plate *p, int step);
void plan_end(void);
void channel_begin(const plate *p);
void channel_exchange(const plate *p, int step);
void channel_end(void);

/* For notified puts and plans: a signal that expects an event from each neighbour, and the
 * neighbours' memory as blocks (blocks.c). */
void connect_blocks(const plate *p, sennit_signal *arrived, sennit_peer_block to[SIDES]);
void disconnect_blocks(const plate *p, sennit_signal arrived, const sennit_peer_block to[SIDES]);

static inline size_t bytes_of(const plate *p) {
    return 2 * sizeof(double) * (size_t)(p->n + 2) * (size_t)(p->n + 2);
}

/* The offset of a cell in bytes from the first one. The halo is row and column 0 and n + 1. */
static inline size_t place(const plate *p, int step, int row, int column) {
    const int width = p->n + 2;
    return sizeof(double) * (size_t)((step % 2 * width + row) * width + column);
}

/* The first cell of this rank's edge at a side, and of the halo that receives it. */
static inline size_t edge(const plate *p, int step, int side) {
    return place(p, step, side == DOWN ? p->n : 1, side == RIGHT ? p->n : 1);
}
static inline size_t halo(const plate *p, int step, int side) {
    const int row = side == UP ? p->n + 1 : side == DOWN ? 0 : 1;
    const int column = side == LEFT ? p->n + 1 : side == RIGHT ? 0 : 1;
    return place(p, step, row, column);
}

/* The cells of a row are contiguous; a column has one cell in each row, on both ranks. */
static inline int is_row(int side) {
    return side == UP || side == DOWN;
}
static inline size_t row_bytes(const plate *p) {
    return (size_t)p->n * sizeof(double);
}
static inline sennit_box column_of(const plate *p) {
    const int64_t width = (p->n + 2) * (int64_t)sizeof(double);
    return sennit_box_line(sizeof(double), (size_t)p->n, width, width);
}

#endif
