// Counts the calls of MPI that a back end might make in the time loop. It is loaded before MPI's
// library, defines functions of these names, and calls MPI's profiling names. Each rank prints its
// count at the end.
#include <mpi.h>

#include <atomic>
#include <cstdio>

namespace {

std::atomic<long> calls{0};

void count() {
    calls.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number for people
}

}  // namespace

extern "C" {

int MPI_Isend(const void *buffer, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request) {
    count();
    return PMPI_Isend(buffer, n, type, peer, tag, comm, request);
}

int MPI_Irecv(void *buffer, int n, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
              MPI_Request *request) {
    count();
    return PMPI_Irecv(buffer, n, type, peer, tag, comm, request);
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
    count();
    return PMPI_Waitall(n, requests, statuses);
}

int MPI_Sendrecv(const void *out, int n_out, MPI_Datatype type_out, int to, int tag_out, void *in,
                 int n_in, MPI_Datatype type_in, int from, int tag_in, MPI_Comm comm,
                 MPI_Status *status) {
    count();
    return PMPI_Sendrecv(out, n_out, type_out, to, tag_out, in, n_in, type_in, from, tag_in, comm,
                         status);
}

int MPI_Alltoallv(const void *out, const int n_out[], const int at_out[], MPI_Datatype type_out,
                  void *in, const int n_in[], const int at_in[], MPI_Datatype type_in,
                  MPI_Comm comm) {
    count();
    return PMPI_Alltoallv(out, n_out, at_out, type_out, in, n_in, at_in, type_in, comm);
}

int MPI_Allreduce(const void *out, void *in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    count();
    return PMPI_Allreduce(out, in, n, type, op, comm);
}

int MPI_Gather(const void *out, int n_out, MPI_Datatype type_out, void *in, int n_in,
               MPI_Datatype type_in, int root, MPI_Comm comm) {
    count();
    return PMPI_Gather(out, n_out, type_out, in, n_in, type_in, root, comm);
}

int MPI_Barrier(MPI_Comm comm) {
    count();
    return PMPI_Barrier(comm);
}

int MPI_Finalize(void) {
    std::fprintf(stderr, "calls of MPI: %ld\n",
                 calls.load(std::memory_order_relaxed));  // relaxed: a number for people
    return PMPI_Finalize();
}

}  // extern "C"
