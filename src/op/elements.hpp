// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations on elements in memory, by the processor: what both a direct atomic operation
// and a task that arrived end in. Called by op/atomic.cpp and op/task.cpp; owns nothing.
#pragma once

#include <sennit/type.h>

#include <cstddef>
#include <cstdint>

namespace sennit::op {

// 0 for a value that is no type, and for long double, which no processor changes at once.
std::size_t element_bytes(int type);

// Is there such an operator for elements of that type? kCompareSwap is one for 4 and 8 bytes.
bool operator_fits(int operation, int type);

// memory[i] := memory[i] OPERATION source[i], each element by one atomic step. `memory` is aligned
// to the element, `source` and `result` need not be; `result`, which gets the old elements, may be
// null. `source` may be null for NO_OP, and has two elements for kCompareSwap. The operation fits
// the type.
struct ElementsArgs {
    std::uint8_t operation = 0;
    sennit_type type = SENNIT_INT64;
    std::byte *memory = nullptr;
    const std::byte *source = nullptr;
    std::byte *result = nullptr;
    std::size_t count = 0;
};
void update_elements(const ElementsArgs &args);

// The same by plain vector instructions: of memory that nobody else changes meanwhile.
void update_elements_alone(const ElementsArgs &args);

}  // namespace sennit::op
