// SPDX-License-Identifier: BSD-3-Clause
// Takes a rank apart, after finalize or a failed start-up.
#pragma once

#include "base/clock.hpp"
#include "rank/rank.hpp"

namespace sennit::life {

// Frees the existing parts of the rank in the reverse order of start-up and sets its size to 0.
// `all_left`: the others took part in this rank's last barrier; see segments_close().
void take_apart(Rank &rank, const Deadline &deadline, bool all_left);

}  // namespace sennit::life
