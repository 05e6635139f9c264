// SPDX-License-Identifier: BSD-3-Clause
// A process by its number and the moment of its start, as /proc has them: no later process of the
// same number is taken for it. Cold: two or three system calls.
#pragma once

#include <cstdint>

namespace sennit {

// Low bits of the start in ticks since the node's, which is the same in all pid namespaces; 0 if
// there is no such process, if it has ended and waits for its parent, or if /proc does not tell.
std::uint32_t process_start_ticks(int process_id);

}  // namespace sennit
