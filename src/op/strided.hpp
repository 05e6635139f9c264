// SPDX-License-Identifier: BSD-3-Clause
// Strided and indexed put and get as api/ calls them: one look-up, one check of bounds, and then
// the way that the path takes.
#pragma once

#include "op/layout.hpp"
#include "op/rma.hpp"

namespace sennit::op {

// `local` is only read for a put. Errors: those of op::transfer.
sennit_status transfer_layout(Rank &rank, Direction direction, sennit_gptr remote, void *local,
                              const Layout &layout, const Completion &completion);

// What a call moves on its own side.
struct Moved {
    void *local;  // a put only reads it
    std::size_t bytes;
    const Layout *layout;  // the runs that the bytes are; null: they lie together
};
// transfer() or transfer_layout(), and message_target() of either. A layout is not empty.
sennit_status transfer_moved(Rank &rank, Direction direction, sennit_gptr remote,
                             const Moved &moved, const Completion &completion);
sennit_status target_of_moved(Rank &rank, sennit_gptr remote, const Moved &moved, Target *target,
                              bool *by_message);
// As transfer_moved(), of what messages alone carry; with `then` and `at_end`. The thread's error
// says why where it fails.
sennit_status start_by_message(Rank &rank, Direction direction, sennit_gptr remote,
                               const Moved &moved, const Completion &completion);

// Do tasks bring the runs of a put faster than a write for each, and may they be copied? The peer
// is reached by messages.
bool goes_packed(Rank &rank, int peer, const Layout &layout);

// Does what the layout touches lie in `bytes` bytes, where `place` is that of its named place?
bool lies_inside(const Hull &hull, std::uint64_t place, std::uint64_t bytes);

// True if the box is a plain one that load and store reach, and it is moved; else nothing is.
bool moved_at_once(Rank &rank, Direction direction, sennit_gptr remote, void *local,
                   const sennit_box &box);

}  // namespace sennit::op
