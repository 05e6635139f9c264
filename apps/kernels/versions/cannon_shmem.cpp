// cannon with OpenSHMEM: PE 0 puts the first blocks to all PEs, and each PE puts its blocks into a
// neighbour's other buffer while it multiplies them.
#include "versions.hpp"

#include "common/shmem_ranks.hpp"

namespace kernels {
namespace {

class CannonShmem final : public Version {
  public:
    explicit CannonShmem(Product &product)
        : product_(product),
          pes_(static_cast<std::size_t>(product.ranks)),
          all_(product.rank == 0 ? pes_ * (product.a_block + product.b_block) : 0),
          half_(product.a_block + product.b_block),
          c_(product.c_block),
          memory_(apps::symmetric<double>(shmem_malloc(2 * half_ * sizeof(double)))) {
        product.a = all_.data();
        product.b = product.a + product.a_block * pes_;
        product.c = apps::symmetric<double>(shmem_malloc(pes_ * product.c_block * sizeof(double)));
    }
    ~CannonShmem() override {
        shmem_free(product_.c);
        shmem_free(memory_);
    }

    void run() override {
        const int side = product_.columns, row = product_.row, column = product_.column;
        const int left = row * side + (column + side - 1) % side;
        const int above = (row + side - 1) % side * side + column;
        if (product_.rank == 0) scatter();
        shmem_barrier_all();
        for (int step = 0; step < product_.panels; ++step) {
            double *const a = memory_ + step % 2 * half_, *const b = a + product_.a_block;
            double *const other = memory_ + (step + 1) % 2 * half_;
            if (step + 1 < product_.panels) {
                shmem_double_put_nbi(other, a, product_.a_block, left);
                shmem_double_put_nbi(other + product_.a_block, b, product_.b_block, above);
            }
            product_.multiply(step, a, b, c_.data());
            if (step + 1 < product_.panels) shmem_barrier_all();
        }
        double *const place = product_.c + static_cast<std::size_t>(product_.rank) * c_.size();
        shmem_double_put(place, c_.data(), c_.size(), 0);
        shmem_barrier_all();
    }

  private:
    void scatter() {
        for (std::size_t pe = 0; pe < pes_; ++pe) {
            const auto a = static_cast<std::size_t>(product_.a_start[pe]) * product_.a_block;
            const auto b = static_cast<std::size_t>(product_.b_start[pe]) * product_.b_block;
            const int to = static_cast<int>(pe);
            shmem_double_put_nbi(memory_, product_.a + a, product_.a_block, to);
            shmem_double_put_nbi(memory_ + product_.a_block, product_.b + b, product_.b_block, to);
        }
    }

    Product &product_;
    const std::size_t pes_;
    std::vector<double> all_;
    const std::size_t half_;  // doubles of one of the two buffers: A, then B
    std::vector<double> c_;
    double *memory_;
};

}  // namespace

std::unique_ptr<Version> cannon_shmem(Product &product) {
    return std::make_unique<CannonShmem>(product);
}

}  // namespace kernels
