// SPDX-License-Identifier: BSD-3-Clause
// The error of a rank that does not exist.
#pragma once

#include "base/fail.hpp"

namespace sennit {

// RANGE: `rank` is no number below `ranks`; `more` follows the text. The text says so if it is
// SENNIT_RANK_NONE, which grids give beyond an edge.
[[gnu::cold, gnu::noinline]] sennit_status fail_no_rank(int rank, std::uint32_t ranks,
                                                        const char *more = "");

}  // namespace sennit
