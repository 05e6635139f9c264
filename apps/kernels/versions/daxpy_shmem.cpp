// daxpy with OpenSHMEM, synchronous: get, compute, put.
#include "versions.hpp"

#include "common/shmem_ranks.hpp"

namespace kernels {
namespace {

class DaxpyShmem final : public Version {
  public:
    explicit DaxpyShmem(Daxpy &daxpy) : daxpy_(daxpy), x_(daxpy.part), y_(daxpy.part) {
        daxpy.x = apps::symmetric<double>(shmem_malloc(daxpy.all * sizeof(double)));
        daxpy.y = apps::symmetric<double>(shmem_malloc(daxpy.all * sizeof(double)));
    }
    ~DaxpyShmem() override {
        shmem_free(daxpy_.y);
        shmem_free(daxpy_.x);
    }

    void run() override {
        const std::size_t place = daxpy_.part * static_cast<std::size_t>(daxpy_.rank);
        shmem_double_get(x_.data(), daxpy_.x + place, daxpy_.part, 0);
        shmem_double_get(y_.data(), daxpy_.y + place, daxpy_.part, 0);
        daxpy_.add(x_.data(), y_.data(), daxpy_.part);
        shmem_double_put(daxpy_.y + place, y_.data(), daxpy_.part, 0);
        shmem_barrier_all();
    }

  private:
    Daxpy &daxpy_;
    std::vector<double> x_, y_;
};

}  // namespace

std::unique_ptr<Version> daxpy_shmem(Daxpy &daxpy) {
    return std::make_unique<DaxpyShmem>(daxpy);
}

}  // namespace kernels
