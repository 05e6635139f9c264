// Random boxes and lists, and an oracle that moves them byte by byte.
//
// A program is a row of phases. All ranks draw it from the same numbers and keep the same model of
// all memory; in a phase each piece of memory has one rank that uses it, and between phases lies a
// barrier. A transfer is described by the places of its elements alone: the oracle never looks at
// strides. A failure names the step and can be shrunk (shrink.py).
#pragma once

#include "harness.hpp"

namespace conformance {

// One transfer, as it is called and as a list of what it does.
struct Shape {
    bool is_box = true;
    sennit_box box{};
    std::vector<sennit_piece> pieces;
    // Every byte moved, from the lowest byte touched on either side.
    std::vector<std::pair<std::size_t, std::size_t>> bytes;  // remote, local
    std::size_t remote_span = 0;
    std::size_t local_span = 0;
    std::size_t remote_origin = 0;  // of the named place, from the lowest byte
    std::size_t local_origin = 0;
};

// A shape that spans at most `most` bytes on the remote side, destination elements apart.
Shape draw_shape(Random &draw, bool is_put, std::size_t most);

// Runs whole programs over memory that Sennit allocated (and registered private memory, if so).
void run_strided_program(Ranks &test, int phases, bool with_private_memory);

}  // namespace conformance
