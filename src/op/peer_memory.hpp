// SPDX-License-Identifier: BSD-3-Clause
// Access to a peer's control block and segments for the layers above op/, which do not use paths or
// transports.
#pragma once

#include "memory/segments.hpp"

namespace sennit::op {

// Copies from the control block of a peer that load and store do not reach, and waits. The engine
// does not write to `destination` after the return. Errors: those of engine_start(), OTHER_NODE.
sennit_status get_control(Rank &rank, int peer, std::size_t offset, void *destination,
                          std::size_t bytes);

// path::attach and path::detach; both need the cold mutex.
sennit_status attach_segment(Rank &rank, int peer, const SegmentRecord &record, std::uint32_t id);
void detach_segment(Rank &rank, int peer, std::uint32_t id);

// Attaches a segment that this rank has just created alone, or destroys it on failure. Needs the
// cold mutex. Errors: those of attach_segment().
sennit_status attach_own(Rank &rank, SegmentRecord *record, sennit_gptr *gptr);

}  // namespace sennit::op
