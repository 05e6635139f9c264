#include "daxpy.hpp"

#include "values.hpp"

#include "common/failure.hpp"

#include <fmt/format.h>

#include <bit>

namespace kernels {
namespace {

constexpr double kAlpha = 0.3;
constexpr std::int64_t kPaperSize = 1'000'000;
enum Seed : std::uint64_t { kOfX = 1, kOfY = 2 };

}  // namespace

Daxpy::Daxpy(const Options &options, int rank_here, int ranks_in_all)
    : Kernel(rank_here, ranks_in_all),
      part(part_of(options, kPaperSize, ranks_in_all)),
      all(part * static_cast<std::size_t>(ranks_in_all)),
      chunk(static_cast<std::size_t>(options.chunk)),
      given_(options.total > 0 ? static_cast<std::size_t>(options.total) : all) {}

void Daxpy::add(const double *x_part, double *y_part, std::size_t count) const {
    for (std::size_t i = 0; i < count; ++i)
        y_part[i] += kAlpha * x_part[i];
}

void Daxpy::prepare(int run) {
    prepared_ = run + 1;
    if (rank != 0 || run > 0) return;
    for (std::size_t i = 0; i < all; ++i) {
        x[i] = i < given_ ? value_at(kOfX, i) : 0;
        y[i] = i < given_ ? value_at(kOfY, i) : 0;
    }
    expected_.assign(y, y + all);
}

std::vector<double> Daxpy::check() {
    if (rank != 0) return {0};
    for (; added_ < prepared_; ++added_)
        add(x, expected_.data(), all);
    for (std::size_t i = 0; i < all; ++i) {
        if (std::bit_cast<std::uint64_t>(y[i]) != std::bit_cast<std::uint64_t>(expected_[i]))
            throw apps::Failure(
                fmt::format("wrong result: element {} is {}, not {}", i, y[i], expected_[i]));
    }
    return {0};
}

double Daxpy::bytes() const {
    return 3 * sizeof(double) * static_cast<double>(all);
}

void Daxpy::describe(apps::Result &result) const {
    result.add("elements", given_);
    result.add("elements_of_rank", part);
    result.add("chunk", chunk);
}

}  // namespace kernels
