// SPDX-License-Identifier: BSD-3-Clause
// Peers on other nodes, through libfabric. docs/design/fabric.md has the protocol and what it does
// not do yet.
#pragma once

#include "transport/transport.hpp"

namespace sennit::transport {

// null: no memory.
Transport *make_fabric();

}  // namespace sennit::transport
