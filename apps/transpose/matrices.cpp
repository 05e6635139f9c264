// A rank's columns. At the start, element (i, j) of A is i + order j, and B is 0.
#include "matrices.hpp"

#include <algorithm>
#include <cmath>

namespace transpose {

namespace {

constexpr std::ptrdiff_t kLine = 8;  // elements of a cache line

std::ptrdiff_t lines(std::ptrdiff_t elements) {
    return (elements + kLine - 1) & -kLine;
}

}  // namespace

Span Shares::of(int group) const {
    const std::ptrdiff_t each = order_ / groups(), more = order_ % groups();
    const std::ptrdiff_t begin = group * each + std::min<std::ptrdiff_t>(group, more);
    return {begin, begin + each + (group < more ? 1 : 0)};
}

std::ptrdiff_t Shares::pitch(int group) const {
    return lines(of(group).count());
}

std::ptrdiff_t Shares::rows_before(int group) const {
    const std::ptrdiff_t each = order_ / groups(), more = order_ % groups();
    const std::ptrdiff_t larger = std::min<std::ptrdiff_t>(group, more);
    return larger * lines(each + 1) + (group - larger) * lines(each);
}

void Matrices::fill(Span columns) {
    const std::ptrdiff_t order = shares_.order();
    const std::ptrdiff_t first = shares_.columns_of_rank(rank_).begin;
    for (std::ptrdiff_t j = columns.begin; j < columns.end; ++j) {
        for (int group = 0; group < shares_.groups(); ++group) {
            const Span rows = shares_.of(group);
            const std::ptrdiff_t at = shares_.at(group, rank_) + shares_.pitch(group) * j;
            for (std::ptrdiff_t i = rows.begin; i < rows.end; ++i) {
                memory_.a[at + i - rows.begin] = static_cast<double>(i + order * (first + j));
                memory_.b[at + i - rows.begin] = 0;
            }
        }
    }
}

// The block without its destination; the caller sets that.
transpose_block Matrices::block(int columns, int rows, Span part) const {
    const Span own = shares_.of(columns);
    const std::ptrdiff_t first = own.begin - shares_.columns_of_rank(rank_).begin;
    transpose_block found{};
    found.a_pitch = shares_.pitch(rows);
    found.a = memory_.a + shares_.at(rows, rank_) + part.begin + found.a_pitch * first;
    found.rows = part.count();
    found.columns = own.count();
    found.tile = tile_;
    return found;
}

void Matrices::add(int columns, int rows, double *their_b) {
    const Span theirs = shares_.of(rows);
    transpose_block whole = block(columns, rows, {0, theirs.count()});
    const int owner = shares_.rank_of(rows);
    const std::ptrdiff_t column = theirs.begin - shares_.columns_of_rank(owner).begin;
    whole.b_pitch = shares_.pitch(columns);
    whole.b = their_b + shares_.at(columns, owner) + whole.b_pitch * column;
    transpose_add(&whole);
}

void Matrices::pack(int peer, double *message, Span part) {
    transpose_block packed = block(rank_, peer, part);
    packed.b = message;
    packed.b_pitch = packed.columns;
    transpose_copy(&packed);
}

void Matrices::accept(int peer, const double *message, Span part) {
    transpose_block received{};
    received.a = const_cast<double *>(message);  // only read
    received.b_pitch = shares_.pitch(peer);
    received.b = memory_.b + shares_.at(peer, rank_) + received.b_pitch * part.begin;
    received.rows = received.a_pitch = shares_.of(peer).count();
    received.columns = part.count();
    received.tile = tile_;
    transpose_accept(&received);
}

double Matrices::error(std::int64_t steps) const {
    const std::ptrdiff_t order = shares_.order();
    const Span own = shares_.columns_of_rank(rank_);
    // Step n = 0, 1, ... added an A that had been raised by n.
    const double count = static_cast<double>(steps), raised = count * (count - 1) / 2;
    double sum = 0;
    for (std::ptrdiff_t j = 0; j < own.count(); ++j) {
        for (int group = 0; group < shares_.groups(); ++group) {
            const Span rows = shares_.of(group);
            const double *column = memory_.b + shares_.at(group, rank_) + shares_.pitch(group) * j;
            for (std::ptrdiff_t i = rows.begin; i < rows.end; ++i) {
                const double start = static_cast<double>(own.begin + j + order * i);
                sum += std::fabs(column[i - rows.begin] - (start * count + raised));
            }
        }
    }
    return sum;
}

}  // namespace transpose
