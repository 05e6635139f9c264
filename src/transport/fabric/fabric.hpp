// SPDX-License-Identifier: BSD-3-Clause
// The path to peers on other nodes, through libfabric. docs/design/fabric.md has the protocol and
// its limits.
#pragma once

#include "transport/transport.hpp"

namespace sennit::transport {

// Returns null if there is no memory.
Transport *make_fabric();

}  // namespace sennit::transport
