// SPDX-License-Identifier: BSD-3-Clause
// The time limit of the calling thread's waits (runtime/whole_call.hpp). The thread's record in
// base/fail.cpp has it, since thread-local storage is scarce.
#pragma once

#include "base/clock.hpp"

namespace sennit {

// Null: the thread has no record yet.
const Deadline **thread_limit();

// Makes the record if it is missing. Null: no memory.
const Deadline **make_thread_limit();

}  // namespace sennit
