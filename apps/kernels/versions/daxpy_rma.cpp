// daxpy with MPI RMA: all ranks get from rank 0's window, and accumulate or, in rma-put, put.
#include "versions.hpp"
#include "window_bytes.hpp"

#include <mpi.h>

namespace kernels {
namespace {

class DaxpyRma final : public Version {
  public:
    DaxpyRma(Daxpy &daxpy, bool puts) : daxpy_(daxpy), puts_(puts), x_(daxpy.part), y_(daxpy.part) {
        const std::size_t bytes = daxpy.rank == 0 ? 2 * daxpy.all * sizeof(double) : 0;
        MPI_Win_allocate(window_bytes(bytes), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                         &daxpy.x, &window_);
        daxpy.y = daxpy.x + daxpy.all;
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    }
    ~DaxpyRma() override {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }

    void run() override {
        const int part = static_cast<int>(daxpy_.part);
        const MPI_Aint x_place = static_cast<MPI_Aint>(daxpy_.part) * daxpy_.rank;
        const MPI_Aint y_place = static_cast<MPI_Aint>(daxpy_.all) + x_place;
        MPI_Get(x_.data(), part, MPI_DOUBLE, 0, x_place, part, MPI_DOUBLE, window_);
        MPI_Get(y_.data(), part, MPI_DOUBLE, 0, y_place, part, MPI_DOUBLE, window_);
        MPI_Win_flush(0, window_);
        daxpy_.add(x_.data(), y_.data(), daxpy_.part);
        if (puts_)
            MPI_Put(y_.data(), part, MPI_DOUBLE, 0, y_place, part, MPI_DOUBLE, window_);
        else
            MPI_Accumulate(y_.data(), part, MPI_DOUBLE, 0, y_place, part, MPI_DOUBLE, MPI_REPLACE,
                           window_);
        MPI_Win_flush(0, window_);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(window_);
    }

  private:
    Daxpy &daxpy_;
    const bool puts_;
    MPI_Win window_ = MPI_WIN_NULL;
    std::vector<double> x_, y_;
};

}  // namespace

std::unique_ptr<Version> daxpy_rma(Daxpy &daxpy) {
    return std::make_unique<DaxpyRma>(daxpy, false);
}
std::unique_ptr<Version> daxpy_rma_put(Daxpy &daxpy) {
    return std::make_unique<DaxpyRma>(daxpy, true);
}

}  // namespace kernels
