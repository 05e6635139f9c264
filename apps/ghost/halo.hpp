// The exchange of ghost cells: one interface for Sennit and MPI. run.cpp calls it;
// ghost_sennit.cpp, ghost_notified.cpp, ghost_mpi.cpp and ghost_shared.cpp implement it.
//
// A rank has two fields of several variables and computes one from the other in turn. Before a step
// reads a field, exchange_slabs() brings the neighbours' outermost cells into its ghost cells, for
// one variable or for all at once. The implementation measures the cost of each part with Laps, at
// the same places in all implementations.
#pragma once

#include "slab.hpp"
#include "stencil.hpp"

#include "common/failure.hpp"
#include "common/pages.hpp"
#include "common/times.hpp"

#include <array>
#include <string>
#include <vector>

namespace ghost {

// The parts of an exchange. MPI: copy into buffers, start the sends, wait for messages, start the
// receives, copy out of buffers. Sennit: copy into the buffer that the peer reads, publish it, wait
// for peers, confirm the reading, copy from the peer's memory. Notified: copy into a buffer, put,
// wait for the signal, reset it, copy the data that the peer has put.
enum Part : std::size_t { packing, sending, waiting, receiving, unpacking, kParts };
inline constexpr std::array<const char *, kParts> kPartNames{"pack", "send", "wait", "receive",
                                                             "unpack"};

// Measures the parts of an exchange: start() at its beginning, end(part) after each piece.
class Laps {
  public:
    void start() { last_ = apps::Clock::now(); }
    void end(Part part) {
        const apps::Clock::time_point now = apps::Clock::now();
        parts_ns[part] += apps::elapsed_ns(last_, now);
        last_ = now;
    }
    std::array<std::int64_t, kParts> parts_ns{};

  private:
    apps::Clock::time_point last_;
};

// A side with a neighbour.
struct Link {
    apps::Side side;
    int peer;
    Layout theirs;     // of the peer's cells
    Slab inner;        // own cells that the peer needs
    Slab outer;        // own ghost cells
    Slab their_inner;  // the peer's cells for `outer`
};

// The links of a rank. Both ends of a link compute the same slabs.
struct Domain {
    Layout layout;
    double *cells = nullptr;   // [layout.cells()]
    std::size_t together = 1;  // variables in one exchange: 1, or all
    // The phases follow one another; the links of a phase are exchanged together.
    std::vector<std::vector<Link>> phases;

    // Edges and corners are exchanged too.
    bool is_wide() const { return phases.size() > 1; }
    double *variable(int field, std::size_t index) const { return cells + layout.at(field, index); }
};

// Stores the rows of cells beyond a side; across x the cells are one run.
inline void set_outer(Outer &outer, apps::Side side, const OuterRows &rows) {
    switch (side) {
        case apps::west:
            outer.west = rows.first;
            break;
        case apps::east:
            outer.east = rows.first;
            break;
        case apps::south:
            outer.south = rows;
            break;
        case apps::north:
            outer.north = rows;
            break;
        case apps::down:
            outer.down = rows;
            break;
        case apps::up:
            outer.up = rows;
            break;
    }
}

class Halo {
  public:
    Halo() = default;
    virtual ~Halo() = default;
    Halo(const Halo &) = delete;
    Halo &operator=(const Halo &) = delete;

    // The values of --faces, the default first.
    virtual std::vector<std::string> modes() const = 0;
    // Collective. Memory for the fields, which stays until the end of this object; by default from
    // the heap.
    virtual double *memory_for(const Domain &domain) { return heap_.take(domain.layout.cells()); }
    // Not collective; throws Failure. The domain and its cells must stay until close().
    virtual void prepare(const Domain &domain, const std::string &mode) = 0;
    // Collective; called when every rank is prepared.
    virtual void open() = 0;
    // The way in which the slabs across x, y and z are sent, for the report; "" for an axis without
    // neighbours.
    virtual std::array<std::string, 3> ways() const = 0;
    // Where a step that computes a variable of that field also stores the cells at the sides across
    // x, for the next exchange of that field.
    virtual Ends ends(int field, std::size_t variable) = 0;
    // Fills the ghost cells of `domain.together` variables of a field, from `first` on.
    virtual void exchange_slabs(int field, std::size_t first, Laps &laps) = 0;
    // Until release(): the addresses of cells beyond the sides that the exchange has not copied
    // into the ghost cells.
    virtual Outer outer(int field, std::size_t variable) = 0;
    // Called when the steps from the variables of the last exchange are complete.
    virtual void release(Laps &laps) = 0;
    // Collective. Each value becomes the sum of all ranks' values, the same on all ranks.
    virtual void sum(std::vector<double> &values) = 0;
    // Waits until the neighbours need nothing from this rank. Every rank calls it before its cells
    // are freed; a second call does nothing.
    virtual void close() = 0;

  private:
    apps::Pages heap_;
};

}  // namespace ghost
