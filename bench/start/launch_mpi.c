/* A rank of an MPI, without Sennit. */
#include <mpi.h>

#include "launch.h"

int launch_begin(int *argc, char ***argv) {
    return MPI_Init(argc, argv);
}

int launch_meet(void) {
    return MPI_Barrier(MPI_COMM_WORLD);
}

int launch_end(void) {
    return MPI_Finalize();
}
