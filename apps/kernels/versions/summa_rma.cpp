// summa with MPI RMA: blocks are in a window, from which each rank gets the other ranks' panels.
#include "versions.hpp"
#include "window_bytes.hpp"

#include <mpi.h>

namespace kernels {
namespace {

class SummaRma final : public Version {
  public:
    explicit SummaRma(Product &product)
        : product_(product),
          c_(product.c_block),
          a_came_(product.a_panel),
          b_came_(product.b_panel) {
        const std::size_t bytes = (product.a_block + product.b_block) * sizeof(double);
        MPI_Win_allocate(window_bytes(bytes), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                         &memory_, &window_);
        product.place_in(all_);
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    }
    ~SummaRma() override {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }

    void run() override {
        const Product &p = product_;
        scatter(p.a, memory_, p.a_block);
        scatter(p.b, memory_ + p.a_block, p.b_block);
        MPI_Win_sync(window_);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int t = 0; t < p.panels; ++t) {
            const double *a = memory_ + p.a_place(t), *b = memory_ + p.a_block + p.b_place(t);
            if (p.a_owner(t) != p.column) a = get(a_came_, p.row * p.columns + p.a_owner(t), a);
            if (p.b_owner(t) != p.row) b = get(b_came_, p.b_owner(t) * p.columns + p.column, b);
            MPI_Win_flush_local_all(window_);
            p.multiply(t, a, b, c_.data());
        }
        const int count = static_cast<int>(p.c_block);
        MPI_Gather(c_.data(), count, MPI_DOUBLE, p.c, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }

  private:
    static void scatter(const double *from, double *to, std::size_t block) {
        const int count = static_cast<int>(block);
        MPI_Scatter(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    // Gets the data that has the same place in the rank's window as `here` in this rank's window.
    const double *get(std::vector<double> &to, int rank, const double *here) {
        const int count = static_cast<int>(to.size());
        MPI_Get(to.data(), count, MPI_DOUBLE, rank, here - memory_, count, MPI_DOUBLE, window_);
        return to.data();
    }

    Product &product_;
    std::vector<double> all_, c_, a_came_, b_came_;
    double *memory_ = nullptr;  // the block of A, then that of B
    MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace

std::unique_ptr<Version> summa_rma(Product &product) {
    return std::make_unique<SummaRma>(product);
}

}  // namespace kernels
