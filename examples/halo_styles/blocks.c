/* The neighbours' memory as blocks; a put into a block counts an event at the block's owner. */
#include "plate.h"

/* snippet: connect */
void connect_blocks(const plate *p, sennit_signal *arrived, sennit_peer_block to[SIDES]) {
    uint32_t messages = 0; /* of a step: one from each neighbour */
    for (int side = 0; side < SIDES; ++side)
        messages += p->neighbours[side] != SENNIT_RANK_NONE;
    must(sennit_signal_create(messages, messages, 0, arrived));
    const sennit_region region = {p->memory, bytes_of(p)};
    sennit_block mine, *blocks = malloc((size_t)sennit_size() * sizeof *blocks);
    must_be(blocks != NULL, "memory for the blocks");
    must(sennit_block_init(region, 0, bytes_of(p), SENNIT_SIGNAL_NULL, *arrived, &mine));
    must(sennit_allgather(SENNIT_TEAM_WORLD, &mine, blocks, sizeof mine, SENNIT_FOREVER));
    for (int side = 0; side < SIDES; ++side)
        if (p->neighbours[side] != SENNIT_RANK_NONE)
            must(sennit_block_attach(&blocks[p->neighbours[side]], &to[side]));
    free(blocks);
}
/* end of snippet */

void disconnect_blocks(const plate *p, sennit_signal arrived, const sennit_peer_block to[SIDES]) {
    for (int side = 0; side < SIDES; ++side)
        if (p->neighbours[side] != SENNIT_RANK_NONE) must(sennit_block_detach(to[side]));
    must(sennit_barrier(p->grid, SENNIT_FOREVER)); /* no rank counts an event any more */
    must(sennit_signal_destroy(arrived));
}
