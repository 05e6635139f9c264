/* A halo by channels: stores into the neighbours' memory. For ranks of one node only. */
#include <string.h>

#include "plate.h"

static int channels_open;
static int sides[SIDES]; /* of channel i */
static sennit_channel channels[SIDES];
static void *theirs[SIDES]; /* the neighbour's two states */

/* snippet: open */
void channel_begin(const plate *p) {
    int targets[SIDES], count = 0;
    void *buffers[SIDES];
    size_t bytes[SIDES];
    for (int side = 0; side < SIDES; ++side) {
        if (p->neighbours[side] == SENNIT_RANK_NONE) continue;
        targets[count] = p->neighbours[side];
        buffers[count] = p->own; /* where the neighbour writes */
        bytes[count] = bytes_of(p);
        sides[count++] = side;
    }
    const sennit_channel_ends ends = {(size_t)count, targets, buffers, bytes};
    must(sennit_channel_open(SENNIT_TEAM_WORLD, &ends, 0, SENNIT_FOREVER, theirs, channels));
    channels_open = count;
}
/* end of snippet */

static void copy_edge(const plate *p, int step, int side, char *to) {
    const char *from = p->own + edge(p, step, side);
    to += halo(p, step, side);
    if (is_row(side)) {
        memcpy(to, from, row_bytes(p));
        return;
    }
    const size_t width = place(p, 0, 1, 0);
    for (int row = 0; row < p->n; ++row)
        *(double *)(void *)(to + (size_t)row * width) =
            *(const double *)(const void *)(from + (size_t)row * width);
}

/* snippet: exchange */
void channel_exchange(const plate *p, int step) {
    for (int i = 0; i < channels_open; ++i) {
        must(sennit_channel_wait_write(channels[i], SENNIT_FOREVER));
        copy_edge(p, step, sides[i], theirs[i]);
        must(sennit_channel_have_written(channels[i]));
    }
    for (int i = 0; i < channels_open; ++i) {
        must(sennit_channel_wait_read(channels[i], SENNIT_FOREVER));
        must(sennit_channel_have_read(channels[i])); /* the next message goes to the other state */
    }
}
/* end of snippet */

void channel_end(void) {
    must(sennit_channel_close(channels, (size_t)channels_open, SENNIT_FOREVER));
}
