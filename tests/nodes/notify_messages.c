/* Notified puts whose counts in SENNIT_STATS the test checks. Broken by an additional message per
 * put, or by an answer that is not counted.
 *
 *     notify_messages turns           each of two ranks puts 100000 times to the other one: half of
 *                                     the puts in turns, half at the same time
 *     notify_messages strict          each of two ranks puts 50000 times at the same time, for two
 *                                     strict signals in turns
 *     notify_messages stream BYTES    only rank 0 puts, to an owner that sends nothing, 16 in an
 *                                     epoch: 100000 puts, or 4800 if longer than 48 KiB
 */
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"

enum { kRounds = 50000, kStreamed = 16 };

/* Each rank's memory has two halves, one place per event, which are used in turns. */
typedef struct pair {
    unsigned char *memory;
    sennit_signal arrived;
    sennit_peer_block there;
} pair;

static pair meet(uint32_t events, size_t bytes, uint32_t flags) {
    pair it;
    const size_t room = 2 * events * bytes;
    it.memory = calloc(1, room);
    must_be(it.memory != NULL, "memory");
    sennit_region region;
    must(sennit_register(it.memory, room, 0, &region));
    must(sennit_signal_create(events, events, flags, &it.arrived));
    sennit_block block;
    sennit_block blocks[2];
    must(sennit_block_init(region, 0, room, SENNIT_SIGNAL_NULL, it.arrived, &block));
    must(sennit_allgather(SENNIT_TEAM_WORLD, &block, blocks, sizeof block, SENNIT_FOREVER));
    must(sennit_block_attach(&blocks[1 - sennit_rank()], &it.there));
    return it;
}

static void take(const pair *ends, uint64_t epoch, size_t place, uint64_t wanted) {
    uint64_t got;
    must(sennit_signal_wait(ends->arrived, SENNIT_FOREVER));
    memcpy(&got, ends->memory + place, sizeof got);
    if (got != wanted) {
        fprintf(stderr, "rank %d: epoch %llu has the wrong word\n", sennit_rank(),
                (unsigned long long)epoch);
        exit(1);
    }
    must(sennit_signal_reset(ends->arrived));
}

static void take_turns(void) {
    const pair it = meet(1, sizeof(uint64_t), 0);
    for (uint64_t round = 0; round < 2 * kRounds; ++round) {
        const uint64_t mine = round * 2 + (uint64_t)sennit_rank();
        const size_t half = round % 2 * sizeof mine;
        const int is_first = round >= kRounds || sennit_rank() == 0;
        if (is_first) must(sennit_put_notify(it.there, half, &mine, sizeof mine));
        take(&it, round, half, round * 2 + (uint64_t)(1 - sennit_rank()));
        if (!is_first) must(sennit_put_notify(it.there, half, &mine, sizeof mine));
    }
    free(it.memory);
}

static void be_strict(void) {
    const pair both[2] = {meet(1, sizeof(uint64_t), SENNIT_SIGNAL_STRICT),
                          meet(1, sizeof(uint64_t), SENNIT_SIGNAL_STRICT)};
    for (uint64_t round = 0; round < kRounds; ++round) {
        const uint64_t mine = round * 2 + (uint64_t)sennit_rank();
        const pair *const it = &both[round % 2];
        const sennit_notice notice = {SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, round / 2,
                                      SENNIT_FOREVER};
        must(sennit_put_notify_with(it->there, 0, &mine, sizeof mine, &notice));
        take(it, round / 2, 0, round * 2 + (uint64_t)(1 - sennit_rank()));
    }
    free(both[0].memory);
    free(both[1].memory);
}

static void stream(size_t bytes) {
    const pair it = meet(kStreamed, bytes, 0);
    const uint64_t epochs = (bytes > 49152 ? 4800 : 2 * kRounds) / kStreamed;
    uint64_t *const data = calloc(1, bytes);
    must_be(data != NULL, "memory");
    for (uint64_t epoch = 0; epoch < epochs; ++epoch) {
        const size_t half = epoch % 2 * kStreamed * bytes;
        if (sennit_rank() == 1) {
            take(&it, epoch, half + (kStreamed - 1) * bytes, epoch + 1);
            continue;
        }
        data[0] = epoch + 1;
        for (size_t i = 0; i < kStreamed; ++i) {
            const sennit_notice notice = {SENNIT_SIGNAL_NULL, SENNIT_SIGNAL_NULL, epoch,
                                          SENNIT_FOREVER};
            must(sennit_put_notify_with(it.there, half + i * bytes, data, bytes, &notice));
        }
    }
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    free(data);
    free(it.memory);
}

int main(int argc, char **argv) {
    must(sennit_init(NULL));
    if (argc == 2 && strcmp(argv[1], "turns") == 0)
        take_turns();
    else if (argc == 2 && strcmp(argv[1], "strict") == 0)
        be_strict();
    else if (argc == 3 && strcmp(argv[1], "stream") == 0)
        stream(strtoul(argv[2], NULL, 10));
    else
        must_be(0, "words: turns | strict | stream BYTES");
    must(sennit_finalize());
    return 0;
}
