/* A rank that sends its block to the rank before it by MPI, as plain bytes; that rank then puts to
 * it through the block. Broken by a block that is valid only in the rank that made it. */
#include <mpi.h>
#include <sennit/sennit.h>
#include <sennit/sennit_mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void expect(sennit_status status, const char *call) {
    if (status == SENNIT_OK) return;
    fprintf(stderr, "%s: %s: %s\n", call, sennit_status_string(status), sennit_last_error()->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    expect(sennit_init_mpi(MPI_COMM_WORLD, NULL), "init");
    const int rank = sennit_rank();
    const int size = sennit_size();
    const int next = (rank + 1) % size;
    const int previous = (rank + size - 1) % size;

    sennit_gptr memory;
    expect(sennit_alloc_local(64, 0, 0, &memory), "alloc_local");
    sennit_signal arrived;
    expect(sennit_signal_create(1, 1, 0, &arrived), "signal_create");
    const sennit_region region = {memory, 64};
    sennit_block mine;
    expect(sennit_block_init(region, 8, 16, SENNIT_SIGNAL_NULL, arrived, &mine), "block_init");
    sennit_block theirs;
    MPI_Sendrecv(&mine, (int)sizeof mine, MPI_BYTE, previous, 5, &theirs, (int)sizeof theirs,
                 MPI_BYTE, next, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

    sennit_peer_block there;
    expect(sennit_block_attach(&theirs, &there), "block_attach");
    const int64_t word = 1000 + rank;
    expect(sennit_put_notify(there, 8, &word, sizeof word), "put_notify");
    expect(sennit_signal_wait(arrived, SENNIT_FOREVER), "signal_wait");
    const int64_t got = ((const int64_t *)sennit_ptr(memory))[2];
    if (got != 1000 + previous) {
        fprintf(stderr, "rank %d got %lld\n", rank, (long long)got);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    expect(sennit_finalize(), "finalize");
    MPI_Finalize();
    return 0;
}
