// SPDX-License-Identifier: BSD-3-Clause
// Strided and indexed put and get for api/: one look-up, one bounds check, then the way of the
// path.
#pragma once

#include "op/layout.hpp"
#include "op/rma.hpp"

namespace sennit::op {

// A put only reads `local`. Errors: those of op::transfer().
sennit_status transfer_layout(Rank &rank, Direction direction, sennit_gptr remote, void *local,
                              const Layout &layout, const Completion &completion);

// The caller's side of a transfer.
struct Moved {
    void *local;  // a put only reads it
    std::size_t bytes;
    const Layout *layout;  // the runs of the bytes; null: contiguous
};
// transfer() or transfer_layout(), and message_target() of either. A layout must not be empty.
sennit_status transfer_moved(Rank &rank, Direction direction, sennit_gptr remote,
                             const Moved &moved, const Completion &completion);
sennit_status target_of_moved(Rank &rank, sennit_gptr remote, const Moved &moved, Target *target,
                              bool *by_message);
// The same as transfer_moved() for data that only messages carry; with `then` and `at_end`. The
// thread's error has the reason of a failure.
sennit_status start_by_message(Rank &rank, Direction direction, sennit_gptr remote,
                               const Moved &moved, const Completion &completion);

// Whether tasks carry the runs of a put faster than a write for each, and the data may be copied.
// The peer is reached by messages.
bool goes_packed(Rank &rank, int peer, const Layout &layout);

// Whether the bytes that the layout touches are inside `bytes` bytes, if the named place is at
// `place`.
bool lies_inside(const Hull &hull, std::uint64_t place, std::uint64_t bytes);

// True if the box is a plain one that load and store reach, and was moved; else nothing was moved.
bool moved_at_once(Rank &rank, Direction direction, sennit_gptr remote, void *local,
                   const sennit_box &box);

}  // namespace sennit::op
