// sort with OpenSHMEM: each PE reserves space for its keys in the memory of their owners, and puts
// them there.
#include "versions.hpp"

#include "common/shmem_ranks.hpp"

namespace kernels {
namespace {

long taken;  // symmetric: keys that have arrived or will

class SortShmem final : public Version {
  public:
    explicit SortShmem(Sort &sort)
        : sort_(sort), came_(apps::symmetric<Key>(shmem_malloc(sort.room * sizeof(Key)))) {}
    ~SortShmem() override { shmem_free(came_); }

    void run() override {
        const Key *const grouped = sort_.group(counts_, places_);
        for (int i = 0; i < sort_.ranks; ++i) {
            const int to = (sort_.rank + i) % sort_.ranks;
            const auto at = static_cast<std::size_t>(to);
            const long place =
                shmem_long_atomic_fetch_add(&taken, static_cast<long>(counts_[at]), to);
            shmem_uint_put_nbi(came_ + place, grouped + places_[at], counts_[at], to);
        }
        shmem_barrier_all();
        const long count = shmem_long_atomic_swap(&taken, 0, sort_.rank);
        sort_.finish(came_, static_cast<std::size_t>(count));
    }

  private:
    Sort &sort_;
    std::vector<std::size_t> counts_, places_;
    Key *came_;
};

}  // namespace

std::unique_ptr<Version> sort_shmem(Sort &sort) {
    return std::make_unique<SortShmem>(sort);
}

}  // namespace kernels
