// SPDX-License-Identifier: BSD-3-Clause
// The place of the time limit that the calling thread's waits have (runtime/whole_call.hpp). It
// stands in the thread's record, beside its last error (base/fail.cpp), since thread-local storage
// is scarce.
#pragma once

#include "base/clock.hpp"

namespace sennit {

// Null: the thread has no record yet.
const Deadline **thread_limit();

// Makes the record if need be; null where there is no memory for one.
const Deadline **make_thread_limit();

}  // namespace sennit
