// SPDX-License-Identifier: BSD-3-Clause
// Memory that the program has already, as segments: which mechanism takes it, and the records that
// tell the peers. Called with the rank's cold mutex held, except where noted.
#pragma once

#include <cstdint>

#include "memory/refusal.hpp"
#include "memory/segments.hpp"

namespace sennit::memory {

struct RegistrationArgs {
    void *memory = nullptr;
    std::uint64_t bytes = 0;
    bool consents = false;  // SENNIT_REGISTER_SHARED_PAGES
    // SENNIT_REGISTER_STACK: no frame of the program lies below it; 0: stacks stay.
    std::uint64_t stack_frames = 0;
};

// A live segment over the memory, which stays where the program sees it. Errors: NOMEM (the
// segments of a rank), UNSUPPORTED (SENNIT_REGISTER leaves no mechanism that can take it).
sennit_status segment_register(Rank &rank, const RegistrationArgs &args, SegmentRecord **record);

// The same for the time of a collective call: the memory stays where it is, and the kernel copies
// for the peers. Errors: NOMEM.
sennit_status segment_lend(Rank &rank, void *memory, std::uint64_t bytes, SegmentRecord **record);

// The part of segment_destroy() for such a segment, after its words of life have gone.
void registration_end(Rank &rank, const SegmentRecord &record);

// Does the record continue another one's region? It is no segment by itself.
inline bool continues_region(const SegmentRecord &record) {
    return record.kind == SegmentKind::registered && record.view_offset != 0;
}

// Is the list of SENNIT_REGISTER one? In start-up. Errors: ARG.
sennit_status registration_check_knob();

// As in SENNIT_REGISTER and `sennit_mechanism_name`.
const char *mechanism_name(Mechanism mechanism);

// Which of the reasons in a record is about the mechanism.
Refused registration_refusal(const SegmentRecord &record, Mechanism mechanism);

}  // namespace sennit::memory
