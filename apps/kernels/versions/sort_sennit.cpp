// sort with Sennit: alltoall of the key counts, alltoallv of the keys.
#include "versions.hpp"

#include "common/sennit_ranks.hpp"

#include <numeric>

namespace kernels {
namespace {

class SortSennit final : public Version {
  public:
    explicit SortSennit(Sort &sort)
        : sort_(sort), came_bytes_(static_cast<std::size_t>(sort.ranks)), came_(sort.room) {}

    void run() override {
        Key *const grouped = sort_.group(bytes_, places_, sizeof(Key));
        apps::check(sennit_alltoall(SENNIT_TEAM_WORLD, bytes_.data(), came_bytes_.data(),
                                    sizeof(bytes_[0]), SENNIT_FOREVER));
        const sennit_vbuffer from{grouped, bytes_.data(), nullptr};
        const sennit_vbuffer to{came_.data(), came_bytes_.data(), nullptr};
        apps::check(sennit_alltoallv(SENNIT_TEAM_WORLD, &from, &to, SENNIT_FOREVER));
        const std::size_t bytes =
            std::accumulate(came_bytes_.begin(), came_bytes_.end(), std::size_t{0});
        sort_.finish(came_.data(), bytes / sizeof(Key));
    }

  private:
    Sort &sort_;
    std::vector<std::size_t> bytes_, places_, came_bytes_;
    std::vector<Key> came_;
};

}  // namespace

std::unique_ptr<Version> sort_sennit(Sort &sort) {
    return std::make_unique<SortSennit>(sort);
}

}  // namespace kernels
