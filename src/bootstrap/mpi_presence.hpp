// SPDX-License-Identifier: BSD-3-Clause
// Whether an MPI library is loaded in this process, and its state. For launchers whose connection
// an MPI may use too. Links, loads and changes nothing.
#pragma once

namespace sennit::runtime {

enum class MpiState {
    kAbsent,   // no MPI library is loaded
    kIdle,     // loaded, MPI_Init has not been called
    kRunning,  // between MPI_Init and MPI_Finalize
    kOver,     // after MPI_Finalize
};

struct MpiPresence {
    MpiState state;
    bool is_open_mpi;  // assumed to use PMIx
};

MpiPresence mpi_presence();

}  // namespace sennit::runtime
