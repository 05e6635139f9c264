// y := alpha x + y, of vectors that rank 0 has and all compute a part of.
#pragma once

#include "kernel.hpp"
#include "options.hpp"

#include <cstddef>
#include <vector>

namespace kernels {

class Daxpy final : public Kernel {
  public:
    Daxpy(const Options &options, int rank, int ranks);

    // The local work.
    void add(const double *x, double *y, std::size_t count) const;

    void prepare(int run) override;
    std::vector<double> check() override;
    void spoil() override { y[0] += 1; }
    double bytes() const override;
    void describe(apps::Result &result) const override;

    const std::size_t part;   // elements of each rank
    const std::size_t all;    // part * ranks, of which the last may be there to fill up
    const std::size_t chunk;  // elements that a pipelined version moves at once
    // On rank 0 its vectors of `all` elements, in memory of the version, which sets them.
    double *x = nullptr, *y = nullptr;

  private:
    const std::size_t given_;  // elements that are not there to fill up
    int prepared_ = 0, added_ = 0;
    std::vector<double> expected_;  // y after `added_` runs
};

}  // namespace kernels
