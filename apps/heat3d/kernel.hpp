// The computation of one time step on one rank's block of cells. Compiled once; every program links
// the same object, so the ways of communication differ in nothing else.
//
// Invariant: a cell's new temperature is one fixed expression of its own and its six neighbours'
// old ones, whatever the block's shape, so any decomposition gives the same field to the bit.
#pragma once

#include "layer.hpp"

#include <array>

namespace heat3d {

// A rank's block, without ghost cells, and the layers just outside its six sides. A layer may lie
// in a buffer, in a neighbour's field, in the block itself (an insulated side mirrors it), or be
// one row of constants with stride 0.
struct Block {
    Shape shape;
    const double *cells = nullptr;
    std::array<Layer, kSides> around;
};

// The scheme: explicit Euler in time, second-order central differences in space, of
//     dT/dt = div(a(T) grad T),  a(T) = a (1 + slope T).
// x, y, z are a * time step / spacing^2. With q(T) = T + slope T^2 / 2 the equation reads
// dT/dt = a laplace(q). For two neighbours, the mean of a(T) times the difference of T is exactly a
// times the difference of q, so the scheme needs only q.
struct Stencil {
    double x = 0, y = 0, z = 0;
    double slope = 0;
};

// The destination of the new temperatures: a block of the same shape that does not overlap with the
// old one. Each cell at its west and east side is in its own cache line. A step also writes each of
// them to `ends` when it has computed it, packed as a layer, if `ends` is not null.
struct Target {
    double *cells = nullptr;
    std::array<double *, 2> ends{};
};

// Returns the largest change of a cell if `measure`, else 0. Every temperature must be finite.
double step(const Block &from, const Target &to, const Stencil &stencil, bool measure);

}  // namespace heat3d
