// SPDX-License-Identifier: BSD-3-Clause
// From a global pointer to the entry that serves it, attaching the segment when this rank meets it
// for the first time. The cold half of memory::find().
#pragma once

#include "memory/entry.hpp"

namespace sennit::op {

// Errors: RANGE (rank), NOT_REGISTERED, OTHER_NODE, PEER_LOST, NOMEM, OS.
sennit_status resolve(Rank &rank, sennit_gptr gptr, memory::SegmentEntry **entry);

// A copy of what the owner says of a segment that one rank made alone (memory::kLocalSlot). The
// rank is in range. Errors: NOT_REGISTERED, OTHER_NODE, PEER_LOST, NOMEM.
sennit_status read_segment(Rank &rank, sennit_gptr gptr, SegmentRecord *record);

// Are `bytes` at the pointer's offset inside the segment? Errors: RANGE.
sennit_status check_range(const memory::SegmentEntry &entry, sennit_gptr gptr, std::size_t bytes);

}  // namespace sennit::op
