/* A halo by puts and a barrier. */
#include "plate.h"

void barrier_begin(const plate *p) {
    (void)p;
}

/* snippet: exchange */
void barrier_exchange(const plate *p, int step) {
    const sennit_box column = column_of(p);
    for (int side = 0; side < SIDES; ++side) {
        const int peer = p->neighbours[side];
        if (peer == SENNIT_RANK_NONE) continue;
        const char *from = p->own + edge(p, step, side);
        const sennit_gptr to =
            sennit_gptr_add(sennit_gptr_at(p->memory, peer), (int64_t)halo(p, step, side));
        if (is_row(side))
            must(sennit_put_nbi(to, from, row_bytes(p)));
        else
            must(sennit_put_strided_nbi(to, from, &column));
    }
    must(sennit_barrier(p->grid, SENNIT_FOREVER)); /* completes the puts of all ranks */
}
/* end of snippet */

void barrier_end(void) {}
