// Path mapped. Made by registry.cpp only.
#pragma once

#include "transport/transport.hpp"

namespace sennit::transport {

Transport *make_mapped();

}  // namespace sennit::transport
