// A rank's part of the two fields, and its work in an iteration: the star of `in` is added to
// `out`, then every cell of `in` is raised by one. Owns `out`. The exchange owns the memory of
// `in`, because it decides the kind of memory.
//
// Called by the loops: iterate_with() in method.hpp, stencil_iterate() in channels.c and
// channels.f90, and the loop of the program with OpenMP.
#pragma once

#include "common/pages.hpp"
#include "decomposition.hpp"
#include "kernel.hpp"

#include <array>
#include <vector>

namespace stencil {

class Tile {
  public:
    // `in` has space for shape(rank).cells() cells.
    Tile(const Decomposition &decomposition, int rank, double *in);

    const Shape &shape() const { return shape_; }
    int neighbour(Side side) const { return neighbours_[side]; }
    double *cell(std::ptrdiff_t i, std::ptrdiff_t j) { return in_ + shape_.at(i, j); }
    // The packed cells for the neighbour on that side; kWest or kEast.
    double *columns(Side side) { return in_ + shape_.columns_at(side); }

    // The place of a neighbour's cells that are this part's ghosts.
    struct Source {
        Side side = kWest;
        const double *first = nullptr;  // null: the arithmetic reads them in place
        std::ptrdiff_t pitch = 0;       // distance between rows
    };
    // The neighbour on that side has its part at `theirs`, with that shape. With `in_place` its
    // rows are read there from now on; columns are packed by the neighbour and always copied.
    Source take_ghosts(Side side, const double *theirs, const Shape &shape, bool in_place);
    // Copies the cells into the ghosts, unless they are read in place.
    void fill_ghosts(const Source &source);
    // The same from packed columns of kWest or kEast at any address.
    void fill_ghost_columns(Side side, const double *columns);

    // Sets the start values of rows [begin, end).
    void fill(Span rows);
    // Adds the star in rows [begin, end).
    void apply(Span rows);
    // Raises rows [begin, end).
    void refresh(Span rows);

    // The rows that the neighbours in y have as ghosts, and the rows between them.
    Span south_rows() const;
    Span north_rows() const;
    Span inner_rows() const;
    // Together the same as refresh() of all rows, in two parts: first the cells that a neighbour
    // needs, with columns packed, then the rest.
    void refresh_edges();
    void refresh_inner();
    // Packs the start values that x neighbours need.
    void pack_columns();

    // Sums over this part's active cells.
    stencil_sums sums(double expected) const;
    // For tests: makes one cell wrong.
    void spoil();

  private:
    double *out_row(std::ptrdiff_t j) const { return out_ + j * out_pitch_; }
    Span inner_columns() const;

    Shape shape_;
    std::array<int, 4> neighbours_{};
    // The cells with a whole star around them.
    Span active_x_, active_y_;
    double *in_;
    std::vector<const double *> rows_;  // row j is rows_[j + radius]
    std::ptrdiff_t out_pitch_;
    apps::Pages out_pages_;
    double *out_;
};

}  // namespace stencil
