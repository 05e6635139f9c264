// A rank's columns of A and of B, and the work of a step on the block for a pair of ranks: rows of
// A that become columns of the peer's B. The method owns the memory, because it decides the kind of
// memory.
#pragma once

#include "kernel.hpp"

#include <cstddef>
#include <cstdint>

namespace transpose {

// The range [begin, end) of the columns of a matrix; also of its rows, since it is square.
struct Span {
    std::ptrdiff_t begin = 0, end = 0;
    std::ptrdiff_t count() const { return end - begin; }
};

// The shares of columns that groups own. There is one group for each rank, or for each thread of
// the only rank. Shares differ by at most one; the larger shares come first. Rows have the same
// groups, and in a column each group of rows begins at a cache line. So each cache line has one
// writer.
class Shares {
  public:
    Shares(std::ptrdiff_t order, int ranks, int threads = 1)
        : order_(order), ranks_(ranks), threads_(threads) {}

    std::ptrdiff_t order() const { return order_; }
    int ranks() const { return ranks_; }
    int groups() const { return ranks_ * threads_; }
    // The columns, or rows, of a group.
    Span of(int group) const;
    Span columns_of_rank(int rank) const {
        return {of(rank * threads_).begin, of(rank * threads_ + threads_ - 1).end};
    }
    int rank_of(int group) const { return group / threads_; }
    // The distance from one column to the next in the rows of a group.
    std::ptrdiff_t pitch(int group) const;
    // The place where the rows of a group begin in a rank's memory.
    std::ptrdiff_t at(int group, int rank) const {
        return rows_before(group) * columns_of_rank(rank).count();
    }
    // The size of a rank's columns.
    std::size_t elements(int rank) const { return static_cast<std::size_t>(at(groups(), rank)); }

  private:
    // Counted in whole cache lines.
    std::ptrdiff_t rows_before(int group) const;

    std::ptrdiff_t order_;
    int ranks_, threads_;
};

class Matrices {
  public:
    // a and b have space for shares.elements(rank) elements, and begin at a cache line.
    struct Memory {
        double *a, *b;
    };
    Matrices(const Shares &shares, int rank, Memory memory, std::ptrdiff_t tile)
        : shares_(shares), rank_(rank), memory_(memory), tile_(tile) {}

    const Shares &shares() const { return shares_; }
    int rank() const { return rank_; }
    double *b() { return memory_.b; }

    // Sets the start values of columns [begin, end) of this rank.
    void fill(Span columns);

    // Adds the block of A in this rank's group `columns` and the group `rows` into the B of the
    // rank that owns the columns `rows`. That B begins at `their_b`.
    void add(int columns, int rows, double *their_b);
    // Adds this rank's block for `peer`, if each rank is one group.
    void add_to(int peer, double *their_b) { add(rank_, peer, their_b); }
    // The same by messages: pack() copies a part of the peer's columns, counted from its first
    // column, into a message; accept() adds the message into the receiver's B.
    void pack(int peer, double *message, Span part);
    void accept(int peer, const double *message, Span part);
    std::ptrdiff_t message_elements(int sender, Span part) const {
        return shares_.of(sender).count() * part.count();
    }

    // The sum of the deviations of B from the right result after so many steps.
    double error(std::int64_t steps) const;
    // For tests: makes one element wrong.
    void spoil() { memory_.b[0] += 1.0; }

  private:
    transpose_block block(int columns, int rows, Span part) const;

    Shares shares_;
    int rank_;
    Memory memory_;
    std::ptrdiff_t tile_;
};

}  // namespace transpose
