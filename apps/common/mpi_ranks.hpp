// Ranks of MPI, for any application: a communicator of the program's own and collective calls on
// it. Header-only, because each MPI's programs compile it with that MPI.
#pragma once

#include "failure.hpp"
#include "ranks.hpp"

#include <mpi.h>

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

namespace apps {

// `Base` is Ranks or an interface made from it.
template <typename Base>
class MpiRanksOf : public Base {
  public:
    MpiRanksOf() {
        MPI_Comm_dup(MPI_COMM_WORLD, &world_);
        MPI_Comm_rank(world_, &rank_);
        MPI_Comm_size(world_, &size_);
    }
    ~MpiRanksOf() override { MPI_Comm_free(&world_); }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    std::string name() const override {
        char text[MPI_MAX_LIBRARY_VERSION_STRING];
        int length = 0;
        MPI_Get_library_version(text, &length);
        // Open MPI writes everything on one line, MPICH one item per line.
        std::string name(text, static_cast<std::size_t>(length));
        name = name.substr(0, name.find_first_of(",\n"));
        std::replace(name.begin(), name.end(), '\t', ' ');
        return name;
    }
    void barrier() override { MPI_Barrier(world_); }
    double max(double mine) override {
        double largest = 0;
        MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, world_);
        return largest;
    }
    std::vector<double> gather(const std::vector<double> &mine) override {
        std::vector<double> all(rank_ == 0 ? mine.size() * static_cast<std::size_t>(size_) : 0);
        const int count = static_cast<int>(mine.size());
        MPI_Gather(mine.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, 0, world_);
        return all;
    }

  protected:
    MPI_Comm world() const { return world_; }

  private:
    MPI_Comm world_ = MPI_COMM_NULL;
    int rank_ = 0, size_ = 1;
};

using MpiRanks = MpiRanksOf<Ranks>;

// The body of main(): `run` gives the exit status. Errors of MPI itself end the program.
template <typename Run>
int run_with_mpi(const char *program, int *argc, char ***argv, Run run) {
    int code = 0, level = MPI_THREAD_SINGLE;
    // A rank may have threads, but they do not call MPI.
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
    try {
        if (level < MPI_THREAD_FUNNELED) throw Failure("this MPI allows no threads in a rank");
        code = run();
    } catch (const std::exception &failure) {
        tell_before_abort(program, failure);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return code;
}

}  // namespace apps
