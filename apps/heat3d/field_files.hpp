// The result on disk: temperature.vti (VTK image data, for ParaView) and temperature.npy (NumPy).
// Both are a short head and the same cells, x fastest, as little-endian doubles. So every rank
// writes its own box at its own place, and no rank holds more than its box.
//
// Both files are written under other names (FieldFile::part) and renamed when they are complete.
#pragma once

#include "decomposition.hpp"

#include <array>
#include <string>

namespace heat3d {

struct FieldFile {
    std::string path;  // the final name
    std::string part;  // the name while it is written
    std::string head, tail;
};

class FieldFiles {
  public:
    // Does not touch the disk yet. `spacing` is in metres.
    FieldFiles(const std::string &folder, const Triple &cells,
               const std::array<double, 3> &spacing);

    // The steps, in this order; all ranks wait for each other between them. Each throws Failure.
    // create() makes the folder and both files at their full size, with head and tail.
    void create();                                          // one rank
    void write(const Box &box, const double *cells) const;  // every rank
    void finish();                                          // one rank
    // Removes the files of create(), unless finish() was called. Called by the same rank.
    void discard() noexcept;

    const std::array<FieldFile, 2> &files() const { return files_; }

  private:
    std::string folder_;
    Triple cells_;
    std::array<FieldFile, 2> files_;
    bool created_ = false;
};

// The heads, for tests.
std::string npy_head(const Triple &cells);
std::string vti_head(const Triple &cells, const std::array<double, 3> &spacing);

}  // namespace heat3d
