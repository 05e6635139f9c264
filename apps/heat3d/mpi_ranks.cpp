#include "mpi_ranks.hpp"

#include <fmt/format.h>

#include <climits>

namespace heat3d {

void MpiRanks::check_count(const LayerShape &shape) {
    if (shape.cells() > INT_MAX) {
        throw Failure(
            fmt::format("a layer of {} cells is more than one MPI message carries", shape.cells()));
    }
}

}  // namespace heat3d
