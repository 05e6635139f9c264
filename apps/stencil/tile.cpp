#include "tile.hpp"

#include <algorithm>

namespace stencil {
namespace {

// The active cells among [span.begin, span.end) of the whole: those with `radius` more cells on
// either side. They are counted from the span's first cell.
Span active_of(const Span &span, int radius, std::ptrdiff_t size) {
    const std::ptrdiff_t begin = std::max<std::ptrdiff_t>(span.begin, radius);
    const std::ptrdiff_t end = std::min<std::ptrdiff_t>(span.end, size - radius);
    return {begin - span.begin, std::max(begin, end) - span.begin};
}

}  // namespace

Tile::Tile(const Decomposition &decomposition, int rank, double *in)
    : shape_(decomposition.shape(rank)),
      active_x_(active_of(shape_.x, shape_.radius, decomposition.size())),
      active_y_(active_of(shape_.y, shape_.radius, decomposition.size())),
      in_(in),
      out_pitch_(Shape::lines(shape_.x.count())),
      out_(out_pages_.take(static_cast<std::size_t>(out_pitch_ * shape_.y.count()))) {
    for (const Side side : kAllSides)
        neighbours_[side] = decomposition.neighbour(rank, side);
    for (std::ptrdiff_t j = -shape_.radius; j < shape_.y.count() + shape_.radius; ++j)
        rows_.push_back(cell(0, j));
}

Tile::Source Tile::take_ghosts(Side side, const double *theirs, const Shape &shape, bool in_place) {
    if (side == kWest || side == kEast)
        return {side, theirs + shape.columns_at(opposite(side)), shape.radius};
    const std::ptrdiff_t first = side == kSouth ? shape.y.count() - shape.radius : 0;
    if (!in_place) return {side, theirs + shape.at(0, first), shape.pitch()};
    const std::ptrdiff_t at = side == kSouth ? 0 : shape_.radius + shape_.y.count();
    for (std::ptrdiff_t k = 0; k < shape_.radius; ++k)
        rows_[static_cast<std::size_t>(at + k)] = theirs + shape.at(0, first + k);
    return {side, nullptr, 0};
}

void Tile::fill_ghosts(const Source &source) {
    if (source.first == nullptr) return;
    if (source.side == kWest || source.side == kEast) {
        fill_ghost_columns(source.side, source.first);
        return;
    }
    const std::ptrdiff_t first = source.side == kSouth ? -shape_.radius : shape_.y.count();
    for (std::ptrdiff_t k = 0; k < shape_.radius; ++k)
        std::copy_n(source.first + k * source.pitch, shape_.x.count(), cell(0, first + k));
}

void Tile::fill_ghost_columns(Side side, const double *columns) {
    const std::ptrdiff_t radius = shape_.radius;
    double *to = cell(side == kWest ? -radius : shape_.x.count(), 0);
    for (std::ptrdiff_t j = 0; j < shape_.y.count(); ++j, to += shape_.pitch(), columns += radius)
        std::copy_n(columns, radius, to);
}

void Tile::fill(Span rows) {
    for (std::ptrdiff_t j = rows.begin; j < rows.end; ++j) {
        for (std::ptrdiff_t i = 0; i < shape_.x.count(); ++i)
            *cell(i, j) = static_cast<double>(shape_.x.begin + i + shape_.y.begin + j);
        std::fill_n(out_row(j), shape_.x.count(), 0.0);
    }
}

void Tile::apply(Span rows) {
    const std::ptrdiff_t begin = std::max(rows.begin, active_y_.begin);
    const std::ptrdiff_t end = std::min(rows.end, active_y_.end);
    for (std::ptrdiff_t j = begin; j < end; ++j)
        stencil_add_star(shape_.radius, out_row(j), rows_.data() + j, active_x_.begin,
                         active_x_.end);
}

void Tile::refresh(Span rows) {
    for (std::ptrdiff_t j = rows.begin; j < rows.end; ++j)
        stencil_refresh(cell(0, j), 0, shape_.x.count());
}

Span Tile::south_rows() const {
    return {0, neighbour(kSouth) < 0 ? 0 : shape_.radius};
}

// If the part has fewer rows than two radii, both neighbours have some of its rows as ghosts; they
// count as south rows.
Span Tile::north_rows() const {
    const std::ptrdiff_t all = shape_.y.count();
    const std::ptrdiff_t first = neighbour(kNorth) < 0 ? all : all - shape_.radius;
    return {std::max(first, south_rows().end), all};
}

Span Tile::inner_rows() const {
    return {south_rows().end, north_rows().begin};
}

// In the inner rows, the columns that an x neighbour needs are edges.
void Tile::refresh_edges() {
    refresh(south_rows());
    refresh(north_rows());
    const Span columns = inner_columns();
    const Span rows = inner_rows();
    for (std::ptrdiff_t j = rows.begin; j < rows.end && columns.begin > 0; ++j)
        stencil_refresh(cell(0, j), 0, columns.begin);
    for (std::ptrdiff_t j = rows.begin; j < rows.end && columns.end < shape_.x.count(); ++j)
        stencil_refresh(cell(0, j), columns.end, shape_.x.count());
    pack_columns();
}

void Tile::refresh_inner() {
    const Span columns = inner_columns();
    const Span rows = inner_rows();
    for (std::ptrdiff_t j = rows.begin; j < rows.end; ++j)
        stencil_refresh(cell(0, j), columns.begin, columns.end);
}

Span Tile::inner_columns() const {
    const std::ptrdiff_t all = shape_.x.count();
    const std::ptrdiff_t begin = neighbour(kWest) < 0 ? 0 : shape_.radius;
    const std::ptrdiff_t end = neighbour(kEast) < 0 ? all : all - shape_.radius;
    return {begin, std::max(begin, end)};
}

void Tile::pack_columns() {
    const std::ptrdiff_t radius = shape_.radius;
    for (const Side side : {kWest, kEast}) {
        if (neighbour(side) < 0) continue;
        const double *from = cell(side == kWest ? 0 : shape_.x.count() - radius, 0);
        double *to = columns(side);
        for (std::ptrdiff_t j = 0; j < shape_.y.count(); ++j, from += shape_.pitch(), to += radius)
            std::copy_n(from, radius, to);
    }
}

stencil_sums Tile::sums(double expected) const {
    stencil_sums sums{0, 0};
    for (std::ptrdiff_t j = active_y_.begin; j < active_y_.end; ++j)
        stencil_measure(out_row(j), active_x_.begin, active_x_.end, expected, &sums);
    return sums;
}

void Tile::spoil() {
    if (active_x_.count() > 0 && active_y_.count() > 0)
        out_row(active_y_.begin)[active_x_.begin] += 1.0;
}

}  // namespace stencil
