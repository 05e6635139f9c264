// cannon with Sennit: each rank gets its first blocks, and in each step puts its blocks into a
// neighbour's other buffer while it multiplies them.
#include "versions.hpp"

#include "common/sennit_ranks.hpp"

namespace kernels {
namespace {

class CannonSennit final : public Version {
  public:
    explicit CannonSennit(Product &product)
        : product_(product), half_(product.a_block + product.b_block), c_(product.c_block) {
        const auto ranks = static_cast<std::size_t>(product.ranks);
        const std::size_t count = 2 * half_ + ranks * (half_ + product.c_block);
        apps::check(sennit_alloc(SENNIT_TEAM_WORLD, count * sizeof(double), 0, 0, &segment_));
        memory_ = static_cast<double *>(sennit_ptr(segment_));
        product.a = memory_ + 2 * half_;
        product.b = product.a + product.a_block * ranks;
        product.c = product.b + product.b_block * ranks;
    }
    ~CannonSennit() override { (void)sennit_free(segment_); }

    void run() override {
        const Product &p = product_;
        const auto own = static_cast<std::size_t>(p.rank);
        const int left = p.row * p.columns + (p.column + p.columns - 1) % p.columns;
        const int above = (p.row + p.rows - 1) % p.rows * p.columns + p.column;
        get(memory_, p.a, p.a_block, p.a_start[own]);
        get(memory_ + p.a_block, p.b, p.b_block, p.b_start[own]);
        apps::check(sennit_flush_local(0, SENNIT_FOREVER));
        for (int step = 0; step < p.panels; ++step) {
            double *const a = memory_ + step % 2 * half_, *const b = a + p.a_block;
            double *const other = memory_ + (step + 1) % 2 * half_;
            const bool is_last = step + 1 == p.panels;
            if (!is_last) put(other, left, a, p.a_block);
            if (!is_last) put(other + p.a_block, above, b, p.b_block);
            p.multiply(step, a, b, c_.data());
            if (is_last) put(p.c + own * p.c_block, 0, c_.data(), p.c_block);
            apps::check(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
        }
    }

  private:
    // Gets from rank 0's blocks.
    static void get(double *to, const double *blocks, std::size_t count, int block) {
        const sennit_gptr from =
            sennit_gptr_of(blocks + count * static_cast<std::size_t>(block), 0);
        apps::check(sennit_get_nbi(to, from, count * sizeof(double)));
    }
    static void put(const double *place, int rank, const double *from, std::size_t count) {
        apps::check(sennit_put_nbi(sennit_gptr_of(place, rank), from, count * sizeof(double)));
    }

    Product &product_;
    const std::size_t half_;  // doubles of one of the two buffers: A, then B
    std::vector<double> c_;
    sennit_gptr segment_ = SENNIT_GPTR_NULL;
    double *memory_ = nullptr;  // both buffers, then on rank 0 the matrices
};

}  // namespace

std::unique_ptr<Version> cannon_sennit(Product &product) {
    return std::make_unique<CannonSennit>(product);
}

}  // namespace kernels
