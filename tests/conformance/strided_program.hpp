// Random boxes and lists, with an oracle that moves them byte by byte.
//
// A program is a sequence of phases. All ranks draw it from the same numbers and keep the same
// model of all memory. In a phase one rank uses each piece of memory, and a barrier separates
// phases. The places of its elements describe a transfer: the oracle never uses strides. A failure
// names the step and can be shrunk (shrink.py).
#pragma once

#include "harness.hpp"

namespace conformance {

// One transfer: the arguments of its call, and a list of its bytes.
struct Shape {
    bool is_box = true;
    sennit_box box{};
    std::vector<sennit_piece> pieces;
    // Every moved byte, relative to the lowest touched byte on each side.
    std::vector<std::pair<std::size_t, std::size_t>> bytes;  // remote, local
    std::size_t remote_span = 0;
    std::size_t local_span = 0;
    std::size_t remote_origin = 0;  // of the named place, relative to the lowest byte
    std::size_t local_origin = 0;
};

// A shape of at most `most` bytes on the remote side, without overlap at the destination.
Shape draw_shape(Random &draw, bool is_put, std::size_t most);

// Runs programs in memory from Sennit and, if wanted, registered private memory.
void run_strided_program(Ranks &test, int phases, bool with_private_memory);

}  // namespace conformance
