/* One rank commits a plan of COUNT operations, each with its own block: commit_work.py counts
 * instructions. */
#include <sennit/sennit.h>
#include <stdio.h>
#include <stdlib.h>

static void need(sennit_status status) {
    if (status == SENNIT_OK) return;
    fprintf(stderr, "commit_rank: %s\n", sennit_last_error()->text);
    exit(1);
}

int main(int argc, char **argv) {
    static char word[8];
    const unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    sennit_gptr memory;
    sennit_signal signal;
    sennit_plan plan;
    need(sennit_init(NULL));
    need(sennit_alloc_local(sizeof word, 0, 0, &memory));
    need(sennit_signal_create(count, count, 0, &signal));
    need(sennit_plan_create(&plan));
    for (unsigned i = 0; i < count; ++i) {
        const sennit_region region = {memory, sizeof word};
        sennit_block block;
        sennit_peer_block attached;
        need(sennit_block_init(region, 0, sizeof word, SENNIT_SIGNAL_NULL, signal, &block));
        need(sennit_block_attach(&block, &attached));
        need(sennit_plan_put(plan, attached, 0, word, sizeof word));
    }
    need(sennit_plan_commit(plan, 0, 1));
    need(sennit_plan_start(plan));
    need(sennit_plan_wait(plan, SENNIT_FOREVER));
    need(sennit_signal_wait(signal, SENNIT_FOREVER));
    need(sennit_finalize());
    return 0;
}
