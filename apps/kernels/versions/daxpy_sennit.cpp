// daxpy with Sennit: scatter and gather.
#include "versions.hpp"

#include "common/sennit_ranks.hpp"

namespace kernels {
namespace {

class DaxpySennit final : public Version {
  public:
    explicit DaxpySennit(Daxpy &daxpy)
        : daxpy_(daxpy),
          all_x_(daxpy.rank == 0 ? daxpy.all : 0),
          all_y_(all_x_.size()),
          x_(daxpy.part),
          y_(daxpy.part) {
        daxpy.x = all_x_.data();
        daxpy.y = all_y_.data();
    }

    void run() override {
        const std::size_t bytes = daxpy_.part * sizeof(double);
        apps::check(
            sennit_scatter(SENNIT_TEAM_WORLD, 0, all_x_.data(), x_.data(), bytes, SENNIT_FOREVER),
            "sennit_scatter");
        apps::check(
            sennit_scatter(SENNIT_TEAM_WORLD, 0, all_y_.data(), y_.data(), bytes, SENNIT_FOREVER),
            "sennit_scatter");
        daxpy_.add(x_.data(), y_.data(), daxpy_.part);
        apps::check(
            sennit_gather(SENNIT_TEAM_WORLD, 0, y_.data(), all_y_.data(), bytes, SENNIT_FOREVER),
            "sennit_gather");
    }

  private:
    Daxpy &daxpy_;
    std::vector<double> all_x_, all_y_, x_, y_;
};

}  // namespace

std::unique_ptr<Version> daxpy_sennit(Daxpy &daxpy) {
    return std::make_unique<DaxpySennit>(daxpy);
}

}  // namespace kernels
