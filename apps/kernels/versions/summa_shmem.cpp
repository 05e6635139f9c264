// summa with OpenSHMEM 1.4, which has no broadcast along rows and columns: the owner of a panel
// puts it to the PEs of its row or column, into one of two buffers in turn.
#include "versions.hpp"

#include "common/shmem_ranks.hpp"

namespace kernels {
namespace {

class SummaShmem final : public Version {
  public:
    explicit SummaShmem(Product &product)
        : product_(product),
          pes_(static_cast<std::size_t>(product.ranks)),
          all_(product.rank == 0 ? pes_ * (product.a_block + product.b_block) : 0),
          c_(product.c_block) {
        const std::size_t blocks = product.a_block + product.b_block;
        const std::size_t panels = 2 * (product.a_panel + product.b_panel);
        memory_ = apps::symmetric<double>(shmem_malloc((blocks + panels) * sizeof(double)));
        came_ = memory_ + blocks;
        product.a = all_.data();
        product.b = product.a + product.a_block * pes_;
        product.c = apps::symmetric<double>(shmem_malloc(pes_ * product.c_block * sizeof(double)));
    }
    ~SummaShmem() override {
        shmem_free(product_.c);
        shmem_free(memory_);
    }

    void run() override {
        const Product &p = product_;
        if (p.rank == 0) scatter();
        shmem_barrier_all();
        for (int t = 0; t < p.panels; ++t) {
            double *a = came_ + (t % 2 == 0 ? 0 : p.a_panel + p.b_panel), *b = a + p.a_panel;
            if (p.a_owner(t) == p.column) {
                double *const own = memory_ + p.a_place(t);
                for (int pe = p.row * p.columns; pe < (p.row + 1) * p.columns; ++pe)
                    if (pe != p.rank) shmem_double_put_nbi(a, own, p.a_panel, pe);
                a = own;
            }
            if (p.b_owner(t) == p.row) {
                double *const own = memory_ + p.a_block + p.b_place(t);
                for (int pe = p.column; pe < p.ranks; pe += p.columns)
                    if (pe != p.rank) shmem_double_put_nbi(b, own, p.b_panel, pe);
                b = own;
            }
            shmem_barrier_all();
            p.multiply(t, a, b, c_.data());
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
    double *memory_ = nullptr;  // the block of A, that of B, and the received panels
    double *came_ = nullptr;    // two buffers, each for a panel of A and one of B
};

}  // namespace

std::unique_ptr<Version> summa_shmem(Product &product) {
    return std::make_unique<SummaShmem>(product);
}

}  // namespace kernels
