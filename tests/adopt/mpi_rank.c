/* One rank of an MPI program. MPI sends from and receives into buffers before they are registered,
 * while they are, and afterwards. Broken by an MPI registration cache that keeps pages which are no
 * longer the buffer's. */
#include <mpi.h>
#include <sennit/sennit.h>
#include <sennit/sennit_mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void must(int is_true, const char *what) {
    if (is_true) return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, sennit_last_error()->text);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned char byte_of(int salt, size_t i) {
    return (unsigned char)(i * 31 + (i >> 8) * 7 + (size_t)salt * 101);
}

static void fill(unsigned char *memory, size_t bytes, int salt) {
    for (size_t i = 0; i < bytes; ++i)
        memory[i] = byte_of(salt, i);
}

static void check(const unsigned char *memory, size_t bytes, int salt, const char *what) {
    for (size_t i = 0; i < bytes; ++i)
        must(memory[i] == byte_of(salt, i), what);
}

/* MPI passes both buffers around the ring. */
static void exchange(unsigned char *out, unsigned char *in, size_t bytes, int salt,
                     const char *what) {
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    fill(out, bytes, salt + rank);
    memset(in, 0, bytes);
    MPI_Sendrecv(out, (int)bytes, MPI_BYTE, next, 1, in, (int)bytes, MPI_BYTE, previous, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(in, bytes, salt + previous, what);
    check(out, bytes, salt + rank, "the buffer that was sent");
}

static void use(unsigned char *out, unsigned char *in, size_t bytes, int round) {
    sennit_region mine[2];
    sennit_region *theirs = malloc(sizeof *theirs * (size_t)size);
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    exchange(out, in, bytes, round, "by MPI, before");
    must(sennit_register(out, bytes, 0, &mine[0]) == SENNIT_OK, "register");
    must(sennit_register(in, bytes, 0, &mine[1]) == SENNIT_OK, "register");
    sennit_mechanism mechanism = SENNIT_MECHANISM_NONE;
    must(sennit_region_mechanism(mine[1], &mechanism) == SENNIT_OK, "mechanism");
    must(mechanism == SENNIT_MECHANISM_ADOPT, "the buffer is adopted");
    exchange(out, in, bytes, round + 50, "by MPI, while registered");
    must(sennit_region_attach(SENNIT_TEAM_WORLD, mine[1], theirs) == SENNIT_OK, "attach");
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_OK, "barrier");
    unsigned char *there = sennit_ptr(theirs[next].gptr);
    must(there != NULL, "a pointer");
    fill(there, bytes, round + 100 + rank);
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_OK, "barrier");
    check(in, bytes, round + 100 + previous, "by the peer's stores");
    exchange(out, in, bytes, round + 150, "by MPI, after the peer's stores");
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) == SENNIT_OK, "barrier");
    must(sennit_deregister(mine[0]) == SENNIT_OK, "deregister");
    must(sennit_deregister(mine[1]) == SENNIT_OK, "deregister");
    exchange(out, in, bytes, round + 200, "by MPI, after");
    free(theirs);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    must(sennit_init_mpi(MPI_COMM_WORLD, NULL) == SENNIT_OK, "init");
    const size_t sizes[] = {64, 5000, 70000, 1 << 20, (4 << 20) + 77};
    for (int round = 0; round < 10; ++round) {
        const size_t bytes = sizes[round % 5];
        unsigned char *out = malloc(bytes), *in = malloc(bytes);
        use(out, in, bytes, round);
        use(out, in, bytes, round + 1);
        free(out);
        free(in);
    }
    must(sennit_finalize() == SENNIT_OK, "finalize");
    MPI_Finalize();
    return 0;
}
