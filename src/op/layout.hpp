// SPDX-License-Identifier: BSD-3-Clause
// The shape of a strided or indexed transfer: which bytes of the global side belong to which of the
// private side. Made on the stack of a call from what the user gave, checked and simplified once;
// the op engine keeps a copy of its own for what it does later. Owns nothing but such a copy.
//
// Invariants of a layout that was made: no count is 0 unless `bytes` is; all offsets and lengths,
// and their sums, fit 63 bits; of a box, what can be one run is one.
#pragma once

#include <sennit/rma.h>

#include <cstddef>
#include <cstdint>

#include "op/engine.hpp"

namespace sennit::op {

inline constexpr int kBoxDimensions = 3;

// The lowest byte and the end of what a transfer touches on one side, from the place that the call
// names.
struct Hull {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

struct Layout {
    std::uint64_t bytes = 0;  // in all
    Hull remote;
    Hull local;
    // A list if not null, else a box. The caller's, or behind the copy.
    const sennit_piece *pieces = nullptr;
    std::size_t piece_count = 0;
    // A box of runs; dimension 0 is the innermost.
    std::uint64_t run_bytes = 0;
    std::uint64_t counts[kBoxDimensions] = {1, 1, 1};
    std::int64_t remote_strides[kBoxDimensions] = {0, 0, 0};
    std::int64_t local_strides[kBoxDimensions] = {0, 0, 0};
};

// Errors: ARG (elements of the destination that overlap, an element without bytes), RANGE (numbers
// that no address space holds).
sennit_status layout_of_box(const sennit_box &box, Direction direction, Layout *layout);
// The same for the boxes that programs have: small numbers, and strides of the destination that
// grow. False: another box, or a wrong one, and nothing is said of it.
bool layout_of_plain_box(const sennit_box &box, Direction direction, Layout *layout);
// Errors: RANGE.
sennit_status layout_of_list(const sennit_piece *pieces, std::size_t count, Layout *layout);

// Runs that are not empty; and the pieces that they are cut into, each of `most` bytes and no run's
// end inside.
std::uint64_t run_count(const Layout &layout);
std::uint64_t piece_count(const Layout &layout, std::uint64_t most);
// The same of bytes that are the runs of a layout, or lie together where that is null.
std::uint64_t piece_count(const Layout *layout, std::uint64_t bytes, std::uint64_t most);

// A copy that lives until layout_free(), with the pieces of a list behind it. Null: no memory.
Layout *layout_copy(const Layout &layout);
void layout_free(Layout *layout);
// The private side, run by run, goes into `packed`, of layout->bytes; the layout, made by
// layout_copy(), has its private side there from now on.
void layout_keep(Layout *layout, std::byte *packed, const std::byte *local);

// The part of one run that begins at byte `at` of the transfer, counted run by run.
struct LayoutPart {
    std::int64_t remote;  // from the place that the call names
    std::int64_t local;
    std::uint64_t bytes;  // to the end of the run, not 0
};
// Where a list was looked at last, so that going on costs nothing. Starts as {}.
struct Cursor {
    std::size_t piece = 0;
    std::uint64_t start = 0;  // bytes before it
};
// `at` is below layout.bytes.
LayoutPart layout_part(const Layout &layout, std::uint64_t at, Cursor *cursor);

// Moves everything between two places that load and store reach. If the two sides overlap in memory
// a buffer lies between, and the result is as if everything was read before anything was written.
// Errors: NOMEM (the buffer).
sennit_status layout_move(const Layout &layout, Direction direction, std::byte *remote,
                          std::byte *local);

}  // namespace sennit::op
