// summa with OpenSHMEM 1.5: teams of rows and of columns, and broadcasts of panels.
#include "versions.hpp"

#include "common/shmem_ranks.hpp"

namespace kernels {
namespace {

class SummaTeams final : public Version {
  public:
    explicit SummaTeams(Product &product)
        : product_(product),
          pes_(static_cast<std::size_t>(product.ranks)),
          all_(product.rank == 0 ? pes_ * (product.a_block + product.b_block) : 0),
          c_(product.c_block) {
        const std::size_t blocks = product.a_block + product.b_block;
        const std::size_t panels = product.a_panel + product.b_panel;
        shmem_team_split_2d(SHMEM_TEAM_WORLD, product.columns, nullptr, 0, &row_, nullptr, 0,
                            &column_);
        memory_ = apps::symmetric<double>(shmem_malloc((blocks + panels) * sizeof(double)));
        a_came_ = memory_ + blocks;
        b_came_ = a_came_ + product.a_panel;
        product.a = all_.data();
        product.b = product.a + product.a_block * pes_;
        product.c = apps::symmetric<double>(shmem_malloc(pes_ * product.c_block * sizeof(double)));
    }
    ~SummaTeams() override {
        shmem_free(product_.c);
        shmem_free(memory_);
        shmem_team_destroy(column_);
        shmem_team_destroy(row_);
    }

    void run() override {
        const Product &p = product_;
        if (p.rank == 0) scatter();
        shmem_barrier_all();
        for (int t = 0; t < p.panels; ++t) {
            // The buffers are free when all PEs have multiplied their content.
            shmem_team_sync(row_);
            shmem_team_sync(column_);
            shmem_double_broadcast(row_, a_came_, memory_ + p.a_place(t), p.a_panel, p.a_owner(t));
            shmem_double_broadcast(column_, b_came_, memory_ + p.a_block + p.b_place(t), p.b_panel,
                                   p.b_owner(t));
            p.multiply(t, a_came_, b_came_, c_.data());
        }
        double *const place = p.c + static_cast<std::size_t>(p.rank) * c_.size();
        shmem_double_put(place, c_.data(), c_.size(), 0);
        shmem_barrier_all();
    }

  private:
    void scatter() {
        const Product &p = product_;
        for (std::size_t pe = 0; pe < pes_; ++pe) {
            const int to = static_cast<int>(pe);
            shmem_double_put_nbi(memory_, p.a + pe * p.a_block, p.a_block, to);
            shmem_double_put_nbi(memory_ + p.a_block, p.b + pe * p.b_block, p.b_block, to);
        }
    }

    Product &product_;
    const std::size_t pes_;
    std::vector<double> all_, c_;
    shmem_team_t row_ = SHMEM_TEAM_INVALID, column_ = SHMEM_TEAM_INVALID;
    double *memory_ = nullptr;  // the block of A, that of B, and a received panel of each
    double *a_came_ = nullptr, *b_came_ = nullptr;
};

}  // namespace

std::vector<Entry<Product>> summa_versions_with_teams() {
    return {{"shmem-teams", [](Product &product) -> std::unique_ptr<Version> {
                 return std::make_unique<SummaTeams>(product);
             }}};
}

}  // namespace kernels
