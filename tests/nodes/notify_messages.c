/* 100000 notified puts of each of two ranks to the other one: half of them in turns, half at the
 * same time. The test looks at what SENNIT_STATS counts: would break by a message more for a put,
 * or by an answer that is not counted.
 */
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>

#include "must.h"

enum { kRounds = 50000 };

int main(void) {
    must(sennit_init(NULL));
    const int other = 1 - sennit_rank();
    uint64_t memory[2] = {0, 0};
    sennit_region region;
    must(sennit_register(memory, sizeof memory, 0, &region));
    sennit_signal arrived;
    must(sennit_signal_create(1, 1, 0, &arrived));
    sennit_block block;
    sennit_block blocks[2];
    must(sennit_block_init(region, 0, sizeof memory, SENNIT_SIGNAL_NULL, arrived, &block));
    must(sennit_allgather(SENNIT_TEAM_WORLD, &block, blocks, sizeof block, SENNIT_FOREVER));
    sennit_peer_block there;
    must(sennit_block_attach(&blocks[other], &there));
    for (uint64_t round = 0; round < 2 * kRounds; ++round) {
        const uint64_t mine = round * 2 + (uint64_t)sennit_rank();
        const size_t half = round % 2 * sizeof mine;
        const int is_first = round >= kRounds || sennit_rank() == 0;
        if (is_first) must(sennit_put_notify(there, half, &mine, sizeof mine));
        must(sennit_signal_wait(arrived, SENNIT_FOREVER));
        if (memory[round % 2] != round * 2 + (uint64_t)other) {
            fprintf(stderr, "rank %d: round %llu has the wrong word\n", sennit_rank(),
                    (unsigned long long)round);
            return 1;
        }
        must(sennit_signal_reset(arrived));
        if (!is_first) must(sennit_put_notify(there, half, &mine, sizeof mine));
    }
    must(sennit_finalize());
    return 0;
}
