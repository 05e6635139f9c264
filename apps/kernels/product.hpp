// C := A B, of matrices that rank 0 has and a grid of ranks multiplies in blocks.
//
// A block of A is a row of panels, a block of B a column of them: panel t of A has the columns that
// meet the rows of panel t of B. Panels of A lie by columns, those of B and C by rows, each in one
// run of memory. All blocks of a matrix are alike; what lies beyond the matrix is 0.
#pragma once

#include "kernel.hpp"
#include "options.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace kernels {

// Of ranks, in their order row by row.
struct RanksGrid {
    int rows, columns;
};
// A square for cannon, what the options say for summa. Throws Failure where that does not fit.
RanksGrid grid_of(const Options &options, int ranks);

class Product final : public Kernel {
  public:
    Product(const Options &options, int rank, int ranks);

    // The local work of step 0, 1, ...: c := a b in the first, c += a b in the others, which are a
    // panel of A, one of B, and the caller's block of C.
    void multiply(int step, const double *a_panel, const double *b_panel, double *c_block) const;

    void prepare(int run) override;
    std::vector<double> check() override;
    void spoil() override { c[0] += 1; }
    double bytes() const override;
    void describe(apps::Result &result) const override;

    const int rows, columns, row, column;  // of the grid, and the caller's place there
    const int panels;                      // of the inner dimension
    // Doubles of a panel and of a block.
    std::size_t a_panel, b_panel, a_block, b_block, c_block;
    // On rank 0 the matrices, block after block by rank, in memory of the version, which sets them.
    double *a = nullptr, *b = nullptr, *c = nullptr;
    // On rank 0, has them lie there one behind the other, with room for them; else nothing.
    void place_in(std::vector<double> &memory);

    // Who has panel t: the rank of this column (row) of the grid; and at what place of its block.
    int a_owner(int t) const { return t / (panels / columns); }
    int b_owner(int t) const { return t / (panels / rows); }
    std::size_t a_place(int t) const {
        return static_cast<std::size_t>(t % (panels / columns)) * a_panel;
    }
    std::size_t b_place(int t) const {
        return static_cast<std::size_t>(t % (panels / rows)) * b_panel;
    }

    // On a square grid Cannon's: whose block each rank begins with.
    std::vector<int> a_start, b_start;

  private:
    Product(const Options &options, int rank, RanksGrid grid);
    double &a_at(std::size_t i, std::size_t k) const;
    double &b_at(std::size_t k, std::size_t j) const;
    void fill();
    void find_expected();

    const bool is_cannon_;
    std::array<std::size_t, 3> shape_;    // M, K, N
    std::size_t height_, inner_, width_;  // rows of a panel of A, its columns, columns of one of B
    int run_ = 0;
    std::vector<double> expected_;  // by rows
    double bound_ = 0, error_ = 0;  // of the norm of what differs, and the largest that was found
};

}  // namespace kernels
