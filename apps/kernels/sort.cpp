#include "sort.hpp"

#include "nas.hpp"
#include "values.hpp"

#include "common/failure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kernels {
namespace {

constexpr std::int64_t kDefaultSize = std::int64_t{1} << 20;
constexpr std::uint64_t kSeedOfKeys = 5;

// A hash of keys, the same for any order of the keys, as two words: ranks exchange doubles.
std::array<double, 2> words_of(std::uint64_t hash) {
    return {static_cast<double>(hash & 0xffffffffu), static_cast<double>(hash >> 32)};
}
std::uint64_t hash_of(const Key *keys, std::size_t count) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i)
        sum += apps::mixed(apps::mixed(keys[i] + std::uint64_t{1}));
    return sum;
}

// A rank's results of the check of its keys.
enum Column : std::size_t {
    kCount,
    kFirst,
    kLast,
    kHashLow,
    kHashHigh,
    kCountBefore,
    kHashLowBefore,
    kHashHighBefore,
    kBelow,  // five, with NAS: keys less than the checked ones
    kColumns = kBelow + 5
};
static_assert(kColumns <= apps::Ranks::kGatherLimit);

}  // namespace

Sort::Sort(const Options &options, int rank_here, int ranks_in_all)
    : Kernel(rank_here, ranks_in_all),
      nas_(nas_class(options.nas)),
      kind_(nas_ != nullptr ? "nas " + options.nas : options.keys),
      total_(nas_ != nullptr     ? nas_->total
             : options.total > 0 ? static_cast<std::size_t>(options.total)
                                 : part_of(options, kDefaultSize, ranks_in_all) *
                                       static_cast<std::size_t>(ranks_in_all)),
      values_(nas_ != nullptr ? nas_->values : static_cast<std::uint64_t>(options.values)),
      scale_((static_cast<std::uint64_t>(ranks_in_all) << kShift) / values_) {
    const auto here = static_cast<std::size_t>(rank), all = static_cast<std::size_t>(ranks);
    keys_.resize(total_ * (here + 1) / all - total_ * here / all);
    grouped_.resize(keys_.size());
}

void Sort::prepare(int run) {
    run_ = run;
    const std::size_t first =
        total_ * static_cast<std::size_t>(rank) / static_cast<std::size_t>(ranks);
    if (run > 0) {
        for (Key &key : keys_)
            key ^= 1;
    } else if (nas_ != nullptr) {
        fill_nas_keys(*nas_, first, keys_.size(), keys_.data());
    } else {
        for (std::size_t i = 0; i < keys_.size(); ++i) {
            double part = fraction_at(kSeedOfKeys, first + i);
            if (kind_ == "skewed") part *= part * part * part;
            keys_[i] = static_cast<Key>(part * static_cast<double>(values_));
        }
    }
}

// All runs use the keys of run 0 or of run 1.
void Sort::agree(apps::Ranks &all_ranks) {
    double most = 0;
    for (int run = 0; run < 2; ++run) {
        prepare(run);
        group_keys();
        for (std::size_t from = 0; from + 1 < begins_.size(); from += apps::Ranks::kGatherLimit) {
            std::vector<double> counts;
            for (std::size_t to = from;
                 to + 1 < begins_.size() && counts.size() < apps::Ranks::kGatherLimit; ++to)
                counts.push_back(static_cast<double>(begins_[to + 1] - begins_[to]));
            const std::vector<double> table = all_ranks.gather(counts);
            for (std::size_t to = 0; to < counts.size() && rank == 0; ++to) {
                double sum = 0;
                for (std::size_t at = to; at < table.size(); at += counts.size())
                    sum += table[at];
                most = std::max(most, sum);
            }
        }
    }
    room = static_cast<std::size_t>(all_ranks.max(most));
    spare_.resize(room);
}

void Sort::group_keys() {
    begins_.assign(static_cast<std::size_t>(ranks) + 1, 0);
    for (const Key key : keys_)
        ++begins_[owner_of(key) + 1];
    for (std::size_t to = 1; to < begins_.size(); ++to)
        begins_[to] += begins_[to - 1];
    std::vector<std::size_t> next(begins_);
    for (const Key key : keys_)
        grouped_[next[owner_of(key)]++] = key;
}

