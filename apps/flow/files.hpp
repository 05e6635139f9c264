// Files of a run: the restart file, the field for ParaView, texts. Every rank writes its own cells
// at their places, and a file gets its final name only when it is complete.
#pragma once

#include "solver.hpp"

#include "common/ranks.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace flow {

// The state besides the fields that passes from one step to the next.
struct Clocks {
    std::int64_t step = 0;
    double time = 0, time_step = 0, gradient = 0;
};

// The name of a file until it is complete, and renaming it to its final name. Throws Failure.
std::string part_of(const std::string &path);
void give_name(const char *use, const std::string &path);
// Throws Failure.
void make_folder_of(const std::string &path);

// The places of velocity (three numbers per cell) and pressure of all cells in a file, in bytes
// from its beginning: x fastest, then y, then z.
struct CellPlaces {
    std::uint64_t velocity = 0, pressure = 0;
};
// Writes the values at the centres of the rank's own cells. Throws Failure.
void write_cells(const std::string &path, const Layout &layout, Solver &solver,
                 const CellPlaces &places);

// Each call runs in its own together(), and throws Failure on the rank that fails. To write a file,
// rank 0 calls begin(), then all ranks call write(), then rank 0 calls finish(). All ranks call
// read().
class RestartFile {
  public:
    RestartFile(std::string path, const Layout &layout) : path_(std::move(path)), layout_(layout) {}
    // `sums` are those of Statistics; the next run continues them.
    void begin(const Clocks &clocks, const std::vector<double> &sums) const;
    void write(Solver &solver) const;
    void finish() const;
    // Reads an existing file: fills the rank's own cells and `sums`, whose size must be the file's.
    Clocks read(Solver &solver, std::vector<double> &sums) const;

  private:
    std::string path_;
    const Layout &layout_;
};

// field.vti if all cells are equal, else field.vtr: velocity and pressure at the centres.
class FieldFile {
  public:
    FieldFile(const std::string &folder, const Grid &grid, const Layout &layout);
    void begin() const;
    void write(Solver &solver) const;
    void finish() const;
    const std::string &path() const { return path_; }

  private:
    std::string path_, head_, tail_;
    const Layout &layout_;
    CellPlaces places_;
    std::uint64_t tail_at_ = 0;
};

// Called by one rank.
void write_text(const std::string &path, const std::string &text);

}  // namespace flow
