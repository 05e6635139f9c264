// A left column in memory that both its rank and its writer load and store, with the counters by
// which they hand lines over: the pipeline's communication written by hand, for threads and for
// MPI's shared windows.
//
// Each counter has one writer and only grows. No rank waits for a column to be free: a line of it
// is written again in the next sweep, which begins when rank 0 has received the corner of this one,
// after all ranks have computed their last line.
#pragma once

#include "pipeline.hpp"

#include "common/counter.hpp"

#include <cstddef>
#include <cstdint>

namespace p2p {

// The begin of a rank's shared memory; its left column follows.
struct Column {
    apps::Counter groups;   // of lines that the left neighbour has handed over, in all sweeps
    apps::Counter corners;  // at rank 0: of the last rank

    double *cells() { return reinterpret_cast<double *>(this + 1); }
    static std::size_t bytes(std::int64_t lines) {
        const std::size_t bytes = sizeof(Column) + static_cast<std::size_t>(lines) * sizeof(double);
        return (bytes + apps::Counter::kLineBytes - 1) / apps::Counter::kLineBytes *
               apps::Counter::kLineBytes;
    }
};

// The columns that a rank uses; null if it has no such neighbour.
struct Columns {
    Column *own, *next;
};

// One sweep without its corner. `groups` counts the groups that are handed over in all sweeps.
// Waits for the groups of columns.own, and counts those of columns.next. `right` is the cells of
// columns.next.
inline void sweep_by_hand(const p2p_strip &strip, std::int64_t &groups, Columns columns,
                          double *right) {
    for (std::int64_t first = 1; first < strip.lines; first += strip.group) {
        ++groups;
        if (columns.own != nullptr) columns.own->groups.wait_for(groups);
        p2p_block(&strip, first, lines_of_group(strip, first), right);
        if (columns.next != nullptr) columns.next->groups.add_one();
    }
}

// The corner goes from the last rank to rank 0, at the end of sweep number `sweeps`. Rank 0 passes
// its own column as `columns.own`, the last rank passes rank 0's column as `columns.next`. With one
// rank both are the same.
inline void pass_corner_by_hand(double corner, std::int64_t sweeps, Columns columns) {
    if (columns.next != nullptr) {
        columns.next->cells()[0] = corner;
        columns.next->corners.add_one();
    }
    if (columns.own != nullptr) columns.own->corners.wait_for(sweeps);
}

}  // namespace p2p
