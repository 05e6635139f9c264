// SPDX-License-Identifier: BSD-3-Clause
// The paths inside of a node, as the tables of transports make them. Null: no memory.
#pragma once

#include "transport/transport.hpp"

namespace sennit::transport {

Transport *make_inproc();
Transport *make_mapped();
Transport *make_cma();  // docs/design/cma.md has what the kernel promises

}  // namespace sennit::transport
