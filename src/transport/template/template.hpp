// SPDX-License-Identifier: BSD-3-Clause
// The smallest message transport (template.cpp). Not in the table of the shipped library; the tests
// add it to theirs.
#pragma once

#include "transport/transport.hpp"

namespace sennit::transport {

// A new transport object, not opened. Null: no memory.
Transport *make_template();

}  // namespace sennit::transport
