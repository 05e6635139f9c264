// cannon with MPI RMA: each rank puts its blocks into a neighbour's other buffer while it
// multiplies them.
#include "versions.hpp"
#include "window_bytes.hpp"

#include <mpi.h>

namespace kernels {
namespace {

class CannonRma final : public Version {
  public:
    explicit CannonRma(Product &product)
        : product_(product),
          ones_(static_cast<std::size_t>(product.ranks), 1),
          half_(product.a_block + product.b_block),
          c_(product.c_block) {
        const int dims[] = {product.rows, product.columns}, periodic[] = {1, 1};
        int right = 0, below = 0;
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid_);
        MPI_Cart_shift(grid_, 1, -1, &right, &left_);
        MPI_Cart_shift(grid_, 0, -1, &below, &above_);
        MPI_Type_contiguous(static_cast<int>(product.a_block), MPI_DOUBLE, &a_type_);
        MPI_Type_commit(&a_type_);
        MPI_Type_contiguous(static_cast<int>(product.b_block), MPI_DOUBLE, &b_type_);
        MPI_Type_commit(&b_type_);
        MPI_Win_allocate(window_bytes(2 * half_ * sizeof(double)), sizeof(double), MPI_INFO_NULL,
                         grid_, &memory_, &window_);
        MPI_Win_fence(0, window_);
        product.place_in(all_);
    }
    ~CannonRma() override {
        MPI_Win_free(&window_);
        MPI_Type_free(&b_type_);
        MPI_Type_free(&a_type_);
        MPI_Comm_free(&grid_);
    }

    void run() override {
        MPI_Scatterv(product_.a, ones_.data(), product_.a_start.data(), a_type_, memory_, 1,
                     a_type_, 0, grid_);
        MPI_Scatterv(product_.b, ones_.data(), product_.b_start.data(), b_type_,
                     memory_ + product_.a_block, 1, b_type_, 0, grid_);
        for (int step = 0; step < product_.panels; ++step) {
            const std::size_t here = step % 2 * half_, there = half_ - here;
            double *const a = memory_ + here, *const b = a + product_.a_block;
            const auto a_place = static_cast<MPI_Aint>(there);
            const auto b_place = static_cast<MPI_Aint>(there + product_.a_block);
            if (step + 1 < product_.panels) {
                MPI_Put(a, 1, a_type_, left_, a_place, 1, a_type_, window_);
                MPI_Put(b, 1, b_type_, above_, b_place, 1, b_type_, window_);
            }
            product_.multiply(step, a, b, c_.data());
            if (step + 1 < product_.panels) MPI_Win_fence(0, window_);
        }
        const int count = static_cast<int>(product_.c_block);
        MPI_Gather(c_.data(), count, MPI_DOUBLE, product_.c, count, MPI_DOUBLE, 0, grid_);
    }

  private:
    Product &product_;
    std::vector<int> ones_;
    std::vector<double> all_;
    const std::size_t half_;  // doubles of one of the two buffers: A, then B
    std::vector<double> c_;
    double *memory_ = nullptr;
    MPI_Comm grid_ = MPI_COMM_NULL;
    MPI_Win window_ = MPI_WIN_NULL;
    MPI_Datatype a_type_ = MPI_DATATYPE_NULL, b_type_ = MPI_DATATYPE_NULL;
    int left_ = 0, above_ = 0;
};

}  // namespace

std::unique_ptr<Version> cannon_rma(Product &product) {
    return std::make_unique<CannonRma>(product);
}

}  // namespace kernels
