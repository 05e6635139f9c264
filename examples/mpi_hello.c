/* Sennit beside MPI: the ranks of a communicator, and one exchange by both.
 *     mpirun -n 4 mpi_hello
 */
#include <mpi.h>
#include <sennit/sennit_mpi.h>

#include "must.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    must(sennit_init_mpi(MPI_COMM_WORLD, NULL));
    const int rank = sennit_rank();
    const int size = sennit_size();
    const int next = (rank + 1) % size;
    const int previous = (rank + size - 1) % size;
    int world_rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    must_be(rank == world_rank, "rank i of the communicator is world rank i");

    int by_mpi = -1;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 0, &by_mpi, 1, MPI_INT, previous, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);

    sennit_gptr mine;
    must(sennit_alloc(SENNIT_TEAM_WORLD, sizeof(int), 0, 0, &mine));
    must(sennit_put(sennit_gptr_at(mine, next), &rank, sizeof rank));
    must(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    int by_sennit = -2;
    must(sennit_get(&by_sennit, mine, sizeof by_sennit));
    must_be(by_sennit == by_mpi, "MPI and Sennit brought the same");

    if (rank == 0)
        printf("%d %s of MPI, started by %s\n", size, size == 1 ? "rank" : "ranks",
               sennit_bootstrap_used());
    must(sennit_free(mine));
    must(sennit_finalize());
    MPI_Finalize();
    return 0;
}
