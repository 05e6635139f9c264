// The field as HDF5, and an .xdmf beside it with which ParaView reads it: field.h5 has
//     /velocity  nz x ny x nx x 3    at the centres of cells
//     /pressure  nz x ny x nx        the same
//     /x /y /z                       places of the cells' faces, one more than cells
// and the attributes `time` and `step`. All numbers are doubles in the units of the input.
//
// HDF5 is used without MPI. One rank creates the file with space for all data, each data set
// contiguous; then all ranks write their own cells to their places in it at the same time, as with
// the other files. So no rank needs memory for all of the data, and no rank waits for its turn.
// hdf5_file.cpp is compiled if HDF5 was found, no_hdf5.cpp otherwise.
#pragma once

#include "files.hpp"

#include <string>

namespace flow {

class Hdf5File {
  public:
    static bool is_there();
    Hdf5File(const std::string &folder, const Grid &grid)
        : path_(folder + "/field.h5"), xdmf_path_(folder + "/field.xdmf"), grid_(grid) {}
    // Called by one rank. Throw Failure.
    CellPlaces begin(const Clocks &clocks) const;
    void finish(const Clocks &clocks) const;
    // Called by each rank, between begin() and finish().
    void write(Solver &solver, const Layout &layout, const CellPlaces &places) const {
        write_cells(path_, layout, solver, places);
    }
    const std::string &path() const { return path_; }
    const std::string &xdmf_path() const { return xdmf_path_; }

  private:
    std::string path_, xdmf_path_;
    const Grid &grid_;
};

}  // namespace flow
