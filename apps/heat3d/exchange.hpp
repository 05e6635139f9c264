// The cooperation of ranks: one interface that Sennit and MPI implement. run.cpp calls it; each
// program has one implementation: heat3d_sennit.cpp, heat3d_mpi.cpp, and those in variants/.
//
// A rank has two fields of its block and computes one from the other in turn:
//     exchange_layers(f)          the layers around field f are ready to be read
//     step from field f to 1 - f
//     finish_step(change, check)  every rank that needs it may read field 1 - f; residual known
// The caller measures the time of each call, in the same way for all implementations. Calls are
// collective unless said otherwise. Errors are Failures; an error that some ranks may not see is
// thrown as Lost and ends the program, since no collective call can follow.
#pragma once

#include "decomposition.hpp"
#include "failure.hpp"

#include "common/ranks.hpp"

#include <string>
#include <vector>

namespace heat3d {

class Exchange : public apps::Ranks {
  public:
    // The values of --layers, the default first. Not collective; may be called at any time.
    virtual std::vector<std::string> modes() const = 0;

    // Allocates both fields and the memory that exchange_layers() needs. Throws Failure on all
    // ranks, or on none.
    virtual void open(const Decomposition &decomposition, const std::string &mode) = 0;
    // This rank's block; `field` is 0 or 1. Not collective, after open.
    virtual double *field(int field) = 0;
    // The memory in which a step into that field also stores its cells at side west or east,
    // packed; null if not needed. Not collective; call it after open.
    virtual double *ends(int field, Side side) = 0;
    // The neighbour's layer beyond `side`, which must have a neighbour. It stays at its place; its
    // content is that of the last exchange_layers(field), until the next finish_step. Not
    // collective.
    virtual Layer outer_layer(int field, Side side) = 0;

    // Fills the outer layers of the field from the neighbours' fields and ends.
    virtual void exchange_layers(int field) = 0;
    // Ends a step. With `check`, which is the same on all ranks, returns the largest `change` of
    // all ranks, else 0.
    virtual double finish_step(double change, bool check) = 0;
};

}  // namespace heat3d
