// The size of a window of MPI_Win_allocate.
#pragma once

#include <mpi.h>

#include <cstddef>

namespace kernels {

// At least `bytes`, and a multiple of 64: MPICH 4.0.2 computes a wrong address for another rank's
// part on the node if a part before it has, for example, 3944 bytes.
inline MPI_Aint window_bytes(std::size_t bytes) {
    return static_cast<MPI_Aint>((bytes + 63) / 64 * 64);
}

}  // namespace kernels
