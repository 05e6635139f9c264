// SPDX-License-Identifier: BSD-3-Clause
// Functions that make the transports within a node, for the tables of transports. Null: no memory.
#pragma once

#include "transport/transport.hpp"

namespace sennit::transport {

Transport *make_inproc();
Transport *make_mapped();
Transport *make_cma();  // docs/design/cma.md has the kernel's guarantees

}  // namespace sennit::transport
