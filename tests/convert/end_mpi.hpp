// The end of the programs of this folder that also run on hosts of tools/cluster.
#pragma once

#include <mpi.h>

#include <cstdio>

// The text says that the rank's results were right: MPI_Finalize may not end
// (tests/cluster/hosts_test.py).
inline void end_mpi() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::printf("rank %d calls MPI_Finalize\n", rank);
    std::fflush(stdout);
    MPI_Finalize();
}
