// A rank's columns of A and of B, and what a step does with the block that concerns two ranks: rows
// of A that become columns of the peer's B. Memory belongs to the method, because that decides of
// what kind it is.
#pragma once

#include "kernel.hpp"

#include <cstddef>
#include <cstdint>

namespace transpose {

// [begin, end) of the columns of a matrix; of its rows too, since it is square.
struct Span {
    std::ptrdiff_t begin = 0, end = 0;
    std::ptrdiff_t count() const { return end - begin; }
};

// How the columns are shared: shares differ by one at most, the first ones are the larger.
class Shares {
  public:
    Shares(std::ptrdiff_t order, int ranks) : order_(order), ranks_(ranks) {}
    std::ptrdiff_t order() const { return order_; }
    int ranks() const { return ranks_; }
    Span of(int rank) const;
    // Elements of a rank's columns.
    std::size_t elements(int rank) const {
        return static_cast<std::size_t>(of(rank).count() * order_);
    }

  private:
    std::ptrdiff_t order_;
    int ranks_;
};

class Matrices {
  public:
    // a and b have room for shares.elements(rank) elements.
    struct Memory {
        double *a, *b;
    };
    Matrices(const Shares &shares, int rank, Memory memory, std::ptrdiff_t tile)
        : shares_(shares), rank_(rank), memory_(memory), tile_(tile) {}

    const Shares &shares() const { return shares_; }
    int rank() const { return rank_; }
    double *b() { return memory_.b; }

    // The start values of columns [begin, end) of this rank.
    void fill(Span columns);

    // This rank's block for `peer`, added into the peer's B, which begins at `their_b`. With `part`
    // only that part of the peer's columns, counted from its first.
    void add_to(int peer, double *their_b, Span part);
    void add_to(int peer, double *their_b) { add_to(peer, their_b, {0, shares_.of(peer).count()}); }
    // The same into a message, and from the message into the receiver's B.
    void pack(int peer, double *message, Span part);
    void accept(int peer, const double *message, Span part);
    std::ptrdiff_t message_elements(int sender, Span part) const {
        return shares_.of(sender).count() * part.count();
    }

    // Sum of the distances of B from what it must be after so many steps.
    double error(std::int64_t steps) const;
    // For tests: one element becomes wrong.
    void spoil() { memory_.b[0] += 1.0; }

  private:
    transpose_block block(int peer, Span part) const;

    Shares shares_;
    int rank_;
    Memory memory_;
    std::ptrdiff_t tile_;
};

}  // namespace transpose
