// SPDX-License-Identifier: BSD-3-Clause
// The kernels of reductions: result[i] = left[i] op right[i]. One function for each operator and
// type, all from one template, found through a table. Called by the collectives and by
// accumulates under a lock; nothing here knows of ranks.
#pragma once

#include <sennit/type.h>

#include <cstddef>

namespace sennit {

// `result` may be `left` or `right`; other overlaps are not allowed. Any alignment.
using Kernel = void (*)(const void *left, const void *right, void *result, std::size_t count);

// Null if the operator is none of that type, or one of the two is unknown.
Kernel find_kernel(sennit_type type, sennit_operator op);

// 0 for an unknown type.
std::size_t type_bytes(int type);

}  // namespace sennit
