// sort with MPI: alltoall of the key counts, alltoallv of the keys.
#include "versions.hpp"

#include <mpi.h>

#include <numeric>

namespace kernels {
namespace {

class SortMpi final : public Version {
  public:
    explicit SortMpi(Sort &sort)
        : sort_(sort),
          came_counts_(static_cast<std::size_t>(sort.ranks)),
          came_places_(came_counts_.size() + 1),
          came_(sort.room) {}

    void run() override {
        const Key *const grouped = sort_.group(counts_, places_);
        MPI_Alltoall(counts_.data(), 1, MPI_INT, came_counts_.data(), 1, MPI_INT, MPI_COMM_WORLD);
        std::partial_sum(came_counts_.begin(), came_counts_.end(), came_places_.begin() + 1);
        MPI_Alltoallv(grouped, counts_.data(), places_.data(), MPI_UINT32_T, came_.data(),
                      came_counts_.data(), came_places_.data(), MPI_UINT32_T, MPI_COMM_WORLD);
        sort_.finish(came_.data(), static_cast<std::size_t>(came_places_.back()));
    }

  private:
    Sort &sort_;
    std::vector<int> counts_, places_, came_counts_, came_places_;
    std::vector<Key> came_;
};

}  // namespace

std::unique_ptr<Version> sort_mpi(Sort &sort) {
    return std::make_unique<SortMpi>(sort);
}

}  // namespace kernels
