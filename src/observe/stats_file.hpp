// SPDX-License-Identifier: BSD-3-Clause
// This rank's part of the file of SENNIT_STATS. The counters are in the rank's memory; a thread
// writes changed counters into the file every kWriteNs. The file is not mapped: if somebody
// truncated it, a store would end the program by SIGBUS.
#pragma once

#include "observe/observer_state.hpp"

namespace sennit::runtime {

inline constexpr std::int64_t kWriteNs = 100'000'000;

struct StatsFile;

// Called when start-up has succeeded. Null with errno.
StatsFile *stats_file_open(const Observer &observer);
// Writes the last counts. False with errno: some counts could not be written, now or earlier.
bool stats_file_close(StatsFile *file);

}  // namespace sennit::runtime