// Radix sort by eleven bits at a time, lowest first: each pass keeps the order of the one before.
void Sort::finish(Key *came, std::size_t count) {
    constexpr int kBits = 11;
    constexpr std::size_t kDigits = std::size_t{1} << kBits;
    Key *from = came, *to = spare_.data();
    for (int shift = 0; shift < 32 && (values_ - 1) >> shift > 0; shift += kBits) {
        std::array<std::size_t, kDigits + 1> next{};
        for (std::size_t i = 0; i < count; ++i)
            ++next[(from[i] >> shift) % kDigits + 1];
        for (std::size_t digit = 1; digit < kDigits; ++digit)
            next[digit] += next[digit - 1];
        for (std::size_t i = 0; i < count; ++i)
            to[next[(from[i] >> shift) % kDigits]++] = from[i];
        std::swap(from, to);
    }
    sorted_ = from;
    sorted_count_ = count;
}

std::vector<double> Sort::check() {
    for (std::size_t i = 1; i < sorted_count_; ++i) {
        if (sorted_[i] < sorted_[i - 1])
            throw apps::Failure(fmt::format("wrong result: key {} is {}, behind {}", i, sorted_[i],
                                            sorted_[i - 1]));
    }
    std::vector<double> said(kColumns);
    said[kCount] = static_cast<double>(sorted_count_);
    if (sorted_count_ > 0) {
        said[kFirst] = sorted_[0];
        said[kLast] = sorted_[sorted_count_ - 1];
    }
    const auto after = words_of(hash_of(sorted_, sorted_count_));
    const auto before = words_of(hash_of(keys_.data(), keys_.size()));
    said[kHashLow] = after[0];
    said[kHashHigh] = after[1];
    said[kCountBefore] = static_cast<double>(keys_.size());
    said[kHashLowBefore] = before[0];
    said[kHashHighBefore] = before[1];
    for (std::size_t i = 0; nas_ != nullptr && i < nas_->places.size(); ++i) {
        Key key = 0;
        fill_nas_keys(*nas_, nas_->places[i], 1, &key);
        said[kBelow + i] =
            static_cast<double>(std::lower_bound(sorted_, sorted_ + sorted_count_, key) - sorted_);
    }
    return said;
}

void Sort::check_all(const std::vector<double> &table) {
    std::array<std::uint64_t, kColumns> sums{};
    double last = 0;
    for (std::size_t at = 0; at < table.size(); at += kColumns) {
        for (std::size_t column = 0; column < kColumns; ++column)
            sums[column] += static_cast<std::uint64_t>(table[at + column]);
        if (table[at + kCount] == 0) continue;
        if (table[at + kFirst] < last)
            throw apps::Failure(fmt::format("wrong result: rank {} begins with key {}, behind {}",
                                            at / kColumns, table[at + kFirst], last));
        last = table[at + kLast];
    }
    const auto hash = [&](Column low, Column high) { return sums[low] + (sums[high] << 32); };
    if (sums[kCount] != sums[kCountBefore] ||
        hash(kHashLow, kHashHigh) != hash(kHashLowBefore, kHashHighBefore)) {
        throw apps::Failure(fmt::format("wrong result: {} keys are there, not the {} of before",
                                        sums[kCount], sums[kCountBefore]));
    }
    // Runs with an odd number have keys other than those of NAS.
    for (std::size_t i = 0; nas_ != nullptr && run_ % 2 == 0 && i < nas_->ranks.size(); ++i) {
        if (sums[kBelow + i] != static_cast<std::uint64_t>(nas_->ranks[i]))
            throw apps::Failure(fmt::format("wrong result: {} keys are less than key {}, not {}",
                                            sums[kBelow + i], nas_->places[i], nas_->ranks[i]));
    }
}

void Sort::spoil() {
    if (sorted_count_ > 0)
        sorted_[0] ^= 1;
    else if (!keys_.empty())
        keys_[0] ^= 1;
}

double Sort::bytes() const {
    return static_cast<double>(total_ * sizeof(Key));
}

void Sort::describe(apps::Result &result) const {
    result.add("keys", kind_);
    result.add("total", total_);
    result.add("values", values_);
    result.add("most_of_a_rank", room);
}

}  // namespace kernels
