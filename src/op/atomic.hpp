// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations for api/ and lock/. This rank executes them on memory that load and store
// reach. For other memory the op engine sends tasks to the owner.
#pragma once

#include "op/direct.hpp"
#include "op/elements.hpp"
#include "op/rma.hpp"

namespace sennit::op {

// The address of the word at `gptr` for a direct atomic operation. Null in any unusual case: the
// caller then uses atomic(), which finds the reason.
template <class T, Look kLook>
inline T *direct_word(Rank &rank, sennit_gptr gptr) {
    const memory::SegmentEntry *entry = direct_entry<kLook>(rank, gptr, sizeof(T));
    if (entry == nullptr) [[unlikely]]
        return nullptr;
    std::byte *place = entry->base + gptr.offset;
    if (entry->actor != AtomicsActor::processor ||
        reinterpret_cast<std::uintptr_t>(place) % sizeof(T) != 0) [[unlikely]]
        return nullptr;
    return reinterpret_cast<T *>(place);
}

struct AtomicArgs {
    std::uint8_t operation = 0;  // sennit_operator or kCompareSwap
    sennit_type type = SENNIT_INT64;
    sennit_gptr target = SENNIT_GPTR_NULL;
    const void *source = nullptr;  // `count` elements; expected and new value for kCompareSwap
    void *result = nullptr;        // receives the old elements; may be null
    std::size_t count = 1;
};

// Handles all cases. Errors: ARG, RANGE, NOT_REGISTERED, OTHER_NODE, UNSUPPORTED, TIMEOUT (the
// segment's lock), and those of engine_start().
sennit_status atomic(Rank &rank, const AtomicArgs &args, const Completion &completion);

}  // namespace sennit::op
