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
    std::size_t rounds = 0;  // how many samples
    double mean = 0.0;       // for `sennit map` alone
};

// The value below which `fraction` (0 to 1) of the samples lie, linear between neighbours.
// `ascending` is sorted and not empty.
double percentile(const std::vector<double> &ascending, double fraction);

// A 95 % confidence interval of the median of the samples (by their order, so of any distribution).
struct Interval95 {
    double low = 0.0;
    double high = 0.0;
};
// Needs a sample at least; of few the interval is all of them.
Interval95 median_interval(std::vector<double> samples);

// Throws std::invalid_argument when there is no sample or one that is not finite: a summary of
// nothing would look like a very fast result.
Summary summarise(std::vector<double> samples);

}  // namespace sennit::bench
