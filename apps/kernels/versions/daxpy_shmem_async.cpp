// daxpy with OpenSHMEM, asynchronous: the next chunk is fetched while the current one is computed
// and put.
#include "versions.hpp"

#include "common/shmem_ranks.hpp"

namespace kernels {
namespace {

class DaxpyShmemAsync final : public Version {
  public:
    explicit DaxpyShmemAsync(Daxpy &daxpy)
        : daxpy_(daxpy), x_(2 * daxpy.chunk), y_(2 * daxpy.chunk) {
        daxpy.x = apps::symmetric<double>(shmem_malloc(daxpy.all * sizeof(double)));
        daxpy.y = apps::symmetric<double>(shmem_malloc(daxpy.all * sizeof(double)));
    }
    ~DaxpyShmemAsync() override {
        shmem_free(daxpy_.y);
        shmem_free(daxpy_.x);
    }

    void run() override {
        const std::size_t begin = daxpy_.part * static_cast<std::size_t>(daxpy_.rank);
        const std::size_t end = begin + daxpy_.part, chunk = daxpy_.chunk;
        std::size_t half = 0;
        const auto get = [&](std::size_t place) {
            const std::size_t count = std::min(chunk, end - place);
            shmem_double_get_nbi(&x_[half * chunk], daxpy_.x + place, count, 0);
            shmem_double_get_nbi(&y_[half * chunk], daxpy_.y + place, count, 0);
        };
        get(begin);
        for (std::size_t place = begin; place < end; place += chunk) {
            double *const x = &x_[half * chunk], *const y = &y_[half * chunk];
            const std::size_t count = std::min(chunk, end - place);
            shmem_quiet();
            half = 1 - half;
            if (place + chunk < end) get(place + chunk);
            daxpy_.add(x, y, count);
            shmem_double_put(daxpy_.y + place, y, count, 0);
        }
        shmem_barrier_all();
    }

  private:
    Daxpy &daxpy_;
    std::vector<double> x_, y_;  // two chunks
};

}  // namespace

std::unique_ptr<Version> daxpy_shmem_async(Daxpy &daxpy) {
    return std::make_unique<DaxpyShmemAsync>(daxpy);
}

}  // namespace kernels
