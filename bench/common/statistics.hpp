// Median and percentiles of a series of samples. Used by the measuring programs and by
// `sennit bench`; owns nothing.
#pragma once

#include <cstddef>
#include <vector>

namespace sennit::bench {

struct Summary {
    double median = 0.0;
    double p5 = 0.0;
    double p95 = 0.0;
    std::size_t rounds = 0;  // number of samples
    double mean = 0.0;       // for `sennit map` only
};

// The value below which `fraction` (0 to 1) of the samples lie, interpolated linearly. `ascending`
// is sorted and not empty.
double percentile(const std::vector<double> &ascending, double fraction);

// A 95 % confidence interval of the median of the samples, valid for any distribution.
struct Interval95 {
    double low = 0.0;
    double high = 0.0;
};
// Needs at least one sample. With few samples the interval spans all of them.
Interval95 median_interval(std::vector<double> samples);

// Throws std::invalid_argument if there is no sample or one is not finite: an empty summary would
// look like a very fast result.
Summary summarise(std::vector<double> samples);

}  // namespace sennit::bench
