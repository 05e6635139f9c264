// From a global pointer to the entry that serves it, attaching the segment when this rank meets it
// for the first time. The cold half of memory::find().
#pragma once

#include "memory/entry.hpp"

namespace sennit::op {

// Errors: RANGE (rank), NOT_REGISTERED, OTHER_NODE, PEER_LOST, NOMEM, OS.
sennit_status resolve(Rank &rank, sennit_gptr gptr, memory::Entry **entry);

// Are `bytes` at the pointer's offset inside the segment? Errors: RANGE.
sennit_status check_range(const memory::Entry &entry, sennit_gptr gptr, std::size_t bytes);

}  // namespace sennit::op
