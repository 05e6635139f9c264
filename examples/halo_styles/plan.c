/* A halo by plans: one for even steps and one for odd steps. */
#include "plate.h"

static const plate *the_plate;
static sennit_signal arrived;
static sennit_peer_block to[SIDES];
static sennit_plan plans[2];

/* snippet: record */
void plan_begin(const plate *p) {
    connect_blocks(p, &arrived, to);
    const sennit_box column = column_of(p);
    for (int turn = 0; turn < 2; ++turn) { /* even and odd steps */
        must(sennit_plan_create(&plans[turn]));
        for (int side = 0; side < SIDES; ++side) {
            if (p->neighbours[side] == SENNIT_RANK_NONE) continue;
            const char *from = p->own + edge(p, turn, side);
            const size_t there = halo(p, turn, side);
            if (is_row(side))
                must(sennit_plan_put(plans[turn], to[side], there, from, row_bytes(p)));
            else
                must(sennit_plan_put_strided(plans[turn], to[side], there, from, &column, NULL));
        }
        must(sennit_plan_commit(plans[turn], (uint64_t)turn, 2)); /* epochs turn, turn + 2, ... */
    }
    the_plate = p;
}
/* end of snippet */

/* snippet: exchange */
void plan_exchange(const plate *p, int step) {
    (void)p;
    must(sennit_plan_start(plans[step % 2]));
    /* ... compute what needs no halo ... */
    must(sennit_plan_wait(plans[step % 2], SENNIT_FOREVER)); /* the edges may be changed */
    must(sennit_signal_wait(arrived, SENNIT_FOREVER));       /* the halo is here */
    must(sennit_signal_reset(arrived)); /* neighbours write this state after our next message */
}
/* end of snippet */

void plan_end(void) {
    for (int turn = 0; turn < 2; ++turn)
        must(sennit_plan_destroy(plans[turn]));
    disconnect_blocks(the_plate, arrived, to);
}
