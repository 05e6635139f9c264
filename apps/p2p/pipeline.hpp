// The communication of lines between ranks: one interface that all programs implement. run.cpp
// calls it; each program has one implementation.
//
// Strips are ordered by rank. A rank computes a group of lines when its left column has them, and
// then hands its last column to the rank on its right, as that rank's left column. When the last
// rank has computed the last line, rank 0 receives minus the top right cell as left[0]; so the next
// sweep begins when the one before has ended on all ranks. Errors are Failures; an error that some
// ranks may not see is Lost.
#pragma once

#include "kernel.h"
#include "options.hpp"

#include "common/ranks.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace p2p {

class Pipeline {
  public:
    Pipeline() = default;
    virtual ~Pipeline() = default;
    Pipeline(const Pipeline &) = delete;
    Pipeline &operator=(const Pipeline &) = delete;

    virtual apps::Ranks &ranks() = 0;
    // The communication library, in a word for the report.
    virtual const char *backend() const = 0;
    // The values of --way, the default first. Not collective.
    virtual std::vector<std::string> ways() const { return {"plain"}; }

    // Connects the ranks. Returns the left column of this rank, [options.lines]; no other rank
    // writes it before the next barrier. Collective, called once.
    virtual double *open(const Options &options) = 0;
    // Computes all lines from 1 on, and brings the corner to rank 0. Collective.
    virtual void sweep(const p2p_strip &strip) = 0;
    // Closes what open() opened: no other rank uses this rank's column after it. Collective.
    virtual void close() = 0;
};

inline std::int64_t lines_of_group(const p2p_strip &strip, std::int64_t first) {
    return std::min(strip.group, strip.lines - first);
}

}  // namespace p2p
