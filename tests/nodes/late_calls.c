/* Errors about ranks that are late or in another call. Two nodes, `late`: an allreduce that times
 * out says that ranks of other nodes are missing, and can be continued. One node, `other`:
 * sennit_finalize beside another call names both calls. Broken by an error with only the time, or
 * with only "another collective call". */
#include "must.h"

#include <string.h>
#include <time.h>

static void expect_text(sennit_status status, sennit_status wanted, const char *text) {
    if (status == wanted && strstr(sennit_last_error()->text, text) != NULL) return;
    fprintf(stderr, "rank %d: %s: %s, but wanted: %s\n", sennit_rank(),
            sennit_status_string(status), sennit_last_error()->text, text);
    exit(1);
}

static void late(void) {
    const struct timespec pause = {1, 0};
    const sennit_reduction sum = sennit_reduction_of(1, SENNIT_INT32, SENNIT_SUM);
    int one = 1, all = 0;
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    if (sennit_rank() == 0)
        expect_text(sennit_allreduce(SENNIT_TEAM_WORLD, &one, &all, sum, 100000000),
                    SENNIT_ERR_TIMEOUT, "; ranks of other nodes have not arrived");
    else
        (void)nanosleep(&pause, NULL);
    must(sennit_allreduce(SENNIT_TEAM_WORLD, &one, &all, sum, SENNIT_FOREVER));
    must_be(all == sennit_size(), "the sum");
    must(sennit_finalize());
}

static void other(void) {
    sennit_gptr memory;
    must(sennit_alloc(SENNIT_TEAM_WORLD, 8, 0, 0, &memory));
    if (sennit_rank() == 0) {
        expect_text(sennit_finalize(), SENNIT_ERR_ARG,
                    "rank 1 is in sennit_free, this rank in sennit_finalize: ");
        return;
    }
    expect_text(sennit_free(memory), SENNIT_ERR_ARG,
                "rank 0 is in sennit_finalize, this rank in sennit_free: ");
    (void)!sennit_finalize(); /* rank 0 has left */
}

int main(int argc, char **argv) {
    must(sennit_init(NULL));
    if (argc > 1 && strcmp(argv[1], "late") == 0)
        late();
    else
        other();
    return 0;
}
