// y := alpha x + y, for vectors on rank 0; each rank computes a part.
#pragma once

#include "kernel.hpp"
#include "options.hpp"

#include <cstddef>
#include <vector>

namespace kernels {

class Daxpy final : public Kernel {
  public:
    Daxpy(const Options &options, int rank, int ranks);

    // The local computation.
    void add(const double *x, double *y, std::size_t count) const;

    void prepare(int run) override;
    std::vector<double> check() override;
    void spoil() override { y[0] += 1; }
    double bytes() const override;
    void describe(apps::Result &result) const override;

    const std::size_t part;   // elements of each rank
    const std::size_t all;    // part * ranks; the last ones may be padding
    const std::size_t chunk;  // elements that a pipelined version moves at once
    // On rank 0 the vectors of `all` elements. The version owns their memory and sets these
    // pointers.
    double *x = nullptr, *y = nullptr;

  private:
    const std::size_t given_;  // elements without the padding
    int prepared_ = 0, added_ = 0;
    std::vector<double> expected_;  // y after `added_` runs
};

}  // namespace kernels
