/* For the tests of UNR: with the word "nodes", odd and even ranks are on two made-up nodes. To be
 * called after MPI_Init and before unr_init. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static inline void use_nodes(int argc, char **argv) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1 && strcmp(argv[1], "nodes") == 0)
        (void)setenv("SENNIT_NODE", rank % 2 == 0 ? "even" : "odd", 1);
}
