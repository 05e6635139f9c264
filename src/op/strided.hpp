// SPDX-License-Identifier: BSD-3-Clause
// Strided and indexed put and get for api/: one lookup, one bounds check, then the transfer by the
// segment's path.
#pragma once

#include "op/layout.hpp"
#include "op/rma.hpp"

namespace sennit::op {

// A put only reads `local`. Errors: those of op::transfer().
sennit_status transfer_layout(Rank &rank, Direction direction, sennit_gptr remote, void *local,
                              const Layout &layout, const Completion &completion);

// The private side of a transfer.
struct Moved {
    void *local;  // a put only reads it
    std::size_t bytes;
    const Layout *layout;  // the runs of the bytes; null: contiguous
};
// transfer_moved() calls transfer() or transfer_layout(). target_of_moved() fills *target like
// message_target(). A layout must not be empty.
sennit_status transfer_moved(Rank &rank, Direction direction, sennit_gptr remote,
                             const Moved &moved, const Completion &completion);
sennit_status target_of_moved(Rank &rank, sennit_gptr remote, const Moved &moved, Target *target,
                              bool *by_message);
// Like transfer_moved(), for memory that only messages reach; supports Completion::then and at_end.
// On failure the thread's error has the reason.
sennit_status start_by_message(Rank &rank, Direction direction, sennit_gptr remote,
                               const Moved &moved, const Completion &completion);

// Whether tasks carry the runs of a put faster than a write for each run, and the data may be
// copied. The peer must be reached by messages.
bool goes_packed(Rank &rank, int peer, const Layout &layout);

// Whether the touched bytes are inside a segment of `bytes` bytes, if the call's address is at
// `place`.
bool lies_inside(const Hull &hull, std::uint64_t place, std::uint64_t bytes);

// Moves a plain box that load and store reach. False: another case (not plain, not reached, no
// memory for a buffer); nothing was moved.
bool moved_at_once(Rank &rank, Direction direction, sennit_gptr remote, void *local,
                   const sennit_box &box);

}  // namespace sennit::op
