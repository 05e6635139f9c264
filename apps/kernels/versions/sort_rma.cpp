// sort with MPI RMA: each rank reserves space for its keys in the memory of their owners, and puts
// them there.
#include "versions.hpp"
#include "window_bytes.hpp"

#include <mpi.h>

namespace kernels {
namespace {

class SortRma final : public Version {
  public:
    explicit SortRma(Sort &sort) : sort_(sort) {
        const std::size_t bytes = kKeysBegin + sort.room * sizeof(Key);
        MPI_Win_allocate(window_bytes(bytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &taken_, &window_);
        *taken_ = 0;
        MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    }
    ~SortRma() override {
        MPI_Win_unlock_all(window_);
        MPI_Win_free(&window_);
    }

    void run() override {
        const Key *const grouped = sort_.group(counts_, places_);
        for (int i = 0; i < sort_.ranks; ++i) {
            const int to = (sort_.rank + i) % sort_.ranks;
            const auto at = static_cast<std::size_t>(to);
            const std::int64_t count = counts_[at];
            std::int64_t place = 0;
            MPI_Fetch_and_op(&count, &place, MPI_INT64_T, to, 0, MPI_SUM, window_);
            MPI_Win_flush(to, window_);
            MPI_Put(grouped + places_[at], counts_[at], MPI_UINT32_T, to,
                    kKeysBegin + place * MPI_Aint{sizeof(Key)}, counts_[at], MPI_UINT32_T, window_);
        }
        MPI_Win_flush_all(window_);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_sync(window_);
        const auto came = static_cast<std::size_t>(*taken_);
        *taken_ = 0;
        MPI_Win_sync(window_);
        sort_.finish(reinterpret_cast<Key *>(taken_ + kKeysBegin / sizeof(*taken_)), came);
    }

  private:
    static constexpr int kKeysBegin = 64;  // offset in the window, in bytes

    Sort &sort_;
    std::vector<int> counts_, places_;
    std::int64_t *taken_ = nullptr;  // keys that have arrived or will; the keys follow it
    MPI_Win window_ = MPI_WIN_NULL;
};

}  // namespace

std::unique_ptr<Version> sort_rma(Sort &sort) {
    return std::make_unique<SortRma>(sort);
}

}  // namespace kernels
