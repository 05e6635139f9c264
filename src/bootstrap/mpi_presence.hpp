// SPDX-License-Identifier: BSD-3-Clause
// Whether an MPI library lives in this process and how far it is: asked by the launchers whose
// connection MPI may share. Nothing is linked or loaded for it; owns nothing, changes nothing.
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
    bool is_open_mpi;  // it talks PMIx, never PMI-1
};

MpiPresence mpi_presence();

}  // namespace sennit::runtime
