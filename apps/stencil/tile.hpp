// A rank's part of the two fields, and what an iteration does with it: `out` gets the star of `in`
// added, then every cell of `in` is raised by one. Owns `out`; the memory of `in` belongs to the
// exchange, because that decides of what kind it is.
//
// Called by the loops: iterate() in run.cpp, and that of the program with OpenMP.
#pragma once

#include "common/pages.hpp"
#include "decomposition.hpp"
#include "kernel.hpp"

#include <array>
#include <vector>

namespace stencil {

class Tile {
  public:
    // `in` has room for shape(rank).cells() cells.
    Tile(const Decomposition &decomposition, int rank, double *in);

    const Shape &shape() const { return shape_; }
    int neighbour(Side side) const { return neighbours_[side]; }
    double *cell(std::ptrdiff_t i, std::ptrdiff_t j) { return in_ + shape_.at(i, j); }
    // The packed cells for the neighbour on that side; kWest or kEast.
    double *columns(Side side) { return in_ + shape_.columns_at(side); }

    // Where a neighbour's cells lie that are this part's ghosts.
    struct Source {
        Side side = kWest;
        const double *first = nullptr;  // null: the arithmetic reads them there
        std::ptrdiff_t pitch = 0;       // of rows
    };
    // The neighbour on that side has its part at `theirs`, of that shape. With `in_place` its rows
    // are read there from now on; columns, which it has packed, never are.
    Source take_ghosts(Side side, const double *theirs, const Shape &shape, bool in_place);
    // Copies them into the ghosts, unless they are read in place.
    void fill_ghosts(const Source &source);
    // The same from packed columns of kWest or kEast, wherever they are.
    void fill_ghost_columns(Side side, const double *columns);

    // The start values of rows [begin, end).
    void fill(Span rows);
    // Adds the star in rows [begin, end).
    void apply(Span rows);
    // Raises rows [begin, end).
    void refresh(Span rows);

    // The rows that the neighbours in y have as ghosts, and those between them.
    Span south_rows() const;
    Span north_rows() const;
    Span inner_rows() const;
    // The same cells as refresh() of all rows, in two parts: what any neighbour gets, packed where
    // it is a column, and the rest.
    void refresh_edges();
    void refresh_inner();
    // The start values of what x neighbours get.
    void pack_columns();

    // Of this part's active cells.
    stencil_sums sums(double expected) const;
    // For tests: one cell becomes wrong.
    void spoil();

  private:
    double *out_row(std::ptrdiff_t j) const { return out_ + j * out_pitch_; }
    Span inner_columns() const;

    Shape shape_;
    std::array<int, 4> neighbours_{};
    // Cells with a whole star around them.
    Span active_x_, active_y_;
    double *in_;
    std::vector<const double *> rows_;  // row j is rows_[j + radius]
    std::ptrdiff_t out_pitch_;
    apps::Pages out_pages_;
    double *out_;
};

}  // namespace stencil
