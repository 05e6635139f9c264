// cannon with Sennit's notified puts: a rank continues when its two blocks have arrived, and a put
// waits until the owner has multiplied what was in that buffer (notify.h), so there is no barrier.
#include "versions.hpp"

#include "common/sennit_ranks.hpp"

namespace kernels {
namespace {

class CannonNotified final : public Version {
  public:
    explicit CannonNotified(Product &product)
        : product_(product), half_(product.a_block + product.b_block), c_(product.c_block) {
        const int dims[] = {product.rows, product.columns}, periodic[] = {1, 1};
        int left = 0, right = 0, above = 0, below = 0;
        apps::check(sennit_team_grid(SENNIT_TEAM_WORLD, 2, dims, periodic, &grid_));
        apps::check(sennit_team_grid_shift(grid_, 1, -1, &right, &left));
        apps::check(sennit_team_grid_shift(grid_, 0, -1, &below, &above));
        apps::check(sennit_alloc(grid_, 2 * half_ * sizeof(double), 0, 0, &memory_));
        apps::check(sennit_signal_create(2, 2, 0, &arrived_));
        const sennit_region region{memory_, 2 * half_ * sizeof(double)};
        sennit_block own;
        std::vector<sennit_block> blocks(static_cast<std::size_t>(product.ranks));
        apps::check(sennit_block_init(region, 0, region.bytes, SENNIT_SIGNAL_NULL, arrived_, &own));
        apps::check(sennit_allgather(grid_, &own, blocks.data(), sizeof(own), SENNIT_FOREVER));
        left_ = attach(blocks[static_cast<std::size_t>(left)]);
        above_ = attach(blocks[static_cast<std::size_t>(above)]);
        product.place_in(all_);
        for (int rank = 0; rank < product.ranks; ++rank) {
            const auto at = static_cast<std::size_t>(rank);
            a_places_.push_back(static_cast<std::size_t>(product.a_start[at]) * a_bytes());
            b_places_.push_back(static_cast<std::size_t>(product.b_start[at]) * b_bytes());
        }
        a_bytes_.assign(a_places_.size(), a_bytes());
        b_bytes_.assign(b_places_.size(), b_bytes());
    }
    ~CannonNotified() override {
        (void)sennit_block_detach(above_.block);
        (void)sennit_block_detach(left_.block);
        (void)sennit_free(memory_);
        (void)sennit_signal_destroy(arrived_);
        (void)sennit_team_destroy(grid_);
    }

    void run() override {
        double *const memory = static_cast<double *>(sennit_ptr(memory_));
        const sennit_vbuffer all_a{product_.a, a_bytes_.data(), a_places_.data()};
        const sennit_vbuffer all_b{product_.b, b_bytes_.data(), b_places_.data()};
        apps::check(sennit_scatterv(grid_, 0, &all_a, memory, a_bytes(), SENNIT_FOREVER));
        apps::check(sennit_scatterv(grid_, 0, &all_b, memory + product_.a_block, b_bytes(),
                                    SENNIT_FOREVER));
        // Each step has an epoch, which ends when its blocks are multiplied; those of the first
        // step are a block of A and one of B too.
        for (int block = 0; block < 2; ++block)
            apps::check(sennit_signal_notify(arrived_, epoch_));
        for (int step = 0; step < product_.panels; ++step, ++epoch_) {
            double *const a = memory + step % 2 * half_, *const b = a + product_.a_block;
            apps::check(sennit_signal_wait(arrived_, SENNIT_FOREVER));
            if (step + 1 < product_.panels) {
                put(left_, step, 0, a, a_bytes());
                put(above_, step, a_bytes(), b, b_bytes());
            }
            product_.multiply(step, a, b, c_.data());
            apps::check(sennit_signal_reset(arrived_));
        }
        apps::check(sennit_gather(grid_, 0, c_.data(), product_.c, c_.size() * sizeof(double),
                                  SENNIT_FOREVER));
    }

  private:
    struct Neighbour {
        sennit_peer_block block;
        sennit_signal arrived;
    };

    std::size_t a_bytes() const { return product_.a_block * sizeof(double); }
    std::size_t b_bytes() const { return product_.b_block * sizeof(double); }
    static Neighbour attach(const sennit_block &block) {
        sennit_block_info info;
        Neighbour made{};
        apps::check(sennit_block_query(&block, &info));
        apps::check(sennit_block_attach(&block, &made.block));
        made.arrived = info.on_recv;
        return made;
    }
    // Into the buffer of the next step.
    void put(const Neighbour &to, int step, std::size_t offset, const double *from,
             std::size_t bytes) const {
        const sennit_notice notice{to.arrived, SENNIT_SIGNAL_NULL, epoch_ + 1, SENNIT_FOREVER};
        const std::size_t begin = (step + 1) % 2 * half_ * sizeof(double);
        apps::check(sennit_put_notify_with(to.block, begin + offset, from, bytes, &notice));
    }

    Product &product_;
    std::vector<double> all_;
    const std::size_t half_;  // doubles of one of the two buffers: A, then B
    std::vector<double> c_;
    std::vector<std::size_t> a_places_, b_places_, a_bytes_, b_bytes_;
    sennit_team grid_ = SENNIT_TEAM_NULL;
    sennit_gptr memory_ = SENNIT_GPTR_NULL;
    sennit_signal arrived_ = SENNIT_SIGNAL_NULL;  // counts a block of A and one of B
    std::uint64_t epoch_ = 0;                     // of arrived_
    Neighbour left_{}, above_{};
};

}  // namespace

std::unique_ptr<Version> cannon_sennit_notified(Product &product) {
    return std::make_unique<CannonNotified>(product);
}

}  // namespace kernels
