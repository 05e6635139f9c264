// The kernels with MPI, two-sided and one-sided.
#include "versions/versions.hpp"

#include "common/mpi_ranks.hpp"

int main(int argc, char **argv) {
    return apps::run_with_mpi("kernels", &argc, &argv, [&] {
        apps::MpiRanks ranks;
        const kernels::Versions versions{
            .daxpy = {{"mpi", kernels::daxpy_mpi},
                      {"rma", kernels::daxpy_rma},
                      {"rma-put", kernels::daxpy_rma_put}},
            .cannon = {{"mpi", kernels::cannon_mpi}, {"rma", kernels::cannon_rma}},
            .summa = {{"mpi", kernels::summa_mpi}, {"rma", kernels::summa_rma}},
            .sort = {{"mpi", kernels::sort_mpi}, {"rma", kernels::sort_rma}}};
        return kernels::run(ranks, versions, argc, argv);
    });
}
