// SPDX-License-Identifier: BSD-3-Clause
// Registers and deregisters regions of existing memory, for the public calls and for channels.
#pragma once

#include "memory/registration.hpp"

namespace sennit::op {

// Errors: ARG (the memory is null, not mapped, or exceeds the address space), RANGE (a part of it
// is inside a segment), and those of memory::segment_register and attach_own.
sennit_status register_region(Rank &rank, const memory::RegistrationArgs &args,
                              sennit_region *region);

// Reports that the region is null; returns ARG.
[[gnu::cold]] sennit_status fail_null_region();

// Errors: NOT_REGISTERED, ARG (the region's pointer was moved), and those of check_region.
sennit_status deregister_region(Rank &rank, sennit_region region);

// Checks that the region is inside a segment that this rank reaches. Errors: those of resolve,
// RANGE.
sennit_status check_region(Rank &rank, sennit_region region);

}  // namespace sennit::op
