// sennit_mpi.h in C++, under the MPI it was compiled with: it compiles there without a warning, and
// starts a rank.
#include <sennit/sennit.h>
#include <sennit/sennit_mpi.h>

#include <cstdio>

int main(int argc, char **argv) {
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
    sennit_options options = SENNIT_OPTIONS_INIT;
    options.thread_level = SENNIT_THREAD_FUNNELED;
    int size = 0;
    int rank = -1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const sennit_status status = sennit_init_mpi(MPI_COMM_WORLD, &options);
    const bool is_right = status == SENNIT_OK && sennit_size() == size && sennit_rank() == rank &&
                          sennit_finalize() == SENNIT_OK;
    if (!is_right) std::fprintf(stderr, "mpi_header_test: %s\n", sennit_last_error()->text);
    return MPI_Finalize() == MPI_SUCCESS && is_right ? 0 : 1;
}
