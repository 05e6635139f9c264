// cannon with MPI: a periodic grid, and blocks that are sent and replaced in place.
#include "versions.hpp"

#include <mpi.h>

namespace kernels {
namespace {

class CannonMpi final : public Version {
  public:
    explicit CannonMpi(Product &product)
        : product_(product),
          ones_(static_cast<std::size_t>(product.ranks), 1),
          a_(product.a_block),
          b_(product.b_block),
          c_(product.c_block) {
        const int dims[] = {product.rows, product.columns}, periodic[] = {1, 1};
        MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid_);
        MPI_Cart_shift(grid_, 1, -1, &right_, &left_);
        MPI_Cart_shift(grid_, 0, -1, &below_, &above_);
        MPI_Type_contiguous(static_cast<int>(product.a_block), MPI_DOUBLE, &a_type_);
        MPI_Type_commit(&a_type_);
        MPI_Type_contiguous(static_cast<int>(product.b_block), MPI_DOUBLE, &b_type_);
        MPI_Type_commit(&b_type_);
        product.place_in(all_);
    }
    ~CannonMpi() override {
        MPI_Type_free(&b_type_);
        MPI_Type_free(&a_type_);
        MPI_Comm_free(&grid_);
    }

    void run() override {
        MPI_Scatterv(product_.a, ones_.data(), product_.a_start.data(), a_type_, a_.data(), 1,
                     a_type_, 0, grid_);
        MPI_Scatterv(product_.b, ones_.data(), product_.b_start.data(), b_type_, b_.data(), 1,
                     b_type_, 0, grid_);
        for (int step = 0; step < product_.panels; ++step) {
            product_.multiply(step, a_.data(), b_.data(), c_.data());
            if (step + 1 == product_.panels) break;
            MPI_Sendrecv_replace(a_.data(), 1, a_type_, left_, 0, right_, 0, grid_,
                                 MPI_STATUS_IGNORE);
            MPI_Sendrecv_replace(b_.data(), 1, b_type_, above_, 0, below_, 0, grid_,
                                 MPI_STATUS_IGNORE);
        }
        const int count = static_cast<int>(product_.c_block);
        MPI_Gather(c_.data(), count, MPI_DOUBLE, product_.c, count, MPI_DOUBLE, 0, grid_);
    }

  private:
    Product &product_;
    std::vector<int> ones_;
    std::vector<double> all_, a_, b_, c_;
    MPI_Comm grid_ = MPI_COMM_NULL;
    MPI_Datatype a_type_ = MPI_DATATYPE_NULL, b_type_ = MPI_DATATYPE_NULL;
    int left_ = 0, right_ = 0, above_ = 0, below_ = 0;
};

}  // namespace

std::unique_ptr<Version> cannon_mpi(Product &product) {
    return std::make_unique<CannonMpi>(product);
}

}  // namespace kernels
