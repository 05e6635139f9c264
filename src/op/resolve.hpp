// SPDX-License-Identifier: BSD-3-Clause
// Finds the entry of a global pointer, and attaches the segment at its first use. The cold part of
// memory::find().
#pragma once

#include "memory/entry.hpp"

namespace sennit::op {

// Reports that the global pointer is null; returns ARG.
[[gnu::cold]] sennit_status fail_null_pointer();

// Errors: ARG (null pointer), RANGE (rank), NOT_REGISTERED, OTHER_NODE, PEER_LOST, NOMEM, OS.
sennit_status resolve(Rank &rank, sennit_gptr gptr, memory::SegmentEntry **entry);

// Attaches a segment whose record is known. Replaces the entry of an earlier segment with this id.
sennit_status attach_known(Rank &rank, sennit_gptr gptr, const SegmentRecord &record);

// Copies the owner's record of a segment that one rank made alone (memory::kLocalSlot). The rank of
// `gptr` must be valid, and `gptr` not null. Errors: NOT_REGISTERED, OTHER_NODE, PEER_LOST, NOMEM.
sennit_status read_segment(Rank &rank, sennit_gptr gptr, SegmentRecord *record);

// Checks that `bytes` bytes at the pointer's offset are inside the segment. Errors: RANGE.
sennit_status check_range(const memory::SegmentEntry &entry, sennit_gptr gptr, std::size_t bytes);

}  // namespace sennit::op
