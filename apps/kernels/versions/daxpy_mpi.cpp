// daxpy with MPI: scatter and gather.
#include "versions.hpp"

#include <mpi.h>

namespace kernels {
namespace {

class DaxpyMpi final : public Version {
  public:
    explicit DaxpyMpi(Daxpy &daxpy)
        : daxpy_(daxpy),
          part_(static_cast<int>(daxpy.part)),
          all_x_(daxpy.rank == 0 ? daxpy.all : 0),
          all_y_(all_x_.size()),
          x_(daxpy.part),
          y_(daxpy.part) {
        daxpy.x = all_x_.data();
        daxpy.y = all_y_.data();
    }

    void run() override {
        MPI_Scatter(all_x_.data(), part_, MPI_DOUBLE, x_.data(), part_, MPI_DOUBLE, 0,
                    MPI_COMM_WORLD);
        MPI_Scatter(all_y_.data(), part_, MPI_DOUBLE, y_.data(), part_, MPI_DOUBLE, 0,
                    MPI_COMM_WORLD);
        daxpy_.add(x_.data(), y_.data(), daxpy_.part);
        MPI_Gather(y_.data(), part_, MPI_DOUBLE, all_y_.data(), part_, MPI_DOUBLE, 0,
                   MPI_COMM_WORLD);
    }

  private:
    Daxpy &daxpy_;
    const int part_;
    std::vector<double> all_x_, all_y_, x_, y_;
};

}  // namespace

std::unique_ptr<Version> daxpy_mpi(Daxpy &daxpy) {
    return std::make_unique<DaxpyMpi>(daxpy);
}

}  // namespace kernels
