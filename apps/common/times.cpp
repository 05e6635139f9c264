#include "times.hpp"

#include <algorithm>
#include <bit>

namespace apps {
namespace {

constexpr int kClassBits = 8;
constexpr std::uint64_t kClasses = std::uint64_t{1} << kClassBits;

// Below 2 * kClasses each value has its own class; above, its kClassBits + 1 leading bits choose.
std::size_t class_of(std::uint64_t ns) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(ns)) - kClassBits - 1);
    return static_cast<std::size_t>(shift) * kClasses + (ns >> shift);
}

double middle_of(std::size_t index) {
    if (index < 2 * kClasses) return static_cast<double>(index);
    const std::size_t shift = index / kClasses - 1;
    const std::uint64_t leading = index - shift * kClasses;
    const double width = static_cast<double>(std::uint64_t{1} << shift);
    return (static_cast<double>(leading) + 0.5) * width;
}

constexpr std::size_t kClassCount = (64 - kClassBits + 1) * kClasses;

}  // namespace

Histogram::Histogram() : counts_(kClassCount) {}

void Histogram::add(std::int64_t ns) {
    ++counts_[class_of(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)))];
    ++total_;
}

double Histogram::median_ns() const {
    std::uint64_t below = 0;
    for (std::size_t index = 0; index < counts_.size(); ++index) {
        below += counts_[index];
        if (2 * below >= total_ && total_ > 0) return middle_of(index);
    }
    return 0;
}

BatchTimes time_batches(std::int64_t iterations, const std::function<void(std::int64_t)> &work) {
    constexpr std::int64_t kBatches = 25;
    const std::int64_t batches = std::min(kBatches, iterations);
    std::vector<double> each_ns;
    BatchTimes times;
    Clock::time_point start = Clock::now();
    for (std::int64_t batch = 0; batch < batches; ++batch) {
        const std::int64_t count =
            iterations * (batch + 1) / batches - iterations * batch / batches;
        work(count);
        const Clock::time_point end = Clock::now();
        const std::int64_t ns = elapsed_ns(start, end);
        times.total_ns += ns;
        each_ns.push_back(static_cast<double>(ns) / static_cast<double>(count));
        start = end;
    }
    times.median_iteration_ns = median_of(each_ns);
    return times;
}

double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace apps
