// C := A B, for matrices on rank 0; a grid of ranks multiplies them in blocks.
//
// A block of A is a row of panels, a block of B a column of panels: the columns of panel t of A
// meet the rows of panel t of B. Panels of A are stored by columns, those of B and C by rows, each
// in one run of memory. All blocks of a matrix have the same size; elements beyond the matrix are
// 0.
#pragma once

#include "kernel.hpp"
#include "options.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace kernels {

// A grid of ranks, numbered row by row.
struct RanksGrid {
    int rows, columns;
};
// A square for cannon; from the options for summa. Throws Failure if that does not fit.
RanksGrid grid_of(const Options &options, int ranks);

class Product final : public Kernel {
  public:
    Product(const Options &options, int rank, int ranks);

    // The local computation of step 0, 1, ...: c := a b in the first step, c += a b in the others,
    // for a panel of A, a panel of B, and the caller's block of C.
    void multiply(int step, const double *a_panel, const double *b_panel, double *c_block) const;

    void prepare(int run) override;
    std::vector<double> check() override;
    void spoil() override { c[0] += 1; }
    double bytes() const override;
    void describe(apps::Result &result) const override;

    const int rows, columns, row, column;  // of the grid, and the caller's place in it
    const int panels;                      // of the inner dimension
    // Doubles of a panel and of a block.
    std::size_t a_panel, b_panel, a_block, b_block, c_block;
    // On rank 0 the matrices, block after block by rank. The version owns their memory and sets
    // these pointers.
    double *a = nullptr, *b = nullptr, *c = nullptr;
    // On rank 0, resizes `memory` for the matrices and places them there one after another; else
    // nothing.
    void place_in(std::vector<double> &memory);

    // The column of the grid that owns panel t of A, and the row that owns panel t of B; and the
    // places of the panels in their blocks.
    int a_owner(int t) const { return t / (panels / columns); }
    int b_owner(int t) const { return t / (panels / rows); }
    std::size_t a_place(int t) const {
        return static_cast<std::size_t>(t % (panels / columns)) * a_panel;
    }
    std::size_t b_place(int t) const {
        return static_cast<std::size_t>(t % (panels / rows)) * b_panel;
    }

    // For Cannon's algorithm on a square grid: for each rank, the rank whose block it begins with.
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
    double bound_ = 0, error_ = 0;  // limit of the norm of the difference; largest norm so far
};

}  // namespace kernels
