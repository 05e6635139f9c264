// Ranks of MPI for heat3d. The base of all programs with MPI.
#pragma once

#include "run.hpp"

#include "common/mpi_ranks.hpp"

namespace heat3d {

class MpiRanks : public apps::MpiRanksOf<Exchange> {
  protected:
    // Throws Failure if the cells of a layer exceed MPI's count.
    static void check_count(const LayerShape &shape);
};

// The body of main().
template <typename Variant>
int run_with_mpi(int argc, char **argv) {
    return apps::run_with_mpi("heat3d", &argc, &argv, [&] {
        Variant ranks;
        return run(ranks, argc, argv);
    });
}

}  // namespace heat3d
