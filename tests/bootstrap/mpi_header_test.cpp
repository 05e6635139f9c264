// sennit_mpi.h and sennit_zcom.h in C++, with the MPI of their build: they compile without a
// warning, sennit_mpi.h starts a rank, and its waits end.
#include <sennit/sennit.h>
#include <sennit/sennit_mpi.h>
#include <sennit/sennit_zcom.h>

#include <cstdint>
#include <cstdio>

namespace {

constexpr std::int64_t kShortNs = 200'000'000;
constexpr std::int64_t kLongNs = 20'000'000'000;

bool starts_a_rank(int size, int rank) {
    sennit_options options = SENNIT_OPTIONS_INIT;
    options.thread_level = SENNIT_THREAD_FUNNELED;
    return sennit_init_mpi(MPI_COMM_WORLD, &options) == SENNIT_OK && sennit_size() == size &&
           sennit_rank() == rank && sennit_finalize() == SENNIT_OK;
}

// Rank 0's barrier times out before the others enter it. Theirs ends: rank 0's is still pending.
bool waits_end(int size, int rank) {
    sennit_bootstrap bootstrap{};
    int code = 0;
    if (sennit_mpi_bootstrap_make(MPI_COMM_WORLD, SENNIT_FOREVER, &bootstrap, &code) != SENNIT_OK)
        return false;
    bool is_right = true;
    if (rank != 0) MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && size > 1) {
        const double start = sennit_wtime();
        is_right = bootstrap.barrier(bootstrap.context, kShortNs) == SENNIT_ERR_TIMEOUT &&
                   sennit_last_error()->status == SENNIT_ERR_TIMEOUT &&
                   sennit_wtime() - start < 10 &&
                   bootstrap.barrier(bootstrap.context, kShortNs) == MPI_ERR_COMM;
    } else {
        is_right = bootstrap.barrier(bootstrap.context, kLongNs) == 0;
    }
    if (rank == 0) MPI_Barrier(MPI_COMM_WORLD);
    bootstrap.release(bootstrap.context);
    return is_right;
}

}  // namespace

int main(int argc, char **argv) {
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
    int size = 0;
    int rank = -1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const bool starts = starts_a_rank(size, rank);
    if (!starts) std::fprintf(stderr, "mpi_header_test: %s\n", sennit_last_error()->text);
    const bool ends = waits_end(size, rank);
    if (!ends) std::fprintf(stderr, "mpi_header_test: rank %d: a wait did not end right\n", rank);
    return MPI_Finalize() == MPI_SUCCESS && starts && ends ? 0 : 1;
}
