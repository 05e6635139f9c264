// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations for api/ and team/. Memory that load and store reach is changed here at once;
// the rest goes to the op engine as tasks for the owner.
#pragma once

#include "op/direct.hpp"
#include "op/elements.hpp"
#include "op/rma.hpp"

namespace sennit::op {

// The address for an atomic operation on the word at `gptr` at once; null in any unusual case: the
// caller then takes the cold path, which finds the reason.
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
    void *result = nullptr;        // null: without the old elements
    std::size_t count = 1;
};

// The general way. Errors: ARG, RANGE, NOT_REGISTERED, OTHER_NODE, UNSUPPORTED, and those of
// op/engine.hpp.
sennit_status atomic(Rank &rank, const AtomicArgs &args, const Completion &completion);

}  // namespace sennit::op
