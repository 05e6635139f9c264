// daxpy with Sennit: scatter and gather.
#include "versions.hpp"

#include "common/sennit_ranks.hpp"

namespace kernels {
namespace {

class DaxpySennit final : public Version {
  public:
    explicit DaxpySennit(Daxpy &daxpy)
        : daxpy_(daxpy), all_(daxpy.rank == 0 ? 2 * daxpy.all : 0), x_(daxpy.part), y_(daxpy.part) {
        daxpy.x = all_.data();
        daxpy.y = daxpy.x + all_.size() / 2;
    }

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
    std::vector<double> all_, x_, y_;
};

}  // namespace

std::unique_ptr<Version> daxpy_sennit(Daxpy &daxpy) {
    return std::make_unique<DaxpySennit>(daxpy);
}

}  // namespace kernels
