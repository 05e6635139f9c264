// daxpy with Sennit, pipelined: the next chunk is fetched while the current one is computed and
// put.
#include "versions.hpp"

#include "common/sennit_ranks.hpp"

namespace kernels {
namespace {

class DaxpySennitPipelined final : public Version {
  public:
    explicit DaxpySennitPipelined(Daxpy &daxpy)
        : daxpy_(daxpy), x_(2 * daxpy.chunk), y_(2 * daxpy.chunk) {
        apps::check(sennit_alloc(SENNIT_TEAM_WORLD, 2 * daxpy.all * sizeof(double), 0, 0, &xy_));
        daxpy.x = static_cast<double *>(sennit_ptr(xy_));
        daxpy.y = daxpy.x + daxpy.all;
    }
    ~DaxpySennitPipelined() override { (void)sennit_free(xy_); }

    void run() override {
        const std::size_t begin = daxpy_.part * static_cast<std::size_t>(daxpy_.rank);
        const std::size_t end = begin + daxpy_.part, chunk = daxpy_.chunk;
        std::size_t half = 0;
        const auto there = [](const double *place) { return sennit_gptr_of(place, 0); };
        const auto get = [&](std::size_t place) {
            const std::size_t bytes = std::min(chunk, end - place) * sizeof(double);
            apps::check(sennit_get_nbi(&x_[half * chunk], there(daxpy_.x + place), bytes));
            apps::check(sennit_get_nbi(&y_[half * chunk], there(daxpy_.y + place), bytes));
        };
        get(begin);
        for (std::size_t place = begin; place < end; place += chunk) {
            double *const x = &x_[half * chunk], *const y = &y_[half * chunk];
            const std::size_t count = std::min(chunk, end - place);
            apps::check(sennit_flush_local(0, SENNIT_FOREVER));
            half = 1 - half;
            if (place + chunk < end) get(place + chunk);
            daxpy_.add(x, y, count);
            apps::check(sennit_put_local(there(daxpy_.y + place), y, count * sizeof(double)));
        }
        apps::check(sennit_barrier(SENNIT_TEAM_WORLD, SENNIT_FOREVER));
    }

  private:
    Daxpy &daxpy_;
    sennit_gptr xy_ = SENNIT_GPTR_NULL;
    std::vector<double> x_, y_;  // two chunks
};

}  // namespace

std::unique_ptr<Version> daxpy_sennit_pipelined(Daxpy &daxpy) {
    return std::make_unique<DaxpySennitPipelined>(daxpy);
}

}  // namespace kernels
