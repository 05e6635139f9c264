// SPDX-License-Identifier: BSD-3-Clause
// The smallest message transport: see template.cpp. Not in the table of the shipped library; the
// tests put it into theirs.
#pragma once

#include "transport/transport.hpp"

namespace sennit::transport {

// A new transport object, not opened; null without memory.
Transport *make_template();

}  // namespace sennit::transport
