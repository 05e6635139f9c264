// Two ranks of an MPI exchange 4 MiB in messages of 512 KiB, which MPIs split over several cards.
#include <mpi.h>

#include <stdlib.h>

enum { kBytes = 1 << 19, kMessages = 8 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *buffers = calloc(2, kBytes);
    if (buffers == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int message = 0; message < kMessages; ++message)
        MPI_Sendrecv(buffers, kBytes, MPI_BYTE, 1 - rank, 0, buffers + kBytes, kBytes, MPI_BYTE,
                     1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(buffers);
    MPI_Finalize();
}
