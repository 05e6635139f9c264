// The versions, each in a file of its name. Constructing one is collective.
#pragma once

#include "../run.hpp"

#include <memory>

namespace kernels {

std::unique_ptr<Version> daxpy_mpi(Daxpy &);
std::unique_ptr<Version> daxpy_rma(Daxpy &);
std::unique_ptr<Version> daxpy_rma_put(Daxpy &);
std::unique_ptr<Version> daxpy_shmem(Daxpy &);
std::unique_ptr<Version> daxpy_shmem_async(Daxpy &);
std::unique_ptr<Version> daxpy_sennit(Daxpy &);
std::unique_ptr<Version> daxpy_sennit_pipelined(Daxpy &);

std::unique_ptr<Version> cannon_mpi(Product &);
std::unique_ptr<Version> cannon_rma(Product &);
std::unique_ptr<Version> cannon_shmem(Product &);
std::unique_ptr<Version> cannon_sennit(Product &);
std::unique_ptr<Version> cannon_sennit_notified(Product &);

std::unique_ptr<Version> summa_mpi(Product &);
std::unique_ptr<Version> summa_rma(Product &);
std::unique_ptr<Version> summa_shmem(Product &);
std::unique_ptr<Version> summa_sennit(Product &);
// For OpenSHMEM 1.5: empty if the library is older.
std::vector<Entry<Product>> summa_versions_with_teams();

std::unique_ptr<Version> sort_mpi(Sort &);
std::unique_ptr<Version> sort_rma(Sort &);
std::unique_ptr<Version> sort_shmem(Sort &);
std::unique_ptr<Version> sort_sennit(Sort &);

}  // namespace kernels
