#include "common/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace sennit::bench {

double percentile(const std::vector<double> &ascending, double fraction) {
    const double place = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(ascending.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, ascending.size() - 1);
    const double part = place - static_cast<double>(below);
    return ascending[below] + part * (ascending[above] - ascending[below]);
}

Interval95 median_interval(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    const auto count = static_cast<double>(samples.size());
    // The number of samples below the median has a binomial distribution, approximated by a normal
    // one.
    const double half_width = 0.98 * std::sqrt(count);
    const double last = count - 1.0;
    const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(last / 2 - half_width)));
    const auto high = static_cast<std::size_t>(std::min(last, std::ceil(last / 2 + half_width)));
    return {samples[low], samples[high]};
}

Summary summarise(std::vector<double> samples) {
    const bool all_finite = std::all_of(samples.begin(), samples.end(),
                                        [](double value) { return std::isfinite(value); });
    if (samples.empty() || !all_finite) {
        throw std::invalid_argument("a summary needs at least one sample, and finite ones");
    }
    std::sort(samples.begin(), samples.end());
    return {
        percentile(samples, 0.5), percentile(samples, 0.05), percentile(samples, 0.95),
        samples.size(),
        std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size())};
}

}  // namespace sennit::bench
