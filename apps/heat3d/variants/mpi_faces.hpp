// The part of the one-sided variants with MPI that is the same for all: derived datatypes of layers
// in a neighbour's memory, and the end of a step.
#pragma once

#include "../mpi_ranks.hpp"
#include "faces.hpp"

namespace heat3d {

class MpiFaces : public FaceExchange<MpiRanks> {
  public:
    ~MpiFaces() override;

  protected:
    // Calls prepare() and makes the datatypes, one per face.
    void prepare_types(const Decomposition &decomposition, const std::string &mode);
    // Waits until all ranks have arrived; with `check` by max(). Called between MPI_Win_sync of the
    // windows.
    double wait_for_all(double change, bool check);

    std::vector<MPI_Datatype> types_;
};

}  // namespace heat3d
