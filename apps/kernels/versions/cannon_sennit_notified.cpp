// cannon with Sennit's notified puts: a rank continues when its two blocks have arrived, and a put
// waits until the owner has multiplied the previous content of that buffer (notify.h), so there is
// no barrier between the steps.
#include "versions.hpp"

#include "common/sennit_ranks.hpp"

namespace kernels {
namespace {

class CannonNotified final : public Version {
  public:
    explicit CannonNotified(Product &p) : product_(p), half_(p.a_block + p.b_block), c_(p.c_block) {
        const auto ranks = static_cast<std::size_t>(p.ranks);
        const std::size_t bytes = (2 * half_ + ranks * (half_ + p.c_block)) * sizeof(double);
        apps::check(sennit_alloc(SENNIT_TEAM_WORLD, bytes, 0, 0, &segment_));
        memory_ = static_cast<double *>(sennit_ptr(segment_));
        p.a = memory_ + 2 * half_;
        p.b = p.a + p.a_block * ranks;
        p.c = p.b + p.b_block * ranks;
        apps::check(sennit_signal_create(2, 2, 0, &arrived_));
        const sennit_region region{segment_, 2 * half_ * sizeof(double)};
        sennit_block own;
        std::vector<sennit_block> all(ranks);
        apps::check(sennit_block_init(region, 0, region.bytes, SENNIT_SIGNAL_NULL, arrived_, &own));
        apps::check(
            sennit_allgather(SENNIT_TEAM_WORLD, &own, all.data(), sizeof own, SENNIT_FOREVER));
        left_ = attach(all, p.row * p.columns + (p.column + p.columns - 1) % p.columns);
        above_ = attach(all, (p.row + p.rows - 1) % p.rows * p.columns + p.column);
    }
    ~CannonNotified() override {
        (void)sennit_block_detach(above_.block);
        (void)sennit_block_detach(left_.block);
        (void)sennit_free(segment_);
        (void)sennit_signal_destroy(arrived_);
    }

    void run() override {
        const Product &p = product_;
        const auto own = static_cast<std::size_t>(p.rank);
        get(memory_, p.a, p.a_block, p.a_start[own]);
        get(memory_ + p.a_block, p.b, p.b_block, p.b_start[own]);
        apps::check(sennit_flush_local(0, SENNIT_FOREVER));
        // Each step has an epoch, which ends when its blocks are multiplied. The first
        // blocks come by get, so the rank itself counts an event for each of the two.
        for (int block = 0; block < 2; ++block)
            apps::check(sennit_signal_notify(arrived_, epoch_));
        for (int step = 0; step < p.panels; ++step, ++epoch_) {
            double *const a = memory_ + step % 2 * half_, *const b = a + p.a_block;
            const std::size_t other = (step + 1) % 2 * half_;
            const bool is_last = step + 1 == p.panels;
            apps::check(sennit_signal_wait(arrived_, SENNIT_FOREVER));
            if (!is_last) put(left_, other, a, p.a_block);
            if (!is_last) put(above_, other + p.a_block, b, p.b_block);
            p.multiply(step, a, b, c_.data());
            apps::check(sennit_signal_reset(arrived_));
        }
        const sennit_gptr c = sennit_gptr_of(p.c + own * p.c_block, 0);
        apps::check(sennit_put_nbi(c, c_.data(), p.c_block * sizeof(double)));
        apps::check(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    }

  private:
    struct Neighbour {
        sennit_peer_block block;
        sennit_signal arrived;
    };

    static Neighbour attach(const std::vector<sennit_block> &all, int rank) {
        const sennit_block &block = all[static_cast<std::size_t>(rank)];
        sennit_block_info info;
        Neighbour made{};
        apps::check(sennit_block_query(&block, &info));
        apps::check(sennit_block_attach(&block, &made.block));
        made.arrived = info.on_recv;
        return made;
    }
    // Gets from rank 0's blocks.
    static void get(double *to, const double *blocks, std::size_t count, int block) {
        const sennit_gptr from =
            sennit_gptr_of(blocks + count * static_cast<std::size_t>(block), 0);
        apps::check(sennit_get_nbi(to, from, count * sizeof(double)));
    }
    // Puts a block for the next step.
    void put(const Neighbour &to, std::size_t place, const double *from, std::size_t count) const {
        const sennit_notice notice{to.arrived, SENNIT_SIGNAL_NULL, epoch_ + 1, SENNIT_FOREVER};
        const std::size_t offset = place * sizeof(double), bytes = count * sizeof(double);
        apps::check(sennit_put_notify_with(to.block, offset, from, bytes, &notice));
    }

    Product &product_;
    const std::size_t half_;  // doubles of one of the two buffers: A, then B
    std::vector<double> c_;
    sennit_gptr segment_ = SENNIT_GPTR_NULL;
    double *memory_ = nullptr;                    // both buffers, then on rank 0 the matrices
    sennit_signal arrived_ = SENNIT_SIGNAL_NULL;  // counts a block of A and one of B
    std::uint64_t epoch_ = 0;                     // of arrived_
    Neighbour left_{}, above_{};
};

}  // namespace

std::unique_ptr<Version> cannon_sennit_notified(Product &product) {
    return std::make_unique<CannonNotified>(product);
}

}  // namespace kernels
