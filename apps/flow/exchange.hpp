// Communication: one interface for MPI and Sennit. solver.cpp and poisson.cpp call it; flow_mpi.cpp
// and flow_sennit.cpp implement it. README.md lists the data of a step, and proves that no rank
// needs to ask another whether it is ready.
//
// Calls are collective over the ranks that take part: neighbours, or the ranks with the same place
// in z (transposes) or y (the tridiagonal solver). Errors are Failures; an error that some ranks
// may not see is thrown as Lost and ends the program.
#pragma once

#include "layout.hpp"

#include "common/failure.hpp"
#include "common/ranks.hpp"

#include <string>
#include <vector>

namespace flow {

// Halos that are exchanged, in the order of a step.
enum class Halo { first, second, pressure };
inline constexpr std::size_t kHalos = 3;

// An array with a halo, or `fields` of them one after another.
struct HaloArray {
    double *memory = nullptr;
    Extent extent;
    Count fields = 1;
};

// Exchanges that may be sent in pieces: the transposes, and the data of the tridiagonal solver.
enum class Leg { to_y, to_x, down, up };

// The data of the tridiagonal solver: planes of a y-pencil, and data of coupled pairs of wave
// numbers (tridiagonal.hpp).
struct TridiagonalBuffers {
    int plane = 0;            // numbers of a plane
    double *first = nullptr;  // of this rank's unknowns; sent to the rank below
    double *above = nullptr;  // receives `first` of the rank above
    double *last = nullptr;   // sent to the rank above
    double *below = nullptr;  // receives `last` of the rank below
    // How many numbers go to and come from each rank with the same place in y, and where they are.
    std::vector<int> counts, places, owned_counts, owned_places;
    double *ends = nullptr, *owned_ends = nullptr;        // sent, received
    double *owned_answers = nullptr, *answers = nullptr;  // and on the way back
};

class Exchange : public apps::Ranks {
  public:
    // The name of the library, for the report.
    virtual const char *backend() const = 0;
    // The values of --transpose, the default first.
    virtual std::vector<std::string> ways() const { return {"packed", "described"}; }

    // The default of --overlap: whether cells are computed while halos are exchanged.
    virtual bool overlaps() const { return false; }

    // Called once, before all others. `pieces` is --pieces, equal on all ranks; `threads` are those
    // of this rank.
    virtual void open(const Layout &layout, Count pieces, Count threads) = 0;
    // The memory of an exchange; it does not move. Called once for each exchange, before it is
    // first used.
    virtual void open_halo(Halo halo, const HaloArray &array) = 0;
    virtual void open_transposes(double *x_pencil, double *y_pencil, const std::string &way) = 0;
    virtual void open_tridiagonal(const TridiagonalBuffers &buffers) = 0;
    // The same for coupled pairs. Not called if there are none.
    virtual void open_coupled(const TridiagonalBuffers &buffers) = 0;

    // Until it is finished, no cell that is sent changes, and no cell that is received is used.
    virtual void start_halo(Halo halo) = 0;
    virtual void finish_halo(Halo halo) = 0;
    // From x-pencils to y-pencils and back. Not called if a rank has all of y.
    virtual void to_y() = 0;
    virtual void to_x() = 0;
    // The number of pieces of a transpose, or of send_down() and send_up(); 0 if these are not
    // split. Pieces are made of planes, or of the pairs of a plane (share_of). A piece is sent as
    // soon as it is computed, and waited for when it is needed. Threads call the functions for
    // pieces concurrently, each for different pieces. They throw nothing: an error ends the
    // program.
    virtual Count pieces(Leg) const { return 0; }
    virtual void start(Leg, Count) noexcept {}
    virtual void finish(Leg, Count) noexcept {}
    // Sends `first` to the rank below, which receives it in `above`, or `last` to the rank above.
    virtual void send_down() = 0;
    virtual void send_up() = 0;
    // Sends the ends of coupled pairs to the ranks that solve them, and the solutions back.
    virtual void spread_ends() = 0;
    virtual void return_answers() = 0;

    // Each value becomes the sum of all ranks' values, or the largest of them.
    virtual void reduce(std::vector<double> &values, bool is_sum) = 0;
    void sum(std::vector<double> &values) { reduce(values, true); }
};

}  // namespace flow
