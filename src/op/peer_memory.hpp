// SPDX-License-Identifier: BSD-3-Clause
// Access of the layers above op/ to a peer besides user data: its control block, and attaching
// segments. They see no paths and no transports.
#pragma once

#include "memory/segments.hpp"

namespace sennit::op {

// Blocking copy to private memory from the control block of a peer that load and store do not
// reach; nothing of the private memory is lent on return. Errors: as engine_start(), OTHER_NODE.
sennit_status get_control(Rank &rank, int peer, std::size_t offset, void *destination,
                          std::size_t bytes);

// The same as path::attach and path::detach; both need the cold mutex.
sennit_status attach_segment(Rank &rank, int peer, const SegmentRecord &record, std::uint32_t id);
void detach_segment(Rank &rank, int peer, std::uint32_t id);

// Makes a segment that this rank has just created alone usable by itself, or destroys it on
// failure. Needs the cold mutex. Errors: as attach_segment().
sennit_status attach_own(Rank &rank, SegmentRecord *record, sennit_gptr *gptr);

}  // namespace sennit::op
