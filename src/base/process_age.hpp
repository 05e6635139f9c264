// SPDX-License-Identifier: BSD-3-Clause
// The start time of a process, from /proc. Together with the process id it identifies a process: a
// later process may get the same id.
#pragma once

#include <cstdint>

namespace sennit {

// Low bits of the start time in ticks since the boot of the node; equal in all pid namespaces. 0 if
// there is no such process, if it is a zombie, or if /proc does not have it.
std::uint32_t process_start_ticks(int process_id);

}  // namespace sennit
