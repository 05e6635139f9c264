// How a program does the steps: the one thing in which the programs differ. One object a program,
// made by its main() and called by run().
//
// A step adds A transposed to B and raises A by one. It is over on a rank when all of its B is
// there and the rank may use it; a block of a later step is added only after that.
#pragma once

#include "matrices.hpp"

namespace transpose {

class Method {
  public:
    Method() = default;
    virtual ~Method() = default;
    Method(const Method &) = delete;
    Method &operator=(const Method &) = delete;

    // What communicates, in a word for the report.
    virtual const char *backend() const = 0;
    // More than one only where there is one rank.
    virtual int threads() const { return 1; }
    // Memory for `elements` elements of each matrix that is this object's; collective.
    virtual Matrices::Memory allocate(std::size_t elements) = 0;
    // Start values: threads do it where they will work.
    virtual void fill(Matrices &matrices) {
        matrices.fill({0, matrices.shares().columns_of_rank(matrices.rank()).count()});
    }
    // Once, before the first step; collective. The start values are there.
    virtual void connect(Matrices &) {}
    // Does so many steps; collective.
    virtual void iterate(Matrices &matrices, std::int64_t steps) = 0;
    // After the last step; collective. Nothing is under way afterwards.
    virtual void finish() {}
};

// With whom a rank has to do in phase 1, 2, ... ranks - 1 of a step: every rank sends to one and
// receives from one.
inline int send_to(const Matrices &matrices, int phase) {
    const int ranks = matrices.shares().ranks();
    return (matrices.rank() - phase + ranks) % ranks;
}
inline int receive_from(const Matrices &matrices, int phase) {
    return (matrices.rank() + phase) % matrices.shares().ranks();
}

}  // namespace transpose
