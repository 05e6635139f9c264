// Integer Sort: each rank begins with some keys, and ends with those in its range of values,
// sorted.
#pragma once

#include "kernel.hpp"
#include "options.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kernels {

using Key = std::uint32_t;
struct Nas;

class Sort final : public Kernel {
  public:
    Sort(const Options &options, int rank, int ranks);

    // The local computation before the exchange: groups the keys by their owner. `counts` becomes
    // the number of keys for each rank, `places` their begin in the returned array; both multiplied
    // by `unit`.
    template <typename Number>
    Key *group(std::vector<Number> &counts, std::vector<Number> &places, Number unit = 1) {
        group_keys();
        counts.resize(begins_.size() - 1);
        places.resize(begins_.size() - 1);
        for (std::size_t to = 0; to < counts.size(); ++to) {
            counts[to] = static_cast<Number>(begins_[to + 1] - begins_[to]) * unit;
            places[to] = static_cast<Number>(begins_[to]) * unit;
        }
        return grouped_.data();
    }
    // The local computation after the exchange: sorts the received keys, partly in place. They must
    // stay there until the next run.
    void finish(Key *came, std::size_t count);

    void agree(apps::Ranks &all_ranks) override;
    void prepare(int run) override;
    std::vector<double> check() override;
    void check_all(const std::vector<double> &table) override;
    void spoil() override;
    double bytes() const override;
    void describe(apps::Result &result) const override;

    std::size_t room = 0;  // the most keys that any rank receives in any run

  private:
    void group_keys();
    std::size_t owner_of(Key key) const {
        return static_cast<std::size_t>((key * scale_) >> kShift);
    }

    static constexpr int kShift = 40;

    const Nas *const nas_;  // null: keys of another kind
    const std::string kind_;
    const std::size_t total_;
    const std::uint64_t values_, scale_;
    int run_ = 0;
    std::vector<Key> keys_, grouped_, spare_;
    std::vector<std::size_t> begins_;  // of each rank's keys in grouped_, and the end of all
    Key *sorted_ = nullptr;            // the result of this rank
    std::size_t sorted_count_ = 0;
};

}  // namespace kernels
