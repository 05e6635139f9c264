/* A program with MPI, as another project might write it, compiled by its mpicc: each rank of a
 * communicator puts its number into the memory of the next rank. Exit status 1: a call failed. */
#include <mpi.h>
#include <sennit/sennit.h>
#include <sennit/sennit_mpi.h>
#include <stdio.h>

static int failed(void) {
    fprintf(stderr, "%s\n", sennit_last_error()->text);
    return 1;
}

int main(int argc, char **argv) {
    sennit_gptr box;
    int rank, size;
    MPI_Init(&argc, &argv);
    if (sennit_init_mpi(MPI_COMM_WORLD, NULL) != SENNIT_OK) return failed();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (sennit_alloc(SENNIT_TEAM_WORLD, sizeof rank, 0, 0, &box) != SENNIT_OK) return failed();
    if (sennit_put(sennit_gptr_at(box, (rank + 1) % size), &rank, sizeof rank) != SENNIT_OK)
        return failed();
    if (sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER) != SENNIT_OK) return failed();
    printf("rank %d of %d found %d\n", rank, size, *(int *)sennit_ptr(box));
    if (sennit_free(box) != SENNIT_OK) return failed();
    if (sennit_finalize() != SENNIT_OK) return failed();
    MPI_Finalize();
    return 0;
}
