/* Rank 0 puts 600 bytes for each of 40 signals of rank 1, in each of four epochs. In the test
 * there is an index for 31 signals only, and the counts of SENNIT_STATS are checked. Broken by a
 * put that is lost or refused because no index is left, or that is not counted. */
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"

enum { kSignals = 40, kBytes = 600, kEpochs = 4 };

static void put_all(sennit_peer_block there, const sennit_signal *signals, uint64_t epoch) {
    char data[kBytes];
    for (int i = 0; i < kSignals; ++i) {
        const sennit_notice notice = {signals[i], SENNIT_SIGNAL_NULL, epoch, 0};
        memset(data, i + (int)epoch, sizeof data);
        must(sennit_put_notify_with(there, (size_t)i * kBytes, data, kBytes, &notice));
    }
    must(sennit_flush(1, SENNIT_FOREVER));
}

static void take_all(const char *memory, const sennit_signal *signals, uint64_t epoch) {
    for (int i = 0; i < kSignals; ++i) {
        must(sennit_signal_wait(signals[i], SENNIT_FOREVER));
        for (int byte = 0; byte < kBytes; ++byte)
            must_be(memory[i * kBytes + byte] == (char)(i + (int)epoch), "a byte of the message");
        must(sennit_signal_reset(signals[i]));
    }
}

int main(void) {
    must(sennit_init(NULL));
    const int rank = sennit_rank();
    must_be(sennit_size() == 2, "two ranks");
    static char memory[kSignals * kBytes];
    sennit_region region;
    must(sennit_register(memory, sizeof memory, 0, &region));
    sennit_signal signals[kSignals];
    for (int i = 0; rank == 1 && i < kSignals; ++i)
        must(sennit_signal_create(1, 1, 0, &signals[i]));
    must(sennit_broadcast(SENNIT_TEAM_WORLD, 1, signals, sizeof signals, SENNIT_FOREVER));
    sennit_block block;
    must(sennit_block_init(region, 0, sizeof memory, SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL,
                           &block));
    must(sennit_broadcast(SENNIT_TEAM_WORLD, 1, &block, sizeof block, SENNIT_FOREVER));
    sennit_peer_block there = SENNIT_PEER_BLOCK_NULL;
    if (rank == 0) must(sennit_block_attach(&block, &there));
    for (uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
        if (rank == 0)
            put_all(there, signals, epoch);
        else
            take_all(memory, signals, epoch);
        must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    }
    must(sennit_finalize());
    return 0;
}
