// The common part of the flat MPI RMA variants: one window with both fields of every rank, open for
// all ranks from beginning to end. It ignores which ranks share a node.
//
// The window uses the program's own memory (`pieces`, `whole`), or, with `pieces-allocated` and
// `whole-allocated`, memory that MPI allocates, which may be faster.
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
    // The place of a cell of a neighbour's block in the neighbour's part of the window.
    MPI_Aint place_of(int field, std::size_t cell) const {
        return static_cast<MPI_Aint>(layout_.cell_of(field, cell));
    }

  private:
    MPI_Win window_ = MPI_WIN_NULL;
    std::unique_ptr<double[]> memory_;  // null if the window allocates it
};

}  // namespace heat3d
