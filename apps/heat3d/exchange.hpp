// How ranks work together: the one interface behind which Sennit and MPI stand. run.cpp calls it;
// each program has one implementation: heat3d_sennit.cpp, heat3d_mpi.cpp, and those in variants/.
//
// A rank has two fields of its block and computes one from the other in turn:
//     exchange_layers(f)          the layers around field f are ready to be read
//     step from field f to 1 - f
//     finish_step(change, check)  every rank that needs it may read field 1 - f; residual known
// What a call costs is counted by the caller, around the call, for all implementations alike.
// Calls are collective unless said otherwise. Errors are Failures; one that not every rank sees is
// thrown as Lost and ends the program, since nothing collective can follow.
#pragma once

#include "decomposition.hpp"
#include "failure.hpp"

#include <string>
#include <vector>

namespace heat3d {

// Another rank, or the way to it, is lost.
class Lost : public Failure {
  public:
    using Failure::Failure;
};

class Exchange {
  public:
    Exchange() = default;
    virtual ~Exchange() = default;
    Exchange(const Exchange &) = delete;
    Exchange &operator=(const Exchange &) = delete;

    // Not collective, any time.
    virtual int rank() const = 0;
    virtual int size() const = 0;
    // Name and version, for the report.
    virtual std::string name() const = 0;
    // The values of --layers, the default first.
    virtual std::vector<std::string> modes() const = 0;

    virtual void barrier() = 0;
    // The largest of all ranks' values, at all ranks.
    virtual double max(double mine) = 0;
    // Every rank gives the same number of values, at most kGatherLimit; rank 0 gets all, by rank.
    virtual std::vector<double> gather(const std::vector<double> &mine) = 0;
    static constexpr std::size_t kGatherLimit = 16;

    // Allocates both fields and what exchange_layers() needs. Throws Failure on all ranks, or on
    // none.
    virtual void open(const Decomposition &decomposition, const std::string &mode) = 0;
    // This rank's block; `field` is 0 or 1. Not collective, after open.
    virtual double *field(int field) = 0;
    // Where a step into that field also puts its cells at side west or east, packed; null where
    // nobody asks. Not collective, after open.
    virtual double *ends(int field, Side side) = 0;
    // The neighbour's layer beyond `side`, which must have a neighbour. It stays at its place; its
    // content is that of the last exchange_layers(field), until the next finish_step. Not
    // collective.
    virtual Layer outer_layer(int field, Side side) = 0;

    // Makes the outer layers of the field hold what the neighbours have in their field and ends.
    virtual void exchange_layers(int field) = 0;
    // Ends a step. With `check`, the same on all ranks, returns the largest `change` of all, else
    // 0.
    virtual double finish_step(double change, bool check) = 0;
};

}  // namespace heat3d
