// daxpy with Sennit, synchronous: get, compute, put. Scatter and gather would be fewer calls, and
// were slower for parts of 8 MB.
#include "versions.hpp"

#include "common/sennit_ranks.hpp"

namespace kernels {
namespace {

class DaxpySennit final : public Version {
  public:
    explicit DaxpySennit(Daxpy &daxpy) : daxpy_(daxpy), x_(daxpy.part), y_(daxpy.part) {
        apps::check(
            sennit_alloc(SENNIT_TEAM_WORLD, 2 * daxpy.all * sizeof(double), 0, 0, &memory_));
        daxpy.x = static_cast<double *>(sennit_ptr(memory_));
        daxpy.y = daxpy.x + daxpy.all;
    }
    ~DaxpySennit() override { (void)sennit_free(memory_); }

    void run() override {
        const std::size_t bytes = daxpy_.part * sizeof(double);
        const sennit_gptr x_there = sennit_gptr_add(sennit_gptr_at(memory_, 0),
                                                    static_cast<std::int64_t>(bytes) * daxpy_.rank);
        const sennit_gptr y_there =
            sennit_gptr_add(x_there, static_cast<std::int64_t>(daxpy_.all * sizeof(double)));
        apps::check(sennit_get(x_.data(), x_there, bytes));
        apps::check(sennit_get(y_.data(), y_there, bytes));
        daxpy_.add(x_.data(), y_.data(), daxpy_.part);
        apps::check(sennit_put(y_there, y_.data(), bytes));
        apps::check(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    }

  private:
    Daxpy &daxpy_;
    sennit_gptr memory_ = SENNIT_GPTR_NULL;  // x, then y
    std::vector<double> x_, y_;
};

}  // namespace

std::unique_ptr<Version> daxpy_sennit(Daxpy &daxpy) {
    return std::make_unique<DaxpySennit>(daxpy);
}

}  // namespace kernels
