// The steps of a program: the only part in which the programs differ. Each program has one object,
// made by its main() and called by run().
//
// A step adds A transposed to B and raises A by one. It ends on a rank when all of its B has
// arrived and the rank may use it; a block of a later step is added only after that.
#pragma once

#include "matrices.hpp"

namespace transpose {

class Method {
  public:
    Method() = default;
    virtual ~Method() = default;
    Method(const Method &) = delete;
    Method &operator=(const Method &) = delete;

    // The communication library, in a word for the report.
    virtual const char *backend() const = 0;
    // More than one only if there is one rank.
    virtual int threads() const { return 1; }
    // Memory for `elements` elements of each matrix, owned by this object; collective.
    virtual Matrices::Memory allocate(std::size_t elements) = 0;
    // Sets the start values: threads set those that they will use.
    virtual void fill(Matrices &matrices) {
        matrices.fill({0, matrices.shares().columns_of_rank(matrices.rank()).count()});
    }
    // Called once, before the first step; collective. The start values are set.
    virtual void connect(Matrices &) {}
    // Does that many steps; collective.
    virtual void iterate(Matrices &matrices, std::int64_t steps) = 0;
    // Called after the last step; collective. Completes all communication.
    virtual void finish() {}
};

// The peers of a rank in phase 1, 2, ... ranks - 1 of a step: every rank sends to one peer and
// receives from one.
inline int send_to(const Matrices &matrices, int phase) {
    const int ranks = matrices.shares().ranks();
    return (matrices.rank() - phase + ranks) % ranks;
}
inline int receive_from(const Matrices &matrices, int phase) {
    return (matrices.rank() + phase) % matrices.shares().ranks();
}

}  // namespace transpose
