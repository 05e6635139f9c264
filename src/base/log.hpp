// SPDX-License-Identifier: BSD-3-Clause
// The log: passes one line at a time to a callback or to stderr. The function that detects a
// problem logs it. Long waits warn at growing intervals (LateNotice, LostSearch::warn). Level NONE
// is for output that the user asked for; it is always shown.
#pragma once

#include <sennit/error.h>

namespace sennit {

[[gnu::cold, gnu::noinline, gnu::format(printf, 2, 3)]] void log(sennit_log_level level,
                                                                 const char *format, ...);

// `rank` returns the number of the calling thread's rank, or -1 if it has none. Lines on stderr
// show the number. Called before the process has a rank.
void log_set_rank_source(int (*rank)());
// Sets the callback; null means stderr.
void log_set(sennit_log_function function, void *context, sennit_log_level level);
// Changes only the level, for the knob SENNIT_LOG.
void log_set_level(sennit_log_level level);

}  // namespace sennit
