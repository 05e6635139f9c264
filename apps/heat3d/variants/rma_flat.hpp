// The part of the flat MPI RMA variants that is the same for both: one window with both fields of
// every rank, open for all ranks from beginning to end. Nothing here asks who shares a node.
//
// The window lies on memory of the program's own (`pieces`, `whole`), or, in `pieces-allocated` and
// `whole-allocated`, on memory that MPI chose for it, which an MPI may make faster.
#pragma once

#include "mpi_faces.hpp"

#include <memory>

namespace heat3d {

class RmaFlat : public MpiFaces {
  public:
    ~RmaFlat() override;
    std::vector<std::string> modes() const override {
        return {"pieces", "whole", "pieces-allocated", "whole-allocated"};
    }
    void open(const Decomposition &decomposition, const std::string &mode) override;
    double finish_step(double change, bool check) override;

  protected:
    MPI_Win window() const { return window_; }
    // Where a cell of a neighbour's block is in its part of the window.
    MPI_Aint place_of(int field, std::size_t cell) const {
        return static_cast<MPI_Aint>(layout_.cell_of(field, cell));
    }

  private:
    MPI_Win window_ = MPI_WIN_NULL;
    std::unique_ptr<double[]> memory_;  // null if it is the window's
};

}  // namespace heat3d
