// SPDX-License-Identifier: BSD-3-Clause
// The limit on open files of this process (RLIMIT_NOFILE).
#pragma once

#include <sennit/error.h>

#include <cstdint>

namespace sennit::runtime {

// Makes room for `needed` more descriptors, for the start-up of the `ranks` ranks of a node. Raises
// the soft limit up to the hard one if necessary, permanently. Errors: OS, with both numbers.
sennit_status reserve_descriptors(int needed, int ranks);

// Raises the soft limit in the same way, for descriptors that may be opened later.
void raise_descriptor_limit(std::uint64_t needed);

// Whether the process has almost no free descriptors: perhaps a few among the last 32 numbers below
// its limit, or among the last eighth if that is fewer. *limit: the limit.
bool lacks_descriptors(std::uint64_t *limit);

}  // namespace sennit::runtime
