// SPDX-License-Identifier: BSD-3-Clause
// Makes segments of existing memory of the program: chooses the mechanism and writes the records
// for the peers. Functions with a `Rank &` need its cold mutex.
#pragma once

#include <cstdint>

#include "memory/refusal.hpp"
#include "memory/segments.hpp"

namespace sennit::memory {

struct RegistrationArgs {
    void *memory = nullptr;
    std::uint64_t bytes = 0;
    bool consents = false;  // SENNIT_REGISTER_SHARED_PAGES
    // SENNIT_REGISTER_STACK: the lowest address of the program's own frames. 0: no stack memory
    // moves.
    std::uint64_t stack_frames = 0;
};

// Makes a live segment of the memory, which keeps its address in the program. Errors: NOMEM (the
// rank has too many segments), UNSUPPORTED (SENNIT_REGISTER leaves no usable mechanism).
sennit_status segment_register(Rank &rank, const RegistrationArgs &args, SegmentRecord **record);

// The same for the duration of a collective call, always with the mechanism `copied`. Errors:
// NOMEM.
sennit_status segment_lend(Rank &rank, void *memory, std::uint64_t bytes, SegmentRecord **record);

// Ends the mechanism of a registered or lent segment, after its live words are cleared.
void registration_end(Rank &rank, const SegmentRecord &record);

// Whether the record continues a region of several records: it is no segment of its own.
inline bool continues_region(const SegmentRecord &record) {
    return record.kind == SegmentKind::registered && record.view_offset != 0;
}

// Checks the list of SENNIT_REGISTER at start-up. Errors: ARG.
sennit_status registration_check_knob();

// The name in SENNIT_REGISTER and `sennit_mechanism_name`.
const char *mechanism_name(Mechanism mechanism);

// Why the mechanism was not used for the record's region.
Refused registration_refusal(const SegmentRecord &record, Mechanism mechanism);

}  // namespace sennit::memory
