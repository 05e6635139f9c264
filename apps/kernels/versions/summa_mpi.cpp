// summa with MPI: communicators of rows and of columns, and broadcasts of panels.
#include "versions.hpp"

#include <mpi.h>

namespace kernels {
namespace {

class SummaMpi final : public Version {
  public:
    explicit SummaMpi(Product &product)
        : product_(product),
          a_(product.a_block),
          b_(product.b_block),
          c_(product.c_block),
          a_came_(product.a_panel),
          b_came_(product.b_panel) {
        MPI_Comm_split(MPI_COMM_WORLD, product.row, product.column, &row_);
        MPI_Comm_split(MPI_COMM_WORLD, product.column, product.row, &column_);
        product.place_in(all_);
    }
    ~SummaMpi() override {
        MPI_Comm_free(&column_);
        MPI_Comm_free(&row_);
    }

    void run() override {
        const Product &p = product_;
        scatter(p.a, a_);
        scatter(p.b, b_);
        for (int t = 0; t < p.panels; ++t) {
            double *const a = p.a_owner(t) == p.column ? a_.data() + p.a_place(t) : a_came_.data();
            double *const b = p.b_owner(t) == p.row ? b_.data() + p.b_place(t) : b_came_.data();
            MPI_Bcast(a, static_cast<int>(p.a_panel), MPI_DOUBLE, p.a_owner(t), row_);
            MPI_Bcast(b, static_cast<int>(p.b_panel), MPI_DOUBLE, p.b_owner(t), column_);
            p.multiply(t, a, b, c_.data());
        }
        const int count = static_cast<int>(p.c_block);
        MPI_Gather(c_.data(), count, MPI_DOUBLE, p.c, count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }

  private:
    static void scatter(const double *from, std::vector<double> &to) {
        const int count = static_cast<int>(to.size());
        MPI_Scatter(from, count, MPI_DOUBLE, to.data(), count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }

    Product &product_;
    std::vector<double> all_, a_, b_, c_, a_came_, b_came_;
    MPI_Comm row_ = MPI_COMM_NULL, column_ = MPI_COMM_NULL;
};

}  // namespace

std::unique_ptr<Version> summa_mpi(Product &product) {
    return std::make_unique<SummaMpi>(product);
}

}  // namespace kernels
