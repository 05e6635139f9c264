// SPDX-License-Identifier: BSD-3-Clause
// The log: one line at a time to a callback, by default stderr. Only the first place that detects
// something logs it, and warnings that could repeat are said once. Level NONE is for what the user
// asked to see: it is always shown.
#pragma once

#include <sennit/error.h>

namespace sennit {

[[gnu::cold, gnu::noinline, gnu::format(printf, 2, 3)]] void log(sennit_log_level level,
                                                                 const char *format, ...);

// Who the calling thread is, for lines on stderr: the number of its rank, -1 without one. To be set
// before there is a rank.
void log_set_rank_source(int (*rank)());
// Replaces the receiver; a null function means stderr.
void log_set(sennit_log_function function, void *context, sennit_log_level level);
// Changes the level alone, for the knob SENNIT_LOG.
void log_set_level(sennit_log_level level);

}  // namespace sennit
