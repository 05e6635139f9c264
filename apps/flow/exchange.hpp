// How ranks communicate: the one interface behind which MPI and Sennit stand. solver.cpp and
// poisson.cpp call it; flow_mpi.cpp and flow_sennit.cpp implement it. README.md says what is sent
// in a step, and why no rank needs to ask another whether it may.
//
// Calls are collective over the ranks that take part: neighbours, or those with the same place in z
// (transposes) or y (the tridiagonal solver). Errors are Failures; one that not every rank sees is
// thrown as Lost and ends the program.
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

// An array with a halo; several of them if `fields` of them lie one behind the other.
struct HaloArray {
    double *memory = nullptr;
    Extent extent;
    Count fields = 1;
};

// Exchanges that may go in pieces: the transposes, and what the tridiagonal solver sends.
enum class Leg { to_y, to_x, down, up };

// What the tridiagonal solver sends: planes of a y-pencil, and what belongs to coupled pairs of
// wave numbers (tridiagonal.hpp).
struct TridiagonalBuffers {
    int plane = 0;            // numbers of a plane
    double *first = nullptr;  // of the own unknowns; to the rank below
    double *above = nullptr;  // gets that of the rank above
    double *last = nullptr;   // to the rank above
    double *below = nullptr;  // gets that of the rank below
    // Numbers for, and from, each rank of the same place in y, one behind the other.
    std::vector<int> counts, places, owned_counts, owned_places;
    double *ends = nullptr, *owned_ends = nullptr;        // sent, received
    double *owned_answers = nullptr, *answers = nullptr;  // and on the way back
};

class Exchange : public apps::Ranks {
  public:
    // How it communicates, for the report.
    virtual const char *backend() const = 0;
    // The values of --transpose, the default first.
    virtual std::vector<std::string> ways() const { return {"packed", "described"}; }

    // The default of --overlap: whether cells are computed while halos are under way.
    virtual bool overlaps() const { return false; }

    // Who this rank is, once, before the others. `pieces` is --pieces.
    virtual void open(const Layout &layout, Count pieces) = 0;
    // Memory that is exchanged; it stays where it is. Each once, before its first exchange.
    virtual void open_halo(Halo halo, const HaloArray &array) = 0;
    virtual void open_transposes(double *x_pencil, double *y_pencil, const std::string &way) = 0;
    virtual void open_tridiagonal(const TridiagonalBuffers &buffers) = 0;
    // Those for coupled pairs. Not called where there are none.
    virtual void open_coupled(const TridiagonalBuffers &buffers) = 0;

    // Between the two the array is left alone.
    virtual void start_halo(Halo halo) = 0;
    virtual void finish_halo(Halo halo) = 0;
    // From x-pencils to y-pencils and back. Not called where a rank has all of y.
    virtual void to_y() = 0;
    virtual void to_x() = 0;
    // The same, and send_down() and send_up(), in so many pieces, if not 0: of planes, or of the
    // pairs of a plane (share_of). Each is sent when it is computed, and waited for when it is
    // needed. Threads call them at the same time, each for other pieces; nothing is thrown: what
    // goes wrong ends the program.
    virtual Count pieces(Leg) const { return 0; }
    virtual void start(Leg, Count) noexcept {}
    virtual void finish(Leg, Count) noexcept {}
    // `first` to the rank below, where it is `above`; `last` to the rank above.
    virtual void send_down() = 0;
    virtual void send_up() = 0;
    // Ends of coupled pairs to those who solve them, and what these find back.
    virtual void spread_ends() = 0;
    virtual void return_answers() = 0;

    // Each value becomes the sum of all ranks' values, or the largest of them.
    virtual void reduce(std::vector<double> &values, bool is_sum) = 0;
    void sum(std::vector<double> &values) { reduce(values, true); }
};

}  // namespace flow
