// SPDX-License-Identifier: BSD-3-Clause
// This rank's part of the file of SENNIT_STATS. The counters are in the rank's own memory; a thread
// copies what has changed into the file, kWriteNs after the last time at most. The file is not
// mapped: whoever cuts it off would end the program by SIGBUS.
#pragma once

#include "observe/observer_state.hpp"

namespace sennit::runtime {

inline constexpr std::int64_t kWriteNs = 100'000'000;

struct StatsFile;

// The rank is ready. Null with errno.
StatsFile *stats_file_open(const Observer &observer);
// Writes the last counts. False with errno: some counts could not be written, now or before.
bool stats_file_close(StatsFile *file);

}  // namespace sennit::runtime
