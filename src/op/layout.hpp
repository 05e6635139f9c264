// SPDX-License-Identifier: BSD-3-Clause
// The shape of a strided or indexed transfer, which maps bytes of the global side to bytes of the
// private side. A call makes it on the stack from the user's arguments, checked and simplified; the
// op engine copies it. Owns nothing, except in such a copy.
//
// Invariants of a finished layout: no count is 0 unless `bytes` is; all offsets, lengths and their
// sums fit 63 bits; contiguous runs of a box are merged.
#pragma once

#include <sennit/rma.h>

#include <cstddef>
#include <cstdint>

#include "op/engine.hpp"

namespace sennit::op {

inline constexpr int kBoxDimensions = 3;

// The range of bytes that a transfer touches on one side, relative to the address in the call.
struct Hull {
    std::int64_t begin = 0;
    std::int64_t end = 0;
};

struct Layout {
    std::uint64_t bytes = 0;  // total
    Hull remote;
    Hull local;
    // Null: a box; else a list: the caller's array, or in a copy the array after the Layout.
    const sennit_piece *pieces = nullptr;
    std::size_t piece_count = 0;
    // A box of runs; dimension 0 is the innermost.
    std::uint64_t run_bytes = 0;
    std::uint64_t counts[kBoxDimensions] = {1, 1, 1};
    std::int64_t remote_strides[kBoxDimensions] = {0, 0, 0};
    std::int64_t local_strides[kBoxDimensions] = {0, 0, 0};
};

// Errors: ARG (overlapping elements of the destination, an element without bytes), RANGE (numbers
// beyond any address space).
sennit_status layout_of_box(const sennit_box &box, Direction direction, Layout *layout);
// A fast version for common boxes: small numbers, and growing strides of the destination. False:
// any other box, valid or not.
bool layout_of_plain_box(const sennit_box &box, Direction direction, Layout *layout);
// Errors: RANGE.
sennit_status layout_of_list(const sennit_piece *pieces, std::size_t count, Layout *layout);

// The number of nonempty runs.
std::uint64_t run_count(const Layout &layout);
// The number of pieces of at most `most` bytes, if no piece crosses the end of a run.
std::uint64_t piece_count(const Layout &layout, std::uint64_t most);
// The same for the runs of a layout, or for contiguous bytes if it is null.
std::uint64_t piece_count(const Layout *layout, std::uint64_t bytes, std::uint64_t most);

// Makes a copy, followed by the pieces of a list. The caller must call layout_free(). Null: no
// memory.
Layout *layout_copy(const Layout &layout);
void layout_free(Layout *layout);
// Copies the private side, run by run, to `packed`, which has layout->bytes bytes. Then makes
// `packed` the private side of the layout, which is a layout_copy().
void layout_keep(Layout *layout, std::byte *packed, const std::byte *local);

// The part of one run that starts at byte `at` of the transfer, counted run by run.
struct LayoutPart {
    std::int64_t remote;  // relative to the address in the call
    std::int64_t local;
    std::uint64_t bytes;  // to the end of the run, not 0
};
// The last position in a list, so that layout_part() need not search. Starts as {}.
struct Cursor {
    std::size_t piece = 0;
    std::uint64_t start = 0;  // bytes before the piece
};
// `at` must be below layout.bytes.
LayoutPart layout_part(const Layout &layout, std::uint64_t at, Cursor *cursor);

// Moves everything between two sides that load and store reach. If the sides overlap in memory, it
// reads everything into a buffer before it writes. Errors: NOMEM (the buffer).
sennit_status layout_move(const Layout &layout, Direction direction, std::byte *remote,
                          std::byte *local);

}  // namespace sennit::op
