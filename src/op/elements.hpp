// SPDX-License-Identifier: BSD-3-Clause
// Executes atomic operations on elements in memory, both for direct operations and for received
// tasks. Called by op/atomic.cpp and op/task.cpp; owns nothing.
#pragma once

#include <sennit/type.h>

#include <cstddef>
#include <cstdint>

namespace sennit::op {

// The size of an element. 0: an invalid type, or long double, which has no atomic operations.
std::size_t element_bytes(int type);

// Whether the operator exists for elements of this type. kCompareSwap exists for 4 and 8 bytes.
bool operator_fits(int operation, int type);

// memory[i] := memory[i] OPERATION source[i], each element by one atomic step. `memory` is aligned
// to the element; `source` and `result` need not be. `result` receives the old elements and may be
// null. `source` may be null for NO_OP, and has two elements for kCompareSwap. The operation must
// fit the type.
struct ElementsArgs {
    std::uint8_t operation = 0;
    sennit_type type = SENNIT_INT64;
    std::byte *memory = nullptr;
    const std::byte *source = nullptr;
    std::byte *result = nullptr;
    std::size_t count = 0;
};
void update_elements(const ElementsArgs &args);

// Does the same with plain vector instructions, for memory that no other rank changes meanwhile.
void update_elements_alone(const ElementsArgs &args);

}  // namespace sennit::op
