// daxpy with Sennit: scatter and gather, of memory that all ranks reach.
#include "versions.hpp"

#include "common/sennit_ranks.hpp"

namespace kernels {
namespace {

class DaxpySennit final : public Version {
  public:
    explicit DaxpySennit(Daxpy &daxpy) : daxpy_(daxpy), x_(daxpy.part), y_(daxpy.part) {
        apps::check(sennit_alloc(SENNIT_TEAM_WORLD, 2 * daxpy.all * sizeof(double), 0, 0, &xy_));
        daxpy.x = static_cast<double *>(sennit_ptr(xy_));
        daxpy.y = daxpy.x + daxpy.all;
    }
    ~DaxpySennit() override { (void)sennit_free(xy_); }

    void run() override {
        const sennit_team world = SENNIT_TEAM_WORLD;
        const std::size_t bytes = daxpy_.part * sizeof(double);
        apps::check(sennit_scatter(world, 0, daxpy_.x, x_.data(), bytes, SENNIT_FOREVER));
        apps::check(sennit_scatter(world, 0, daxpy_.y, y_.data(), bytes, SENNIT_FOREVER));
        daxpy_.add(x_.data(), y_.data(), daxpy_.part);
        apps::check(sennit_gather(world, 0, y_.data(), daxpy_.y, bytes, SENNIT_FOREVER));
    }

  private:
    Daxpy &daxpy_;
    std::vector<double> x_, y_;
    sennit_gptr xy_ = SENNIT_GPTR_NULL;
};

}  // namespace

std::unique_ptr<Version> daxpy_sennit(Daxpy &daxpy) {
    return std::make_unique<DaxpySennit>(daxpy);
}

}  // namespace kernels
