// A rank's columns; see matrices.hpp. At the start element (i, j) of A is i + order j, and B is 0.
#include "matrices.hpp"

#include <algorithm>
#include <cmath>

namespace transpose {

Span Shares::of(int rank) const {
    const std::ptrdiff_t each = order_ / ranks_, more = order_ % ranks_;
    const std::ptrdiff_t begin = rank * each + std::min<std::ptrdiff_t>(rank, more);
    return {begin, begin + each + (rank < more ? 1 : 0)};
}

void Matrices::fill(Span columns) {
    const std::ptrdiff_t order = shares_.order(), first = shares_.of(rank_).begin;
    for (std::ptrdiff_t j = columns.begin; j < columns.end; ++j) {
        for (std::ptrdiff_t i = 0; i < order; ++i) {
            memory_.a[i + order * j] = static_cast<double>(i + order * (first + j));
            memory_.b[i + order * j] = 0;
        }
    }
}

// Rows of A that are the peer's columns in B; where they go is not said yet.
transpose_block Matrices::block(int peer, Span part) const {
    const std::ptrdiff_t first = shares_.of(peer).begin + part.begin;
    return {memory_.a + first, nullptr,         part.count(), shares_.of(rank_).count(),
            shares_.order(),   shares_.order(), tile_};
}

void Matrices::add_to(int peer, double *their_b, Span part) {
    transpose_block whole = block(peer, part);
    whole.b = their_b + shares_.of(rank_).begin + part.begin * shares_.order();
    transpose_add(&whole);
}

void Matrices::pack(int peer, double *message, Span part) {
    transpose_block packed = block(peer, part);
    packed.b = message;
    packed.b_pitch = packed.columns;
    transpose_copy(&packed);
}

void Matrices::accept(int peer, const double *message, Span part) {
    const Span theirs = shares_.of(peer);
    const std::ptrdiff_t order = shares_.order();
    double *to = memory_.b + theirs.begin + part.begin * order;
    // The message is only read.
    const transpose_block received{const_cast<double *>(message),
                                   to,
                                   theirs.count(),
                                   part.count(),
                                   theirs.count(),
                                   order,
                                   tile_};
    transpose_accept(&received);
}

double Matrices::error(std::int64_t steps) const {
    const std::ptrdiff_t order = shares_.order();
    const Span own = shares_.of(rank_);
    // A was raised by 0, 1, ... when it was added.
    const double count = static_cast<double>(steps), raised = count * (count - 1) / 2;
    double sum = 0;
    for (std::ptrdiff_t j = 0; j < own.count(); ++j) {
        for (std::ptrdiff_t i = 0; i < order; ++i) {
            const double start = static_cast<double>(own.begin + j + order * i);
            sum += std::fabs(memory_.b[i + order * j] - (start * count + raised));
        }
    }
    return sum;
}

}  // namespace transpose
