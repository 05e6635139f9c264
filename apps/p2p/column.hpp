// A left column in memory that its rank and the one that writes it both load and store, with the
// counters by which they hand lines over: the pipeline's communication written by hand, for threads
// and for MPI's shared windows.
//
// Each counter has one writer and only grows. Nobody waits for a column to be free: a line of it is
// written again in the next sweep, and that begins when rank 0 has the corner of this one, which
// comes after all ranks have computed their last line.
#pragma once

#include "pipeline.hpp"

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cpu_pause.hpp"

namespace p2p {

constexpr std::size_t kLineBytes = 128;

class Counter {
  public:
    void add(std::int64_t amount) {
        // relaxed: this rank alone writes it.
        const std::int64_t now = count_.load(std::memory_order_relaxed) + amount;
        // SYNC p2p-lines: pairs with the acquire in wait_for(); the cells before their count.
        count_.store(now, std::memory_order_release);
    }
    // Polls, and gives the processor away now and then when it takes long: there may be more ranks
    // than processors.
    void wait_for(std::int64_t amount) const {
        for (unsigned turn = 1;; ++turn) {
            // SYNC p2p-lines: pairs with the release in add(); the cells after their count.
            if (count_.load(std::memory_order_acquire) >= amount) return;
            if (turn % kTurnsBeforeYield == 0) {
                sched_yield();
            } else {
                sennit::bench::cpu_pause();
            }
        }
    }

  private:
    static constexpr unsigned kTurnsBeforeYield = 256;

    alignas(kLineBytes) std::atomic<std::int64_t> count_{0};
};
static_assert(std::atomic<std::int64_t>::is_always_lock_free);
static_assert(sizeof(Counter) == kLineBytes);

// What lies at the beginning of the shared memory of a rank; its left column follows.
struct Column {
    Counter lines;    // of the left neighbour, in all sweeps
    Counter corners;  // at rank 0: of the last rank

    double *cells() { return reinterpret_cast<double *>(this + 1); }
    static std::size_t bytes(std::int64_t lines) {
        const std::size_t bytes = sizeof(Column) + static_cast<std::size_t>(lines) * sizeof(double);
        return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
    }
};

// The columns that a rank deals with, null where it has no such neighbour.
struct Columns {
    Column *own, *next;
};

// One sweep without its corner. `before` is how many lines earlier sweeps handed over. Waits for
// the lines of columns.own, and counts those of columns.next, whose cells are `right`.
inline void sweep_by_hand(const p2p_strip &strip, std::int64_t before, Columns columns,
                          double *right) {
    for (std::int64_t first = 1; first < strip.lines; first += strip.group) {
        const std::int64_t count = lines_of_group(strip, first);
        if (columns.own != nullptr) columns.own->lines.wait_for(before + first - 1 + count);
        p2p_block(&strip, first, count, right);
        if (columns.next != nullptr) columns.next->lines.add(count);
    }
}

// The corner goes from the last rank to rank 0, at the end of sweep number `sweeps`: rank 0 gives
// its own column as `columns.own`, the last rank gives rank 0's as `columns.next`; with one rank
// both are the same.
inline void pass_corner_by_hand(double corner, std::int64_t sweeps, Columns columns) {
    if (columns.next != nullptr) {
        columns.next->cells()[0] = corner;
        columns.next->corners.add(1);
    }
    if (columns.own != nullptr) columns.own->corners.wait_for(sweeps);
}

}  // namespace p2p
