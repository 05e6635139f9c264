// What the ranks of heat3d do together with MPI, apart from exchanging layers. The base of all
// programs with MPI; owns a communicator of the program's own.
#pragma once

#include "run.hpp"

#include <mpi.h>

#include <cstdio>
#include <exception>

namespace heat3d {

class MpiRanks : public Exchange {
  public:
    MpiRanks();
    ~MpiRanks() override { MPI_Comm_free(&world_); }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::string name() const override;
    void barrier() override { MPI_Barrier(world_); }
    double max(double mine) override;
    std::vector<double> gather(const std::vector<double> &mine) override;

  protected:
    MPI_Comm world() const { return world_; }
    // Throws Failure if MPI has no count for a layer.
    static void check_count(const LayerShape &shape);

  private:
    MPI_Comm world_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1;
};

// What main() does. MPI's own errors end the program.
template <typename Variant>
int run_with_mpi(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int code = 1;
    try {
        Variant ranks;
        code = run(ranks, argc, argv);
    } catch (const std::exception &failure) {
        (void)std::fprintf(stderr, "heat3d: %s\n", failure.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return code;
}

}  // namespace heat3d
