// SPDX-License-Identifier: BSD-3-Clause
// The limit on open files of this process (RLIMIT_NOFILE).
#pragma once

#include <sennit/error.h>

#include <cstdint>

namespace sennit::runtime {

// Makes room for `needed` more descriptors, which the ranks of a node (`ranks` of them) take in
// start-up. The soft limit is raised to the hard one if need be, and stays so. Errors: OS, with
// both numbers.
sennit_status reserve_descriptors(int needed, int ranks);

// Raises the soft limit in the same way, for what may be opened later.
void raise_descriptor_limit(std::uint64_t needed);

// Are all taken but for an eighth of them, or 32? The kernel gives the lowest number that is free.
// *limit: how many the process may have.
bool lacks_descriptors(std::uint64_t *limit);

}  // namespace sennit::runtime
