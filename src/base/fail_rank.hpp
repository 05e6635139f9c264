// SPDX-License-Identifier: BSD-3-Clause
// The error of a rank that does not exist.
#pragma once

#include "base/fail.hpp"

namespace sennit {

// RANGE: `rank` is not one of 0 to `ranks` - 1. The text ends with `more`. It mentions
// SENNIT_RANK_NONE if `rank` has that value, which grids return for neighbours beyond an edge.
[[gnu::cold, gnu::noinline]] sennit_status fail_no_rank(int rank, std::uint32_t ranks,
                                                        const char *more = "");

}  // namespace sennit
