/* A halo by notified puts: each rank waits only for its neighbours. */
#include "plate.h"

static const plate *the_plate;
static sennit_signal arrived;
static sennit_peer_block to[SIDES];

void notified_begin(const plate *p) {
    the_plate = p;
    connect_blocks(p, &arrived, to);
}

/* snippet: exchange */
void notified_exchange(const plate *p, int step) {
    const sennit_box column = column_of(p);
    for (int side = 0; side < SIDES; ++side) {
        if (p->neighbours[side] == SENNIT_RANK_NONE) continue;
        const char *from = p->own + edge(p, step, side);
        if (is_row(side))
            must(sennit_put_notify(to[side], halo(p, step, side), from, row_bytes(p)));
        else
            must(sennit_put_notify_strided(to[side], halo(p, step, side), from, &column, NULL));
    }
    must(sennit_signal_wait(arrived, SENNIT_FOREVER));
    must(sennit_signal_reset(arrived)); /* neighbours write this state after our next message */
}
/* end of snippet */

void notified_end(void) {
    disconnect_blocks(the_plate, arrived, to);
}
