// SPDX-License-Identifier: BSD-3-Clause
// Regions of memory that the program had before: making and ending them. Below the public calls of
// the same names, and what opening and closing a channel uses.
#pragma once

#include "memory/registration.hpp"

namespace sennit::op {

// Errors: ARG (the memory is null, not mapped, or runs past the end of addresses), RANGE (it lies
// in part inside a segment), and those of memory::segment_register and attach_own.
sennit_status register_region(Rank &rank, const memory::RegistrationArgs &args,
                              sennit_region *region);

// Errors: NOT_REGISTERED, ARG (the region's pointer was moved), and those of check_region.
sennit_status deregister_region(Rank &rank, sennit_region region);

// Does the region lie inside a segment that this rank reaches? Errors: those of resolve, RANGE.
sennit_status check_region(Rank &rank, sennit_region region);

}  // namespace sennit::op
