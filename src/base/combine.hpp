// SPDX-License-Identifier: BSD-3-Clause
// The kernels of reductions and accumulates: result[i] = left[i] op right[i]. There is one function
// for each operator and type.
#pragma once

#include <sennit/type.h>

#include <cstddef>

namespace sennit {

// `result` may equal `left` or `right`; it must not overlap them otherwise. Any alignment.
using Kernel = void (*)(const void *left, const void *right, void *result, std::size_t count);

// Null if the type does not have the operator, or if one of the two is unknown.
Kernel find_kernel(sennit_type type, sennit_operator op);

// 0 for an unknown type.
std::size_t type_bytes(int type);

}  // namespace sennit
