/* MPI and OpenSHMEM in one program, with either one initialized first: mpi_test.c mpi|shmem. The
 * ranks of the world and the PEs are the same processes; each library moves data between the calls
 * of the other. */
#include <mpi.h>
#include <shmem.h>
#include <stdio.h>
#include <string.h>

static long counter, table[64];

int main(int argc, char **argv) {
    const int mpi_first = argc > 1 && strcmp(argv[1], "mpi") == 0;
    if (mpi_first) MPI_Init(&argc, &argv);
    shmem_init();
    if (!mpi_first) MPI_Init(&argc, &argv);
    int rank = -1, size = 0, failed = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int me = shmem_my_pe(), pes = shmem_n_pes();
    failed += size != pes || rank != me;
    for (long round = 1; round <= 20; ++round) {
        shmem_long_atomic_add(&counter, 1, 0);
        MPI_Barrier(MPI_COMM_WORLD);
        /* Data ordered by MPI calls has arrived. */
        failed += shmem_long_atomic_fetch(&counter, 0) != round * pes;
        shmem_long_p(&table[me], me + round, (me + 1) % pes);
        shmem_barrier_all();
        const int before = (me + pes - 1) % pes;
        failed += table[before] != before + round;
        /* MPI sends from and to variables whose pages were moved. */
        MPI_Sendrecv_replace(table, 64, MPI_LONG, (me + 1) % pes, 1, before, 1, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        const int two_before = (before + pes - 1) % pes;
        failed += table[two_before] != two_before + round;
        shmem_barrier_all();
    }
    if (failed != 0) fprintf(stderr, "PE %d: %d values are wrong\n", me, failed);
    if (mpi_first) {
        shmem_finalize();
        MPI_Finalize();
    } else {
        MPI_Finalize();
        shmem_finalize();
    }
    return failed != 0;
}
