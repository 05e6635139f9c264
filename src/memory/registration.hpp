// SPDX-License-Identifier: BSD-3-Clause
// Makes segments of existing memory of the program: chooses the mechanism by which peers reach the
// memory, and writes the records for the peers. Functions with a `Rank &` need the rank's cold
// mutex (Rank::cold).
#pragma once

#include <cstdint>

#include "memory/refusal.hpp"
#include "memory/segments.hpp"

namespace sennit::memory {

struct RegistrationArgs {
    void *memory = nullptr;
    std::uint64_t bytes = 0;
    bool consents = false;  // SENNIT_REGISTER_SHARED_PAGES
    // With SENNIT_REGISTER_STACK: the lowest address of the program's own frames. 0: stack memory
    // must not move.
    std::uint64_t stack_frames = 0;
};

// Makes a segment of the memory, which keeps its address in the program. Errors: NOMEM, UNSUPPORTED
// (SENNIT_REGISTER leaves no usable mechanism), and the error of a network that refuses the
// segment.
sennit_status segment_register(Rank &rank, const RegistrationArgs &args, SegmentRecord **record);

// Makes a segment of the memory for the duration of a collective call, with the mechanism `copied`.
// Errors: NOMEM, and the error of a network that refuses the segment.
sennit_status segment_lend(Rank &rank, void *memory, std::uint64_t bytes, SegmentRecord **record);

// Undoes the mechanism of a registered or lent segment; adopted memory moves back, for example.
// Called after segment_withdraw().
void registration_end(Rank &rank, const SegmentRecord &record);

// Whether the record is a later one of a region with several records, and no segment of its own.
inline bool continues_region(const SegmentRecord &record) {
    return record.kind == SegmentKind::registered && record.view_offset != 0;
}

// Checks the list of SENNIT_REGISTER at start-up. Errors: ARG.
sennit_status registration_check_knob();

// The name, as returned by sennit_mechanism_name(). SENNIT_REGISTER uses the same names.
const char *mechanism_name(Mechanism mechanism);

// Why the mechanism was not used for the record's region.
Refused registration_refusal(const SegmentRecord &record, Mechanism mechanism);

}  // namespace sennit::memory
