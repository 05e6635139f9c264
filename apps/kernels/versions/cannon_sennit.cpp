// cannon with Sennit: blocks are put into the other of two buffers while this one is multiplied.
#include "versions.hpp"

#include "common/sennit_ranks.hpp"

namespace kernels {
namespace {

class CannonSennit final : public Version {
  public:
    explicit CannonSennit(Product &product)
        : product_(product), half_(product.a_block + product.b_block), c_(product.c_block) {
        const int dims[] = {product.rows, product.columns}, periodic[] = {1, 1};
        int right = 0, below = 0;
        apps::check(sennit_team_grid(SENNIT_TEAM_WORLD, 2, dims, periodic, &grid_));
        apps::check(sennit_team_grid_shift(grid_, 1, -1, &right, &left_));
        apps::check(sennit_team_grid_shift(grid_, 0, -1, &below, &above_));
        apps::check(sennit_alloc(grid_, 2 * half_ * sizeof(double), 0, 0, &memory_));
        product.place_in(all_);
        for (int rank = 0; rank < product.ranks; ++rank) {
            const auto at = static_cast<std::size_t>(rank);
            a_places_.push_back(static_cast<std::size_t>(product.a_start[at]) * a_bytes());
            b_places_.push_back(static_cast<std::size_t>(product.b_start[at]) * b_bytes());
        }
        a_bytes_.assign(a_places_.size(), a_bytes());
        b_bytes_.assign(b_places_.size(), b_bytes());
    }
    ~CannonSennit() override {
        (void)sennit_free(memory_);
        (void)sennit_team_destroy(grid_);
    }

    void run() override {
        double *const memory = static_cast<double *>(sennit_ptr(memory_));
        const sennit_vbuffer all_a{product_.a, a_bytes_.data(), a_places_.data()};
        const sennit_vbuffer all_b{product_.b, b_bytes_.data(), b_places_.data()};
        apps::check(sennit_scatterv(grid_, 0, &all_a, memory, a_bytes(), SENNIT_FOREVER));
        apps::check(sennit_scatterv(grid_, 0, &all_b, memory + product_.a_block, b_bytes(),
                                    SENNIT_FOREVER));
        for (int step = 0; step < product_.panels; ++step) {
            double *const a = memory + step % 2 * half_, *const b = a + product_.a_block;
            if (step + 1 < product_.panels) {
                const sennit_gptr a_there = other(step, left_);
                const sennit_gptr b_there =
                    sennit_gptr_add(other(step, above_), static_cast<std::int64_t>(a_bytes()));
                apps::check(sennit_put_nbi(a_there, a, a_bytes()));
                apps::check(sennit_put_nbi(b_there, b, b_bytes()));
            }
            product_.multiply(step, a, b, c_.data());
            if (step + 1 < product_.panels) apps::check(sennit_barrier(grid_, SENNIT_FOREVER));
        }
        apps::check(sennit_gather(grid_, 0, c_.data(), product_.c, c_.size() * sizeof(double),
                                  SENNIT_FOREVER));
    }

  private:
    std::size_t a_bytes() const { return product_.a_block * sizeof(double); }
    std::size_t b_bytes() const { return product_.b_block * sizeof(double); }
    // The buffer of the next step. Ranks of the grid have their numbers of the world.
    sennit_gptr other(int step, int rank) const {
        return sennit_gptr_add(sennit_gptr_at(memory_, rank),
                               static_cast<std::int64_t>((step + 1) % 2 * half_ * sizeof(double)));
    }

    Product &product_;
    std::vector<double> all_;
    const std::size_t half_;  // doubles of one of the two buffers: A, then B
    std::vector<double> c_;
    std::vector<std::size_t> a_places_, b_places_, a_bytes_, b_bytes_;
    sennit_team grid_ = SENNIT_TEAM_NULL;
    sennit_gptr memory_ = SENNIT_GPTR_NULL;
    int left_ = 0, above_ = 0;
};

}  // namespace

std::unique_ptr<Version> cannon_sennit(Product &product) {
    return std::make_unique<CannonSennit>(product);
}

}  // namespace kernels
