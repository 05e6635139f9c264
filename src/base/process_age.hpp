// SPDX-License-Identifier: BSD-3-Clause
// Identifies a process by its id and its start time from /proc, so that a later process with the
// same id is not taken for it. Takes two or three system calls.
#pragma once

#include <cstdint>

namespace sennit {

// Low bits of the start time in ticks since the boot of the node; equal in all pid namespaces. 0 if
// there is no such process, if it is a zombie, or if /proc does not have it.
std::uint32_t process_start_ticks(int process_id);

}  // namespace sennit
