// Path cma. Made by registry.cpp only; docs/design/cma.md has what the kernel promises.
#pragma once

#include "transport/transport.hpp"

namespace sennit::transport {

Transport *make_cma();

}  // namespace sennit::transport
