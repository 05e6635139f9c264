// SPDX-License-Identifier: BSD-3-Clause
// The smallest message transport. Not in the library; tests have their own table with it.
#pragma once

#include "transport/transport.hpp"

namespace sennit::transport {

// A new transport object, not opened. Null: no memory.
Transport *make_template();

}  // namespace sennit::transport
