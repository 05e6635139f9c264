// summa with Sennit: teams of rows and of columns, and broadcasts of panels.
#include "versions.hpp"

#include "common/sennit_ranks.hpp"

namespace kernels {
namespace {

class SummaSennit final : public Version {
  public:
    explicit SummaSennit(Product &product)
        : product_(product),
          a_(product.a_block),
          b_(product.b_block),
          c_(product.c_block),
          a_came_(product.a_panel),
          b_came_(product.b_panel) {
        apps::check(sennit_team_split(SENNIT_TEAM_WORLD, product.row, product.column, &row_));
        apps::check(sennit_team_split(SENNIT_TEAM_WORLD, product.column, product.row, &column_));
        product.place_in(all_);
    }
    ~SummaSennit() override {
        (void)sennit_team_destroy(column_);
        (void)sennit_team_destroy(row_);
    }

    void run() override {
        const Product &p = product_;
        const auto a_bytes = p.a_panel * sizeof(double), b_bytes = p.b_panel * sizeof(double);
        scatter(p.a, a_.data(), a_.size() * sizeof(double));
        scatter(p.b, b_.data(), b_.size() * sizeof(double));
        for (int t = 0; t < p.panels; ++t) {
            double *const a = p.a_owner(t) == p.column ? a_.data() + p.a_place(t) : a_came_.data();
            double *const b = p.b_owner(t) == p.row ? b_.data() + p.b_place(t) : b_came_.data();
            apps::check(sennit_broadcast(row_, p.a_owner(t), a, a_bytes, SENNIT_FOREVER));
            apps::check(sennit_broadcast(column_, p.b_owner(t), b, b_bytes, SENNIT_FOREVER));
            p.multiply(t, a, b, c_.data());
        }
        apps::check(sennit_gather(SENNIT_TEAM_WORLD, 0, c_.data(), p.c, c_.size() * sizeof(double),
                                  SENNIT_FOREVER));
    }

  private:
    static void scatter(const double *from, double *to, std::size_t bytes) {
        apps::check(sennit_scatter(SENNIT_TEAM_WORLD, 0, from, to, bytes, SENNIT_FOREVER));
    }

    Product &product_;
    std::vector<double> all_, a_, b_, c_, a_came_, b_came_;
    sennit_team row_ = SENNIT_TEAM_NULL, column_ = SENNIT_TEAM_NULL;
};

}  // namespace

std::unique_ptr<Version> summa_sennit(Product &product) {
    return std::make_unique<SummaSennit>(product);
}

}  // namespace kernels
