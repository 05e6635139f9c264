// The kernels with OpenSHMEM, compiled with any implementation of it.
#include "versions/versions.hpp"

#include "common/shmem_ranks.hpp"

int main(int argc, char **argv) {
    return apps::run_with_shmem("kernels", [&] {
        apps::ShmemRanks ranks;
        kernels::Versions versions{
            .daxpy = {{"shmem", kernels::daxpy_shmem}, {"shmem-async", kernels::daxpy_shmem_async}},
            .cannon = {{"shmem", kernels::cannon_shmem}},
            .summa = {{"shmem", kernels::summa_shmem}},
            .sort = {{"shmem", kernels::sort_shmem}}};
        for (const auto &version : kernels::summa_versions_with_teams())
            versions.summa.push_back(version);
        return kernels::run(ranks, versions, argc, argv);
    });
}
